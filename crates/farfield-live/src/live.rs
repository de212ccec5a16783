//! The observer that shows a run to viewers and executes their commands.

use crate::command::Command;
use crate::frame::{Encoder, Frame};
use crate::hub::{Hub, Order};
use crate::recording::OneMoment;
use crate::still::{CloudView, Still, names_of};
use farfield_sim::Error;
use farfield_sim::model::Shown;
use farfield_sim::run::{CHANGEABLE, Moment, Observer, Progress, references};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The most points of a grid that is kept at the end of a run.
const KEPT_VOXELS: usize = 1 << 21;
/// The shortest time between two status messages.
const PAUSE: Duration = Duration::from_millis(25);

/// Options for showing a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Manner {
    /// The run waits until every viewer has received every step.
    pub sync: bool,
    /// The last state is kept for viewers that stay after the run.
    pub stay: bool,
}

/// Shows a run to viewers, and passes all events to another observer.
pub struct Live<'a> {
    hub: Arc<Hub>,
    manner: Manner,
    other: &'a mut dyn Observer,
    encoder: Encoder,
    last_step: Instant,
    /// Seconds spent on frames.
    showing: f64,
    said_about: bool,
    /// The step of the last status message, and when it was sent.
    told: Option<(u64, Instant)>,
    remark: String,
    /// The first tracer of each batch, and the time when the batch was dropped.
    births: Vec<(usize, f64)>,
}

impl<'a> Live<'a> {
    /// Shows a run through `hub`.
    pub fn new(hub: Arc<Hub>, manner: Manner, other: &'a mut dyn Observer) -> Self {
        Self {
            hub,
            manner,
            other,
            encoder: Encoder::default(),
            last_step: Instant::now(),
            showing: 0.0,
            said_about: false,
            told: None,
            remark: String::new(),
            births: Vec::new(),
        }
    }

    /// Sends the description of the run: what rarely changes.
    fn tell_about(&mut self, moment: &mut Moment<'_>) {
        let values = names_of(&clouds_of(moment, &self.births));
        let device = moment.device();
        let case = moment.case();
        let curves = references(case)
            .into_iter()
            .map(|curve| json!({ "column": curve.column, "label": curve.label, "points": curve.points }));
        let text = serde_json::to_value(case).unwrap_or_default();
        let changeable: Vec<Value> = CHANGEABLE
            .iter()
            .filter_map(|key| {
                let at = key.split('.').try_fold(&text, |value, part| value.get(part))?;
                (!at.is_null()).then(|| json!({ "key": key, "value": at }))
            })
            .collect();
        let kind = match (&case.flow, &case.gravity) {
            (Some(_), _) => "flow",
            (_, Some(_)) => "gravity",
            _ => "vortex",
        };
        let about = json!({
            "title": case.title,
            "kind": kind,
            "source": "run",
            "end": case.time.end,
            "device": device,
            "columns": moment.columns(),
            "values": values,
            "volumes": moment.volumes(),
            "tracers": case.vortex.is_some(),
            "references": curves.collect::<Vec<_>>(),
            "changeable": changeable,
            "version": env!("CARGO_PKG_VERSION"),
        });
        self.hub.set_about(about);
        self.said_about = true;
    }

    /// Sends the status of the run: what changes at every step.
    fn tell(&mut self, moment: &mut Moment<'_>) {
        let [elapsed, stepping, sums] = moment.seconds();
        let (dt, limit) = moment.last_step();
        self.hub.set_status(json!({
            "step": moment.step(),
            "time": moment.time(),
            "dt": dt,
            "limit": limit,
            "steps": moment.session_steps(),
            "finished": moment.is_last(),
            "remark": self.remark,
            "seconds": { "elapsed": elapsed, "stepping": stepping, "sums": sums, "showing": self.showing },
        }));
        self.told = Some((moment.step(), Instant::now()));
    }

    /// Announces a new state. The status is not sent for every step if steps are fast.
    fn arrive(&mut self, moment: &mut Moment<'_>) {
        let row = moment.row().map(|row| {
            let mut all = vec![moment.step() as f64, moment.time()];
            all.extend(row);
            all
        });
        self.hub.set_moment(row);
        if self.told.is_none_or(|(_, when)| when.elapsed() >= PAUSE) || moment.is_last() {
            self.tell(moment);
        }
    }

    /// Writes a frame if a viewer waits for one.
    fn show(&mut self, moment: &Moment<'_>) -> Result<(), Error> {
        let wants = self.hub.wants();
        if wants.is_empty() {
            return Ok(());
        }
        let begin = Instant::now();
        let mut frame = Frame::new(moment.step(), moment.time(), wants.clone());
        self.encoder
            .parts(&mut frame, &clouds_of(moment, &self.births), &wants)?;
        let mut volumes: Vec<(&str, usize)> = Vec::new();
        for want in wants.iter().filter(|want| !want.volume.is_empty()) {
            let asked = (&want.volume[..], want.voxels);
            if volumes.contains(&asked) {
                continue;
            }
            volumes.push(asked);
            if let Some(volume) = moment.volume(&want.volume, want.voxels)? {
                frame.push_volume(&want.volume, want.voxels, &volume);
            }
        }
        frame.seconds = begin.elapsed().as_secs_f64();
        self.showing += frame.seconds;
        self.hub.set_frame(frame);
        Ok(())
    }

    /// Executes a command of a viewer; tells the viewer why if it is refused.
    fn obey(&mut self, moment: &mut Moment<'_>, viewer: u64, command: Command) -> Result<(), Error> {
        match command {
            Command::Change { key, value } => match moment.change(&key, &value) {
                Ok(()) => self.remark = format!("step {}: {key} = {value}", moment.step()),
                Err(Error::Case(why)) => self.hub.refuse(viewer, why.to_string()),
                Err(other) => return Err(other),
            },
            Command::Drop { at, radius, count } => match moment.drop_tracers(at, radius, count)? {
                Some(total) => {
                    self.births.push((total.saturating_sub(count), moment.time()));
                    self.remark = format!("step {}: {total} tracers", moment.step());
                }
                None => self.hub.refuse(viewer, "this case cannot carry tracers".to_owned()),
            },
            _ => {}
        }
        self.tell_about(moment);
        self.hub.set_moment(None);
        self.tell(moment);
        self.show(moment)
    }

    /// Keeps the last state for viewers that stay after the run.
    fn keep_last(&mut self, moment: &Moment<'_>) -> Result<(), Error> {
        let mut still = Still {
            step: moment.step(),
            time: moment.time(),
            ..Still::default()
        };
        for cloud in clouds_of(moment, &self.births) {
            still.clouds.push(cloud.kept()?);
        }
        for name in moment.volumes() {
            if let Some(volume) = moment.volume(name, KEPT_VOXELS)? {
                still.volumes.push(((*name).to_owned(), volume));
            }
        }
        self.hub.set_moments(Arc::new(OneMoment::new(still)));
        Ok(())
    }
}

impl Observer for Live<'_> {
    fn progress(&mut self, progress: &Progress) {
        self.other.progress(progress);
    }

    fn remark(&mut self, remark: &str) {
        self.remark = remark.to_owned();
        self.other.remark(remark);
    }

    fn moment(&mut self, moment: &mut Moment<'_>) -> Result<(), Error> {
        self.other.moment(moment)?;
        if !self.said_about {
            self.births = vec![(0, moment.time())];
            self.tell_about(moment);
        }
        self.arrive(moment);
        self.show(moment)?;
        let (since, mut was_paused) = (self.last_step, self.hub.pace().0);
        while !moment.is_stopping() && !moment.is_last() {
            match self.hub.order(since, self.manner.sync) {
                Order::Step => break,
                Order::Do(viewer, command) => self.obey(moment, viewer, command)?,
                Order::Show => self.show(moment)?,
                Order::Wait(time) => {
                    if self.told.is_none_or(|(step, _)| step != moment.step()) {
                        self.tell(moment);
                    }
                    self.hub.wait(time);
                }
            }
            let paused = self.hub.pace().0;
            if paused != was_paused {
                was_paused = paused;
                self.tell(moment);
            }
        }
        if self.manner.stay && (moment.is_stopping() || moment.is_last()) {
            self.keep_last(moment)?;
        }
        self.last_step = Instant::now();
        Ok(())
    }
}

fn clouds_of<'m>(moment: &'m Moment<'_>, births: &'m [(usize, f64)]) -> Vec<CloudView<'m>> {
    let view = |shown: Shown<'m>| match shown.name {
        "tracers" => CloudView::of_run(shown).born(births, moment.time()),
        _ => CloudView::of_run(shown),
    };
    moment.shown().into_iter().map(view).collect()
}
