//! Opening angle and order of the treecode from a tolerance.

use crate::expansion::MAX_ORDER;

/// Opening angle and order. Given values are kept; the others follow from the tolerance.
pub fn choose(order: Option<usize>, theta: Option<f64>, tolerance: f64, derivatives: usize) -> (f64, usize) {
    match (order, theta) {
        (Some(order), Some(theta)) => (theta, order),
        (Some(order), None) => (0.5, order),
        (None, theta) => {
            let theta = theta.unwrap_or(if tolerance >= 1e-7 { 0.65 } else { 0.5 });
            (theta, order_for(theta, tolerance, derivatives))
        }
    }
}

/// The order for an opening angle. Measured with random signs (cube, sphere, Plummer; theta 0.5 to 0.8, orders 2 to 16):
/// the error of potential and gradient is below 0.06 (0.85 theta)^p, largest on the Plummer sphere.
pub fn order_for(theta: f64, tolerance: f64, derivatives: usize) -> usize {
    let wanted = tolerance * 0.5f64.powi(derivatives as i32);
    let order = ((wanted / 0.06).ln() / (0.85 * theta.max(0.05)).ln()).ceil() as usize;
    order.clamp(2, MAX_ORDER)
}
