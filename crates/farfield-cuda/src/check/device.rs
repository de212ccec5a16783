//! The steps of a check on the device: norms and large values, draws, true sums, comparison.

use crate::compile::Program;
use crate::device::{Blocks, Buffers, In, Out, PackedSource, Precision, Values, kernels, parameters};
use crate::error::Error;
use cudarc::driver::CudaSlice;
use farfield_core::check::{ABSOLUTE, AtDrawn, Candidate, Check, Effort, Look, OutputKind, Sample, WITH_ABSOLUTE};
use std::ops::Range;

/// Threads per block: `THREADS` of `kernels/truth.cuh`.
const THREADS: u32 = 128;
/// The number of stretches of targets; the largest value of each becomes a candidate.
const STRETCHES: u32 = 512;
/// The number of slices of the sources: with two blocks of targets each they fill a large device.
const SLICES: u32 = 512;
/// The number of slices for absolute contributions.
const ABSOLUTE_SLICES: u32 = 256;
/// The limits on a GPU: a few tenths of a millisecond. More targets than on the CPU, because no tree tells which
/// targets are likely to have large errors.
const EFFORT: Effort = Effort {
    pool: 1 << 11,
    least: 128,
    most: 4096,
    pairs: 50_000_000,
    all_pairs: 1 << 26,
};

parameters! {
    /// Parameters of `truth` and of `absolute`.
    pub(super) struct Truth<T> {
        targets: In<T>,
        drawn: In<u32>,
        drawn_count: u32,
        sources: In<PackedSource<T>>,
        source_count: u32,
        slice_length: u32,
        global_size2: f64,
        partial: Out<f64>,
    }

    /// Parameters of `add_slices`.
    pub(super) struct AddSlices {
        partial: In<f64>,
        per_stream: u32,
        rows: u32,
        slices: u32,
        sums: Out<f64>,
    }

    /// Parameters of `survey`.
    pub(super) struct Survey<T> {
        values: In<T>,
        permutation: In<u32>,
        target_count: u32,
        vectors: u32,
        components: u32,
        stretch: u32,
        facts: Out<f64>,
    }

    /// Parameters of `find`.
    pub(super) struct Find<T> {
        values: In<T>,
        permutation: In<u32>,
        target_count: u32,
        components: u32,
        drawn: In<u32>,
        drawn_count: u32,
        found: Out<f64>,
    }
}

kernels! {
    /// The kernels of a check.
    pub(super) struct Kernels<T> {
        truth: Truth<T>,
        absolute: Truth<T>,
        add_slices: AddSlices,
        survey: Survey<T>,
        find: Find<T>,
    }
}

/// The arrays on the device of an engine that has summed, in the engine's order.
pub(crate) trait SumOnDevice<T: Precision> {
    /// The positions of targets.
    fn targets(&self) -> &CudaSlice<T>;
    /// The caller's index of each target; `None` for the identity.
    fn target_permutation(&self) -> Option<&CudaSlice<u32>>;
    /// Sources with the strengths that were packed last.
    fn packed(&self) -> &CudaSlice<T>;
    /// The squared core size of all sources.
    fn global_size2(&self) -> T;
    /// The values of each output, in the caller's order.
    fn outputs(&self) -> Vec<&CudaSlice<T>>;
    /// The ranges of strength vectors that are packed together.
    fn batches(&self, vectors: usize) -> Vec<Range<usize>>;
    /// Packs the sources with the vectors `vectors` of `strengths`.
    fn pack_again(&mut self, strengths: Values<T>, vectors: &Range<usize>) -> Result<(), Error>;
}

/// The conversion of a kernel's sums to outputs.
pub(crate) trait Meaning: std::fmt::Debug {
    /// The name, components and absolute contributions of each output.
    fn outputs(&self) -> &[OutputKind];
    /// Sums per run.
    fn sums(&self) -> usize;
    /// Runs per vector: the number of parts of its strengths that are summed separately.
    fn runs(&self) -> usize;
    /// Appends the values of an output at a target, given sum `k` of run `run` as `sum(run, k)`.
    fn append(&self, output: usize, sum: &dyn Fn(usize, usize) -> f64, values: &mut Vec<f64>);
}

/// The state that a plan needs to measure its error.
#[derive(Debug)]
pub(crate) struct Checker<T: Precision> {
    buffers: Buffers,
    kernels: Kernels<T>,
    meaning: Box<dyn Meaning + Send>,
    look: Look,
    /// The targets to draw from.
    pool: CudaSlice<u32>,
    source_count: u32,
    target_count: u32,
}

impl<T: Precision> Checker<T> {
    pub fn new(
        buffers: Buffers,
        program: &Program,
        meaning: Box<dyn Meaning + Send>,
        (sources, targets): (usize, usize),
        by_expansions: bool,
    ) -> Result<Self, Error> {
        let look = Look::new((sources, targets), by_expansions, EFFORT);
        Ok(Self {
            kernels: Kernels::load(buffers.device(), program)?,
            pool: buffers.upload(look.pool())?,
            meaning,
            look,
            source_count: sources as u32,
            target_count: targets as u32,
            buffers,
        })
    }

    /// Measures the error of the engine's sum for `vectors` strength vectors.
    pub fn measure(
        &mut self,
        engine: &mut dyn SumOnDevice<T>,
        (strengths, vectors): (Values<T>, usize),
        tolerance: Option<f64>,
        check: &mut Check,
    ) -> Result<(), Error> {
        self.find_candidates(engine, vectors)?;
        let mut look = std::mem::take(&mut self.look);
        let kinds = self.meaning.outputs().to_vec();
        let size = (vectors, T::EPSILON);
        let measured = look.measure(kinds.into_iter(), size, tolerance, check, |sample, values| {
            self.look_at(engine, (strengths, vectors), sample, values)
        });
        self.look = look;
        measured
    }

    /// Finds the norms of the outputs and the candidates: the pool, and the targets with the largest values.
    fn find_candidates(&mut self, engine: &dyn SumOnDevice<T>, vectors: usize) -> Result<(), Error> {
        let pool = self.look.pool();
        let stretch = self.target_count.div_ceil(STRETCHES).max(1);
        let stretches = self.target_count.div_ceil(stretch) as usize;
        let facts = 3 * stretches;
        let found: Vec<usize> = self.lengths(vectors, pool.len()).collect();
        let mut results = Results::new(&self.buffers, found.iter().map(|length| facts + length))?;
        for (k, (kind, values)) in self.meaning.outputs().iter().zip(engine.outputs()).enumerate() {
            self.kernels.survey.launch(
                self.buffers.stream(),
                Blocks::row(stretches as u32, THREADS),
                &Survey {
                    values: In::of(values),
                    permutation: In::of_any(engine.target_permutation()),
                    target_count: self.target_count,
                    vectors: vectors as u32,
                    components: kind.components as u32,
                    stretch,
                    facts: results.place(k, 0),
                },
            )?;
            self.find(
                engine,
                (values, kind),
                vectors,
                (&self.pool, pool.len()),
                results.place(k, facts),
            )?;
        }
        let results = results.read(&self.buffers)?;
        let each = f64::from(self.target_count) / pool.len().max(1) as f64;
        let mut candidates: Vec<Candidate> = pool.iter().map(|target| candidate(*target, each, 0.0)).collect();
        let all = pool.len() == self.target_count as usize;
        let mut squares = Vec::with_capacity(results.len());
        for (kind, results) in self.meaning.outputs().iter().zip(&results) {
            let (facts, found) = results.split_at(facts);
            let mut facts = facts.as_chunks::<3>().0.to_vec();
            let square: f64 = facts.iter().map(|[square, ..]| square).sum();
            squares.push(square);
            if square <= 0.0 {
                continue;
            }
            for (i, candidate) in candidates.iter_mut().take(pool.len()).enumerate() {
                let of_vector =
                    |vector: usize| &found[(vector * pool.len() + i) * kind.components..][..kind.components];
                let sum: f64 = (0..vectors).flat_map(of_vector).map(|value| value * value).sum();
                candidate.value += sum / square;
            }
            if !all {
                facts.sort_by(|a, b| b[1].total_cmp(&a[1]).then(a[2].total_cmp(&b[2])));
                let largest = facts.iter().take(LARGEST);
                candidates.extend(largest.map(|[_, value, target]| candidate(*target as u32, 1.0, value / square)));
            }
        }
        stand_for_themselves(&mut candidates, pool.len());
        self.look.set_candidates(&squares, candidates.into_iter());
        Ok(())
    }

    /// The number of values of each output at `targets` targets.
    fn lengths(&self, vectors: usize, targets: usize) -> impl Iterator<Item = usize> + '_ {
        let kinds = self.meaning.outputs().iter();
        kinds.map(move |kind| vectors * targets * kind.components)
    }

    /// Launches the kernel that writes the values of an output at some targets to a place in the results.
    fn find(
        &self,
        engine: &dyn SumOnDevice<T>,
        (values, kind): (&CudaSlice<T>, &OutputKind),
        vectors: usize,
        (drawn, drawn_count): (&CudaSlice<u32>, usize),
        found: Out<f64>,
    ) -> Result<(), Error> {
        self.kernels.find.launch(
            self.buffers.stream(),
            Blocks::new(((drawn_count as u32).div_ceil(THREADS), vectors as u32, 1), THREADS),
            &Find {
                values: In::of(values),
                permutation: In::of_any(engine.target_permutation()),
                target_count: self.target_count,
                components: kind.components as u32,
                drawn: In::of(drawn),
                drawn_count: drawn_count as u32,
                found,
            },
        )
    }

    /// The computed and true values at the drawn targets.
    fn look_at(
        &self,
        engine: &mut dyn SumOnDevice<T>,
        (strengths, vectors): (Values<T>, usize),
        sample: &Sample,
        values: &mut AtDrawn,
    ) -> Result<(), Error> {
        let indices: Vec<u32> = sample.drawn.iter().map(|drawn| drawn.target).collect();
        let drawn = (&self.buffers.upload(&indices)?, indices.len());
        let batches = engine.batches(vectors);
        let (sums, runs) = (self.meaning.sums(), self.meaning.runs());
        let rows = |batch: &Range<usize>| batch.len() * runs * sums * indices.len();
        let (slices, _) = cut(self.source_count, ABSOLUTE_SLICES);
        let absolute = |batch: &Range<usize>| batch.len() * runs * slices as usize * WITH_ABSOLUTE * ABSOLUTE;
        let of_outputs: Vec<usize> = self.lengths(vectors, indices.len()).collect();
        let of_batches = batches.iter().flat_map(|batch| [rows(batch), absolute(batch)]);
        let mut results = Results::new(&self.buffers, of_outputs.iter().copied().chain(of_batches))?;
        for (k, output) in self.meaning.outputs().iter().zip(engine.outputs()).enumerate() {
            self.find(engine, (output.1, output.0), vectors, drawn, results.place(k, 0))?;
        }
        for (k, batch) in batches.iter().enumerate() {
            if batches.len() > 1 {
                engine.pack_again(strengths, batch)?;
            }
            let (streams, at) = ((batch.len() * runs) as u32, of_outputs.len() + 2 * k);
            self.sum_truth(engine, drawn, streams, results.place(at, 0))?;
            self.sum_absolute(engine, drawn, streams, results.place(at + 1, 0))?;
        }
        let mut results = results.read(&self.buffers)?.into_iter();
        values.found = results.by_ref().take(of_outputs.len()).collect();
        for batch in &batches {
            let (truth, absolute) = (results.next().unwrap_or_default(), results.next().unwrap_or_default());
            self.append_truth(&truth, batch.len(), indices.len(), &mut values.truth);
            add_absolute(&absolute, slices as usize, &mut values.absolute);
        }
        Ok(())
    }

    /// The true sums at the drawn targets, for the vectors that are packed.
    fn sum_truth(
        &self,
        engine: &dyn SumOnDevice<T>,
        (drawn, count): (&CudaSlice<u32>, usize),
        streams: u32,
        place: Out<f64>,
    ) -> Result<(), Error> {
        let per_stream = (self.meaning.sums() * count) as u32;
        let (slices, slice_length) = cut(self.source_count, SLICES);
        let mut partial = self.buffers.uninit::<f64>((streams * slices * per_stream) as usize)?;
        let partial_sums = Out::of(&mut partial);
        self.kernels.truth.launch(
            self.buffers.stream(),
            Blocks::new(((count as u32).div_ceil(THREADS), slices, streams), THREADS),
            &self.parameters(engine, (drawn, count), slice_length, partial_sums),
        )?;
        let rows = streams * per_stream;
        self.kernels.add_slices.launch(
            self.buffers.stream(),
            Blocks::over(rows, THREADS),
            &AddSlices {
                partial: In::of(&partial),
                per_stream,
                rows,
                slices,
                sums: place,
            },
        )
    }

    /// Absolute contributions at the first of the drawn targets, slice by slice.
    fn sum_absolute(
        &self,
        engine: &dyn SumOnDevice<T>,
        drawn: (&CudaSlice<u32>, usize),
        streams: u32,
        place: Out<f64>,
    ) -> Result<(), Error> {
        let (slices, slice_length) = cut(self.source_count, ABSOLUTE_SLICES);
        self.kernels.absolute.launch(
            self.buffers.stream(),
            Blocks::new((slices, streams, 1), THREADS),
            &self.parameters(engine, drawn, slice_length, place),
        )
    }

    /// Appends the outputs of a batch of sums: `sums[((vector * runs + run) * per_run + k) * targets + target]`.
    fn append_truth(&self, sums: &[f64], vectors: usize, targets: usize, truth: &mut [Vec<f64>]) {
        let (per_run, runs) = (self.meaning.sums(), self.meaning.runs());
        for (output, truth) in truth.iter_mut().enumerate() {
            for vector in 0..vectors {
                for target in 0..targets {
                    let sum = |run: usize, k: usize| sums[((vector * runs + run) * per_run + k) * targets + target];
                    self.meaning.append(output, &sum, truth);
                }
            }
        }
    }

    fn parameters(
        &self,
        engine: &dyn SumOnDevice<T>,
        (drawn, drawn_count): (&CudaSlice<u32>, usize),
        slice_length: u32,
        partial: Out<f64>,
    ) -> Truth<T> {
        Truth {
            targets: In::of(engine.targets()),
            drawn: In::of(drawn),
            drawn_count: drawn_count as u32,
            sources: In::of(engine.packed()),
            source_count: self.source_count,
            slice_length,
            global_size2: engine.global_size2().to_f64(),
            partial,
        }
    }
}

/// Several arrays of results in one allocation, which is read back once.
struct Results {
    values: CudaSlice<f64>,
    starts: Vec<usize>,
}

impl Results {
    fn new(buffers: &Buffers, lengths: impl Iterator<Item = usize>) -> Result<Self, Error> {
        let mut starts = vec![0];
        let mut end = 0;
        starts.extend(lengths.map(|length| {
            end += length;
            end
        }));
        Ok(Self {
            values: buffers.uninit(end)?,
            starts,
        })
    }

    /// The address of value `after` of array `array`.
    fn place(&mut self, array: usize, after: usize) -> Out<f64> {
        Out::of(&mut self.values).plus(self.starts[array] + after)
    }

    fn read(self, buffers: &Buffers) -> Result<Vec<Vec<f64>>, Error> {
        let mut values = vec![0.0; self.starts.last().copied().unwrap_or(0)];
        buffers.read(&self.values, &mut values)?;
        Ok(self
            .starts
            .windows(2)
            .map(|range| values[range[0]..range[1]].to_vec())
            .collect())
    }
}

fn candidate(target: u32, count: f64, value: f64) -> Candidate {
    Candidate {
        target,
        count,
        expected: 0.0,
        value,
    }
}

/// Adds absolute contributions over streams and slices.
fn add_absolute(parts: &[f64], slices: usize, absolute: &mut [f64]) {
    let per_slice = WITH_ABSOLUTE * ABSOLUTE;
    for of_stream in parts.chunks(slices * per_slice) {
        for (k, all) in absolute.iter_mut().enumerate() {
            let sum: f64 = of_stream.iter().skip(k).step_by(per_slice).sum();
            *all = all.hypot(sum);
        }
    }
}

/// The number of targets with the largest values of an output that become candidates.
const LARGEST: usize = 16;

/// Removes duplicate candidates. Those after the pool, with large values, stand only for themselves.
fn stand_for_themselves(candidates: &mut Vec<Candidate>, pool: usize) {
    for k in (pool..candidates.len()).rev() {
        let target = candidates[k].target;
        if candidates[pool..k].iter().any(|other| other.target == target) {
            candidates.remove(k);
        } else if let Ok(at) = candidates[..pool].binary_search_by_key(&target, |candidate| candidate.target) {
            candidates[at].count = 1.0;
            candidates.remove(k);
        }
    }
}

/// The number of slices of the sources, at most `most`, and their length.
fn cut(sources: u32, most: u32) -> (u32, u32) {
    let tiles = sources.div_ceil(THREADS).max(1);
    let length = tiles.div_ceil(most) * THREADS;
    (sources.div_ceil(length).max(1), length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_of_whole_tiles_cover_all_sources() {
        for sources in [1, 127, 128, 129, 100_000, 1 << 20, (1 << 30) - 1] {
            for most in [1, 256, 512] {
                let (slices, length) = cut(sources, most);
                assert!(slices <= most && length % THREADS == 0, "{sources} {most}");
                let all = u64::from(slices) * u64::from(length);
                assert!(all >= u64::from(sources) && all - u64::from(length) < u64::from(sources));
            }
        }
    }

    #[test]
    fn a_target_with_a_large_value_is_one_candidate_and_stands_for_itself() {
        let candidate = |target: u32, count: f64| Candidate {
            target,
            count,
            expected: 0.0,
            value: 1.0,
        };
        let mut candidates: Vec<_> = [3, 7, 9].map(|target| candidate(target, 10.0)).to_vec();
        candidates.extend([7, 8, 8].map(|target| candidate(target, 1.0)));
        stand_for_themselves(&mut candidates, 3);
        let found: Vec<_> = candidates.iter().map(|c| (c.target, c.count)).collect();
        assert_eq!(found, [(3, 10.0), (7, 1.0), (9, 10.0), (8, 1.0)]);
    }
}
