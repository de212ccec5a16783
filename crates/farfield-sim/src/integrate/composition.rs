//! Symplectic schemes as sequences of kick-drift-kick steps.

use crate::case::Scheme;

/// The sub-steps of a step, as fractions of it: one for leapfrog, three for Yoshida's fourth-order scheme. Its middle
/// sub-step goes backwards, so that the second-order errors cancel: $w_1 = 1/(2-2^{1/3})$, $w_0 = 1-2w_1$.
pub fn composition(scheme: Scheme) -> &'static [f64] {
    const W1: f64 = 1.351_207_191_959_657_8;
    match scheme {
        Scheme::Yoshida4 => &[W1, 1.0 - 2.0 * W1, W1],
        _ => &[1.0],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yoshida_weights_sum_to_one_and_their_cubes_to_zero() {
        let parts = composition(Scheme::Yoshida4);
        assert!((parts.iter().sum::<f64>() - 1.0).abs() < 1e-15);
        assert!(parts.iter().map(|w| w.powi(3)).sum::<f64>().abs() < 1e-14);
    }
}
