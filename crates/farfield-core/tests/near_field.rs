//! The seam between a plan's far field and its pairs: pairs summed by someone else, from the lists alone, give the same sums.

use farfield_core::kernel::{Kernel, Output, Sizes};
use farfield_core::plan::{Arrangement, NearField, NearLists, PairsElsewhere};
use farfield_core::points::{ChargeDistribution, PointSet};
use farfield_core::{Error, Field, Method, Plan, Sum};
use std::ops::Range;

/// A plan's pairs, copied out of its lists and summed one by one: softened or not, potential and gradient.
struct OneByOne {
    sources: Vec<[f64; 3]>,
    targets: Vec<[f64; 3]>,
    size2: Vec<f64>,
    skip_same: bool,
    vectors: usize,
    blocks: Vec<Meeting>,
    sums: Vec<f64>,
}

/// Targets and the ranges of sources they meet.
type Meeting = (Range<u32>, Vec<(u32, u32)>);

fn points(columns: [&[f64]; 3]) -> Vec<[f64; 3]> {
    (0..columns[0].len()).map(|k| columns.map(|column| column[k])).collect()
}

impl OneByOne {
    /// The first so many of the plan's blocks.
    fn new(lists: &NearLists<'_, f64>, blocks: usize) -> Self {
        let sources = points(lists.sources.columns);
        let targets = lists
            .targets
            .map_or_else(|| sources.clone(), |targets| points(targets.columns));
        let size2 = if lists.size2.is_empty() {
            vec![lists.global_size2; sources.len()]
        } else {
            lists.size2.to_vec()
        };
        let ranges = |k: usize| {
            let block = lists.block(k);
            let mut ranges = vec![block.own];
            ranges.extend(block.others);
            (block.targets, ranges)
        };
        Self {
            sources,
            targets,
            size2,
            skip_same: lists.skip_same,
            vectors: lists.vectors,
            blocks: (0..blocks).map(ranges).collect(),
            sums: Vec::new(),
        }
    }

    fn at(&self, target: usize, ranges: &[(u32, u32)], strengths: &[f64]) -> [f64; 4] {
        let mut sums = [0.0; 4];
        for j in ranges.iter().flat_map(|(start, end)| *start as usize..*end as usize) {
            let d: [f64; 3] = std::array::from_fn(|axis| self.targets[target][axis] - self.sources[j][axis]);
            let s2 = d.iter().map(|c| c * c).sum::<f64>() + self.size2[j];
            if s2 == 0.0 || self.skip_same && j == target {
                continue;
            }
            let s = s2.sqrt();
            sums[0] += strengths[j] / s;
            for axis in 0..3 {
                sums[1 + axis] -= strengths[j] * d[axis] / (s2 * s);
            }
        }
        sums
    }
}

impl NearField<f64> for OneByOne {
    fn blocks(&self) -> usize {
        self.blocks.len()
    }

    fn start(&mut self, strengths: &[f64]) -> Result<(), Error> {
        let mut sums = Vec::new();
        for (targets, ranges) in &self.blocks {
            for target in targets.clone() {
                assert_eq!(sums.len(), target as usize * 4 * self.vectors, "targets are left out");
                for vector in 0..self.vectors {
                    let of_vector = &strengths[vector * self.sources.len()..];
                    sums.extend(self.at(target as usize, ranges, of_vector));
                }
            }
        }
        self.sums = sums;
        Ok(())
    }

    fn finish(&mut self) -> Result<&[f64], Error> {
        Ok(&self.sums)
    }
}

/// The largest difference of two fields over the largest value.
fn difference(a: &Field<f64>, b: &Field<f64>) -> f64 {
    let mut worst: f64 = 0.0;
    for output in a.outputs() {
        let (a, b) = (a.get(*output).unwrap(), b.get(*output).unwrap());
        let largest = a.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        let apart = a.iter().zip(b).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
        worst = worst.max(apart / largest);
    }
    worst
}

/// Evaluates a plan alone and with none, some and all of its pairs summed elsewhere.
fn check(what: &str, mut plan: Plan<f64>, strengths: &[f64]) {
    let alone = plan.evaluate(strengths).unwrap();
    let count = plan.near_lists().block_count();
    let all: u64 = (0..count).map(|k| plan.near_lists().block(k).pairs()).sum();
    assert_eq!(all, plan.parameters().interactions.p2p, "{what}");
    for blocks in [0, count / 3, count] {
        let mut near = OneByOne::new(&plan.near_lists(), blocks);
        let mut beside = plan.field();
        plan.evaluate_beside(strengths, &mut beside, &mut near).unwrap();
        let apart = difference(&alone, &beside);
        assert!(
            // Roots are as exact here as the tolerance of 1e-9 asks; elsewhere they are exact.
            apart < if blocks == 0 { f64::MIN_POSITIVE } else { 1e-9 },
            "{what}, {blocks} blocks: {apart:e}"
        );
    }
}

const BOTH: [Output; 2] = [Output::Potential, Output::Gradient];

#[test]
fn pairs_summed_elsewhere_give_the_same_sums() {
    let n = 3000;
    let strengths = ChargeDistribution::Signed.generate::<f64>(3 * n, 1);
    let coulomb = |points| Sum::new(Kernel::Coulomb, points).outputs(&BOTH).tolerance(1e-9);
    let cube = PointSet::Cube.generate::<f64>(n, 1);
    let plummer = PointSet::Plummer.generate::<f64>(n, 1);
    let sphere = PointSet::Sphere.generate::<f64>(700, 2);
    let one = &strengths[..n];
    for method in [Method::Direct, Method::Treecode, Method::Fmm] {
        for set in [&cube, &plummer] {
            check(method.name(), coulomb(set).method(method).plan().unwrap(), one);
        }
        let other_targets = coulomb(&cube).targets(&sphere).method(method);
        check("other targets", other_targets.plan().unwrap(), one);
        let vectors = coulomb(&cube).vectors(3).method(method);
        check("three vectors", vectors.plan().unwrap(), &strengths);
        let gravity = Kernel::gravity(2.0);
        let sizes: Vec<f64> = (0..n).map(|k| 1e-4 * (1 + k % 5) as f64).collect();
        for sizes in [Sizes::Global(1e-4), Sizes::PerSource(sizes)] {
            let softened = Sum::new(gravity, &cube)
                .outputs(gravity.outputs())
                .sizes(sizes)
                .tolerance(1e-9)
                .method(method);
            check("softened", softened.plan().unwrap(), one);
        }
    }
}

#[test]
fn points_that_are_not_the_callers_are_said_to_be_others() {
    let strengths = vec![1.0; 2000];
    let order = |plan: &Plan<f64>| matches!(plan.near_lists().sources.arrangement, Arrangement::Others);
    let far_apart: Vec<[f64; 3]> = PointSet::Cube
        .generate::<f64>(2000, 1)
        .iter()
        .map(|point| point.map(|c| 1e40 * c))
        .collect();
    let mut duplicates = PointSet::Cube.generate::<f64>(1000, 1);
    duplicates.extend(vec![duplicates[7]; 1000]);
    for points in [far_apart, duplicates] {
        let plan = Sum::new(Kernel::Coulomb, &points)
            .outputs(&BOTH)
            .tolerance(1e-9)
            .method(Method::Fmm);
        let plan = plan.plan().unwrap();
        assert!(order(&plan));
        check("other points", plan, &strengths);
    }
}

#[test]
fn faster_pairs_elsewhere_make_larger_boxes_and_slow_ones_leave_work_here() {
    let points = PointSet::Cube.generate::<f64>(20_000, 1);
    let sum = || Sum::new(Kernel::Coulomb, &points).method(Method::Fmm);
    let elsewhere = |pair| {
        sum()
            .pairs_elsewhere(PairsElsewhere { pair, point: 0.0 })
            .plan()
            .unwrap()
    };
    // Pairs shared with someone else are met from each side, as pairs with other targets are.
    let alone = sum().targets(&points).plan().unwrap().parameters().leaf_capacity;
    let fast = elsewhere(0.01);
    assert!(fast.parameters().leaf_capacity > alone);
    // Four times as slow as here: the far field's time and a fifth of the rest.
    let pair = fast.near_lists().pair_cost;
    let slow = elsewhere(4.0 * pair);
    assert_eq!(slow.parameters().leaf_capacity, alone);
    let lists = slow.near_lists();
    let taken = lists.blocks_elsewhere(4.0 * pair);
    let pairs: u64 = (0..taken).map(|k| lists.block(k).pairs()).sum();
    let (there, here) = (4.0 * pairs as f64, (lists.pairs - pairs) as f64 + lists.far_cost / pair);
    assert!(
        taken < lists.block_count() && (there / here - 1.0).abs() < 0.05,
        "{taken}: {there} {here}"
    );
    // Little is not worth leaving here.
    assert_eq!(lists.blocks_elsewhere(1e-3 * pair), lists.block_count());
}

#[test]
fn a_near_field_that_fails_is_an_error_and_the_plan_stays_usable() {
    struct Broken;
    impl NearField<f64> for Broken {
        fn blocks(&self) -> usize {
            1
        }
        fn start(&mut self, _: &[f64]) -> Result<(), Error> {
            Ok(())
        }
        fn finish(&mut self) -> Result<&[f64], Error> {
            let reason = "unplugged".to_owned();
            Err(Error::NearField { reason })
        }
    }
    let points = PointSet::Cube.generate::<f64>(2000, 1);
    let strengths = vec![1.0; 2000];
    let mut plan = Sum::new(Kernel::Coulomb, &points).plan().unwrap();
    let (before, mut field) = (plan.evaluate(&strengths).unwrap(), plan.field());
    match plan.evaluate_beside(&strengths, &mut field, &mut Broken) {
        Err(Error::NearField { reason }) => assert_eq!(reason, "unplugged"),
        other => panic!("{other:?}"),
    }
    assert_eq!(plan.evaluate(&strengths).unwrap().potential(), before.potential());
}
