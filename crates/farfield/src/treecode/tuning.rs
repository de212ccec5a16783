//! Opening angle and order of the treecode from a tolerance.

use crate::expansion::MAX_ORDER;

/// Opening angle and order. What the expert fixed stays; the rest follows from the tolerance.
pub fn choose(order: Option<usize>, theta: Option<f64>, tolerance: f64, derivatives: usize) -> (f64, usize) {
    match (order, theta) {
        (Some(order), Some(theta)) => (theta, order),
        (Some(order), None) => (0.5, order),
        (None, theta) => {
            let theta = theta.unwrap_or(0.6);
            let wanted = tolerance * 0.3f64.powi(derivatives as i32);
            // Measured on cube and sphere: the error is below theta^(p+1) / 5.
            let order = ((5.0 * wanted).ln() / theta.max(0.05).ln()).ceil() as usize;
            (theta, order.clamp(2, MAX_ORDER))
        }
    }
}
