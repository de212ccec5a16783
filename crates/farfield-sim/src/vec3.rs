//! Vectors in space, as arrays.

/// A vector or a point.
pub type Vec3 = [f64; 3];

/// `a + b`.
#[inline]
pub fn add(a: Vec3, b: Vec3) -> Vec3 {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

/// `a - b`.
#[inline]
pub fn sub(a: Vec3, b: Vec3) -> Vec3 {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// `s a`.
#[inline]
pub fn scale(a: Vec3, s: f64) -> Vec3 {
    [s * a[0], s * a[1], s * a[2]]
}

/// `a + s b`.
#[inline]
pub fn add_scaled(a: Vec3, s: f64, b: Vec3) -> Vec3 {
    [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]]
}

/// The scalar product.
#[inline]
pub fn dot(a: Vec3, b: Vec3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// The cross product.
#[inline]
pub fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// The length.
#[inline]
pub fn norm(a: Vec3) -> f64 {
    dot(a, a).sqrt()
}

/// The unit vector in the direction of `a`; zero for zero.
pub fn unit(a: Vec3) -> Vec3 {
    let length = norm(a);
    if length > 0.0 { scale(a, 1.0 / length) } else { a }
}

/// The sum of many vectors, in order.
pub fn sum(vectors: impl IntoIterator<Item = Vec3>) -> Vec3 {
    vectors.into_iter().fold([0.0; 3], add)
}

/// Whether every component of every vector is a finite number.
pub fn all_finite(vectors: &[Vec3]) -> bool {
    vectors.as_flattened().iter().all(|value| value.is_finite())
}

/// Two unit vectors that make a right-handed frame with the unit vector `axis` (first x second = axis).
pub fn frame_across(axis: Vec3) -> (Vec3, Vec3) {
    // Start from the coordinate axis that is farthest from `axis`.
    let smallest = (0..3)
        .min_by(|&i, &j| axis[i].abs().total_cmp(&axis[j].abs()))
        .unwrap_or(0);
    let mut start = [0.0; 3];
    start[smallest] = 1.0;
    let first = unit(add_scaled(start, -dot(start, axis), axis));
    (first, cross(axis, first))
}

/// `a` rotated by `angle` about the unit vector `axis` (Rodrigues).
pub fn rotate(a: Vec3, axis: Vec3, angle: f64) -> Vec3 {
    let (sine, cosine) = angle.sin_cos();
    let along = scale(axis, (1.0 - cosine) * dot(axis, a));
    add(add_scaled(scale(a, cosine), sine, cross(axis, a)), along)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_right_handed_and_orthonormal() {
        for axis in [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], unit([1.0, -2.0, 0.5])] {
            let (a, b) = frame_across(axis);
            for (value, expected) in [
                (dot(a, axis), 0.0),
                (dot(b, axis), 0.0),
                (dot(a, b), 0.0),
                (norm(b), 1.0),
            ] {
                assert!((value - expected).abs() < 1e-15);
            }
            assert!(norm(sub(cross(a, b), axis)) < 1e-15);
        }
    }

    #[test]
    fn rotations_keep_lengths_and_turn_the_right_way() {
        let turned = rotate([1.0, 0.0, 0.0], [0.0, 0.0, 1.0], std::f64::consts::FRAC_PI_2);
        assert!(norm(sub(turned, [0.0, 1.0, 0.0])) < 1e-15);
    }
}
