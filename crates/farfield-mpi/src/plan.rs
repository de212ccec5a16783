//! A planned sum over ranks.

use crate::check::{self, Samples};
use crate::communicator::Communicator;
use crate::curve::Root;
use crate::deal::{Dealt, arrive};
use crate::error::{Error, agree};
use crate::local::{Local, Own};
use crate::problem::{Points, Shared};
use crate::report::{RankReport, RankSeconds};
use crate::route::Route;
use crate::sum::Sum;
use crate::traffic::Exchanged;
use crate::tuning::{self, Far};
use farfield::check::{Check, Measured, Verdict};
use farfield::plan::Parameters;
use farfield::verify::OutputError;
use farfield::{Field, Precision};
use std::sync::Arc;
use std::time::Instant;

/// A planned sum: the distributed points, the routes between ranks, and the plan of each rank. Repeated evaluations
/// exchange only strengths and results.
#[derive(Debug)]
pub struct Plan<'c, C: ?Sized, P: Shared<D>, T: Precision, const D: usize> {
    ranks: &'c C,
    /// The sum; its options have the tolerance of the engine of own sources.
    sum: Sum<P>,
    /// The requested tolerance; `None` if the user fixed the order.
    tolerance: Option<f64>,
    /// The routes of sources and targets; both are the same if the targets are the sources.
    routes: [Arc<Route>; 2],
    own: Own<T, D>,
    local: Local<P, T, D>,
    /// The mean work of a rank when the points were distributed.
    mean_work: f64,
    unevenness: f64,
    report: RankReport,
    check: Option<Check>,
}

impl<'c, C: Communicator + ?Sized, P: Shared<D>, T: Precision, const D: usize> Plan<'c, C, P, T, D> {
    pub(crate) fn new(ranks: &'c C, mut sum: Sum<P>, points: Points<'_, T, D>) -> Result<Self, Error> {
        let start = Instant::now();
        agree(
            ranks,
            sum.of_rank(points.clone(), sum.request.options.clone()).validate(),
        )?;
        let usual = sum.request.options.tolerance.unwrap_or(tuning::usual_tolerance::<T>());
        let tolerance = sum.request.options.order.is_none().then_some(usual);
        let far = match sum.request.options.order {
            Some(order) => Far::of_order(order),
            None => Far::new::<D>(usual, P::derivatives(&sum.request), points.targets.is_some()),
        };
        if ranks.size() > 1 {
            sum.request.options.tolerance = Some(tuning::of_own::<T>(usual));
        }
        let mut traffic = Exchanged::default();
        let dealt = Dealt::evenly(ranks, &mut traffic, (&sum, far), &points)?;
        let mut plan = Self {
            ranks,
            sum,
            tolerance,
            routes: dealt.routes,
            own: dealt.own,
            local: dealt.local,
            mean_work: dealt.mean_work,
            unevenness: dealt.unevenness,
            report: RankReport::default(),
            check: None,
        };
        plan.begin_report(start, traffic, dealt.seconds);
        Ok(plan)
    }

    /// Plans again for moved points: each rank gives the same number of points in the same order as before. Points
    /// stay on the ranks that sum at them, until the work of a rank exceeds the mean of the last distribution by a
    /// fifth; then the points are redistributed. Returns whether they were. Called by all ranks together.
    ///
    /// # Errors
    /// [`Error::OnRank`], the same on all ranks, if points do not fit the plan or an engine fails to plan. The plan
    /// is then unchanged.
    pub fn move_to(&mut self, points: Points<'_, T, D>) -> Result<bool, Error> {
        /// The work relative to the mean above which points are redistributed.
        const DRIFTED: f64 = 1.2;
        let start = Instant::now();
        let (ranks, far) = (self.ranks, self.local.far());
        let sum = self.sum.of_rank(points.clone(), self.sum.request.options.clone());
        agree(ranks, self.check_counts(&points).and_then(|()| sum.validate()))?;
        let mut traffic = Exchanged::default();
        let root = Root::of_all(ranks, [points.sources, points.targets.unwrap_or(&[])]);
        let own = arrive(ranks, &mut traffic, &self.routes, &points, root);
        let mut seconds = start.elapsed().as_secs_f64();
        let local = Local::new(ranks, &mut traffic, (&self.sum, far), &own)?;
        let works = local.works(ranks, &self.sum, &own);
        self.unevenness = works.unevenness();
        let has_drifted = !self.sum.in_place && works.exceed(DRIFTED * self.mean_work);
        if has_drifted {
            drop((own, local));
            let dealt = Dealt::evenly(ranks, &mut traffic, (&self.sum, far), &points)?;
            seconds += dealt.seconds;
            (self.routes, self.own, self.local) = (dealt.routes, dealt.own, dealt.local);
            (self.mean_work, self.unevenness) = (dealt.mean_work, dealt.unevenness);
        } else {
            (self.own, self.local) = (own, local);
        }
        self.begin_report(start, traffic, seconds);
        Ok(has_drifted)
    }

    fn check_counts(&self, points: &Points<'_, T, D>) -> Result<(), farfield::Error> {
        let counts = [
            ("sources", points.sources.len(), self.routes[0].leaving()),
            (
                "targets",
                points.targets.map_or(0, <[_]>::len),
                match &self.own.targets {
                    Some(_) => self.routes[1].leaving(),
                    None => 0,
                },
            ),
        ];
        match counts.into_iter().find(|(_, found, expected)| found != expected) {
            None => Ok(()),
            Some((array, found, expected)) => Err(farfield::Error::Length {
                array,
                found,
                expected,
                why: "the number that the plan was made for".to_owned(),
            }),
        }
    }

    /// Starts the report with planning.
    fn begin_report(&mut self, start: Instant, planning: Exchanged, partition: f64) {
        self.report = RankReport {
            planning,
            seconds: RankSeconds {
                partition,
                essential: self.local.seconds.exchange,
                plan: self.local.seconds.work + self.local.seconds.after,
                plan_hidden: self.local.seconds.hidden,
                total: start.elapsed().as_secs_f64(),
                ..RankSeconds::default()
            },
            ..RankReport::default()
        };
    }

    /// Evaluates the sum for the strengths of this rank's own sources, `strengths[(vector * sources + source) *
    /// components + component]`. Returns the results at this rank's own targets, in their order. Called by all ranks
    /// together.
    ///
    /// # Errors
    /// [`Error::OnRank`], the same on all ranks, if strengths do not fit, a result overflows, or an engine fails.
    pub fn evaluate(&mut self, strengths: &[T]) -> Result<Field<T, P>, Error> {
        let start = Instant::now();
        let first = self.report.evaluation == Exchanged::default() && self.report.seconds.engine == 0.0;
        let mut seconds = if first {
            self.report.seconds
        } else {
            RankSeconds::default()
        };
        let mut traffic = Exchanged::default();
        let (carried, vectors) = (P::carried(self.sum.request.kernel), self.sum.request.vectors);
        agree(self.ranks, self.check_strengths(strengths))?;

        let moved = self.routes[0].forward(self.ranks, &mut traffic, strengths, (vectors, carried.of_source()));
        seconds.moving += start.elapsed().as_secs_f64();

        let mut values = self.sum_of_rank(&mut traffic, &mut seconds, &moved)?;
        self.check = self.measure(&mut traffic, &mut seconds, &moved, &mut values)?;

        let back = Instant::now();
        let outputs = self.sum.request.outputs.iter();
        let rows = outputs.map(|output| P::output_components(self.sum.request.kernel, *output));
        let returned = rows
            .zip(values)
            .map(|(columns, values)| self.routes[1].back(self.ranks, &mut traffic, values, (vectors, columns)))
            .collect();
        let targets = self.routes[1].leaving();
        let field = Field::from_values(&self.sum.request, targets, returned, 0.0);
        let mut field = agree(self.ranks, field)?;
        field.set_check(self.check.clone());
        seconds.moving += back.elapsed().as_secs_f64();
        seconds.total += start.elapsed().as_secs_f64();
        self.report.evaluation = traffic;
        self.report.seconds = seconds;
        Ok(field)
    }

    fn check_strengths(&self, strengths: &[T]) -> Result<(), farfield::Error> {
        let components = P::carried(self.sum.request.kernel).of_source();
        farfield::plan::check_strengths(
            strengths,
            self.routes[0].leaving(),
            components,
            self.sum.request.vectors,
        )
        .map(|_| ())
    }

    /// The sums at this rank's own targets, output by output.
    fn sum_of_rank(
        &mut self,
        traffic: &mut Exchanged,
        seconds: &mut RankSeconds,
        moved: &[T],
    ) -> Result<Vec<Vec<T>>, Error> {
        let of_sum = (&self.sum, &self.own);
        let (fields, beside) = self.local.evaluate(self.ranks, traffic, of_sum, moved);
        seconds.exchange += beside.exchange;
        seconds.engine += beside.work + beside.after;
        seconds.engine_received += beside.after;
        seconds.hidden += beside.hidden;
        let summed = Instant::now();
        let fields = agree(self.ranks, fields)?;
        seconds.waiting += summed.elapsed().as_secs_f64();
        self.check = fields[0].as_ref().and_then(|field| field.check().cloned());
        let outputs = self.sum.request.outputs.iter();
        let numbers = self.sum.request.vectors * self.own.targets().len();
        let zeros = |output| vec![T::ZERO; numbers * P::output_components(self.sum.request.kernel, output)];
        // Own sources first, so that results are bitwise reproducible.
        let both = fields.into_iter().flatten().map(Field::into_values);
        let added = both.reduce(|mut sums, more| {
            for (sum, more) in sums.iter_mut().flatten().zip(more.iter().flatten()) {
                *sum += *more;
            }
            sums
        });
        Ok(added.unwrap_or_else(|| outputs.map(|output| zeros(*output)).collect()))
    }

    /// Measures the error against the true sum over all ranks, and sums again more accurately if it exceeds the
    /// tolerance.
    fn measure(
        &mut self,
        traffic: &mut Exchanged,
        seconds: &mut RankSeconds,
        moved: &[T],
        values: &mut Vec<Vec<T>>,
    ) -> Result<Option<Check>, Error> {
        let tolerance = match self.tolerance {
            Some(tolerance) if self.sum.request.options.check && self.ranks.size() > 1 => tolerance,
            _ => return Ok(self.check.clone()),
        };
        let start = Instant::now();
        let samples = Samples::draw(self.ranks, self.own.targets().len(), check::SAMPLES, 0);
        let mut found = samples.compare(self.ranks, &self.sum, &self.own, (moved, values))?;
        if found.verdict(tolerance) == Verdict::Kept {
            seconds.check += start.elapsed().as_secs_f64();
            return Ok(Some(found));
        }
        // The excess may be round-off. This is rarely computed, so it may be slow.
        let rounding = samples.rounding(self.ranks, &self.sum, &self.own, (moved, values));
        let with_rounding = |check: &mut Check| {
            let outputs = check.outputs.iter_mut().zip(&rounding);
            outputs.for_each(|(output, rounding)| output.rounding = *rounding);
        };
        with_rounding(&mut found);
        seconds.check += start.elapsed().as_secs_f64();
        let mut wanted = tolerance;
        farfield::check::correct(tolerance, &mut found, |factor, found| {
            wanted /= factor;
            let engine = tuning::of_own::<T>(wanted);
            let far = Far::new::<D>(wanted, P::derivatives(&self.sum.request), self.own.targets.is_some());
            if far.order == self.local.far().order && self.sum.request.options.tolerance == Some(engine) {
                return Ok(farfield::check::Attempt::NoBetterWay);
            }
            self.sum.request.options.tolerance = Some(engine);
            self.local = Local::new(self.ranks, traffic, (&self.sum, far), &self.own)?;
            *values = self.sum_of_rank(traffic, seconds, moved)?;
            *found = Check {
                attempts: found.attempts,
                ..samples.compare(self.ranks, &self.sum, &self.own, (moved, values))?
            };
            with_rounding(found);
            Ok(farfield::check::Attempt::Done)
        })?;
        Ok(Some(found))
    }

    /// Measures the true error of a field that this plan returned for `strengths`, at random targets of all ranks.
    /// Called by all ranks together.
    ///
    /// # Errors
    /// [`Error::OnRank`] if strengths or field do not fit the plan.
    pub fn verify(
        &self,
        strengths: &[T],
        field: &Field<T, P>,
        samples: usize,
        seed: u64,
    ) -> Result<Vec<OutputError>, Error> {
        let (request, vectors) = (&self.sum.request, self.sum.request.vectors);
        agree(self.ranks, self.check_strengths(strengths))?;
        agree(self.ranks, field.check_shape(request, self.routes[1].leaving()))?;
        let mut traffic = Exchanged::default();
        let moved = self.routes[0].forward(
            self.ranks,
            &mut traffic,
            strengths,
            (vectors, P::carried(request.kernel).of_source()),
        );
        let mut values = Vec::with_capacity(request.outputs.len());
        for output in &request.outputs {
            let own = field.get(*output).unwrap_or(&[]);
            values.push(self.routes[1].forward(
                self.ranks,
                &mut traffic,
                own,
                (vectors, P::output_components(request.kernel, *output)),
            ));
        }
        let samples = Samples::draw(self.ranks, self.own.targets().len(), samples, seed);
        let check = samples.compare(self.ranks, &self.sum, &self.own, (&moved, &values))?;
        let of_output = |measured: &Measured| OutputError {
            output: measured.output,
            relative_l2: measured.relative_l2,
            maximum: None,
        };
        Ok(check.outputs.iter().map(of_output).collect())
    }

    /// Moves rows of `columns` numbers, one row for each of this rank's targets (or sources, if they are the
    /// targets), to the ranks that sum at them. Returns the rows of the targets at which this rank sums. A caller who
    /// moves all data of its points this way can use [`Sum::in_place`]. Called by all ranks together.
    pub fn follow(&self, rows: &[T], columns: usize) -> Vec<T> {
        self.routes[1].forward(self.ranks, &mut Exchanged::default(), rows, (1, columns))
    }

    /// The largest work of a rank divided by the mean; 1 if there are few points.
    pub fn unevenness(&self) -> f64 {
        self.unevenness
    }

    /// The report of this rank. Its work is the forecast of the engines' cost model.
    pub fn report(&self) -> RankReport {
        let (received, equivalent) = self.local.arriving();
        let far = self.local.far();
        RankReport {
            sources: self.own.sources.len(),
            targets: self.own.targets().len(),
            received,
            equivalent,
            order: far.order,
            theta: far.theta,
            work: self.local.work(&self.sum, &self.own),
            ..self.report
        }
    }

    /// The reports of this rank's engines, for own and for received sources; `None` if there is nothing to sum.
    pub fn engine_reports(&self) -> [Option<farfield::report::Report>; 2] {
        self.local
            .engines()
            .each_ref()
            .map(|engine| engine.as_ref().map(|engine| engine.report()))
    }

    /// The parameters of this rank's engine of own sources; if it has none, of the engine of received sources.
    pub fn parameters(&self) -> Parameters {
        let engine = self.local.engines().iter().flatten().next();
        engine.map(|engine| *engine.parameters()).unwrap_or_default()
    }

    /// The requested tolerance; `None` if the user fixed the order.
    pub fn tolerance(&self) -> Option<f64> {
        self.tolerance
    }
}
