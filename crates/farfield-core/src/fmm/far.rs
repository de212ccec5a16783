//! The far field of an evaluation, behind one trait: expansions and their seven operators.

use super::layout::Layout;
use crate::simd::Real;

/// Expansions of the boxes of a [`Layout`]. A kind of expansion (harmonic, Bessel, proxies) implements this trait; the
/// algorithm ([`super::evaluate`]) and the pairs ([`super::near`]) do not depend on the kind.
///
/// `strengths` are ordered stream by stream, in tree order. In `sums`, a leaf with `n` targets from `a` on has the
/// block `sums[rows * a..rows * (a + n)]`, with sum `k` of its target `i` at `k * n + i`; `rows` is the number of sums
/// per target over all strength vectors.
pub(crate) trait Far<T: Real> {
    /// P2M: the sources of each leaf into its multipole.
    fn p2m(&mut self, layout: &Layout<T>, strengths: &[T]);
    /// M2M: the multipoles of children into those of their parents, from the deepest level up.
    fn m2m(&mut self, layout: &Layout<T>);
    /// M2L: multipoles into the locals of boxes of the same level that do not touch. Sets the locals.
    fn m2l(&mut self, layout: &Layout<T>);
    /// P2L: the sources of larger leaves into the locals of boxes that do not touch them.
    fn p2l(&mut self, layout: &Layout<T>, strengths: &[T]);
    /// L2L: the locals of parents into those of their children, from the root down.
    fn l2l(&mut self, layout: &Layout<T>);
    /// L2P: the local of each leaf at its targets. Sets the sums; later steps add to them.
    fn l2p(&self, layout: &Layout<T>, sums: &mut [T]);
    /// M2P: the multipoles of smaller boxes, or of a treecode's far boxes, at the targets of a leaf.
    fn m2p(&self, layout: &Layout<T>, sums: &mut [T]);
    /// Returns the memory of the locals to the system until the next evaluation, if memory is spared.
    fn spare_locals(&mut self);
}
