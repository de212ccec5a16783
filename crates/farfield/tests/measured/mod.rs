//! One sum, planned, evaluated and measured against the truth.

use farfield::Precision;
use farfield::Sum;
use farfield::kernel::{Kernel, Sizes};

/// What is summed; how, the caller says.
#[derive(Debug, Clone)]
pub struct Case<'a, T> {
    pub kernel: Kernel,
    pub sources: &'a [[T; 3]],
    /// `None`: the sources.
    pub targets: Option<&'a [[T; 3]]>,
    pub sizes: Sizes<T>,
    pub strengths: &'a [T],
    pub tolerance: f64,
    /// Random targets at which the error is measured.
    pub samples: usize,
}

impl<'a, T: Precision> Case<'a, T> {
    /// At the sources, without cores, measured at 50 of them.
    pub fn new(kernel: Kernel, sources: &'a [[T; 3]], strengths: &'a [T], tolerance: f64) -> Self {
        Self {
            kernel,
            sources,
            targets: None,
            sizes: Sizes::None,
            strengths,
            tolerance,
            samples: 50,
        }
    }

    /// Sums as `wishes` says and returns the largest error of all outputs in units of the tolerance.
    ///
    /// # Panics
    /// If it exceeds the tolerance; the message names `what`.
    pub fn worst_error(&self, what: &str, wishes: impl FnOnce(Sum<'a, T>) -> Sum<'a, T>) -> f64 {
        let mut sum = Sum::new(self.kernel, self.sources)
            .tolerance(self.tolerance)
            .sizes(self.sizes.clone());
        if let Some(targets) = self.targets {
            sum = sum.targets(targets);
        }
        let sum = wishes(sum);
        let field = sum.plan().unwrap().evaluate(self.strengths).unwrap();
        let mut worst: f64 = 0.0;
        for error in sum.verify(self.strengths, &field, self.samples, 5).unwrap() {
            let (kernel, precision, tolerance) = (self.kernel, T::NAME, self.tolerance);
            assert!(
                error.relative_l2 <= tolerance,
                "{kernel:?} {precision} {what}: {} is {:e}, asked {tolerance:e}",
                error.output,
                error.relative_l2
            );
            worst = worst.max(error.relative_l2 / tolerance);
        }
        worst
    }
}
