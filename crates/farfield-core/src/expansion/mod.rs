//! Real solid-harmonic expansions in three dimensions and their translations.
//!
//! # Basis
//! With Schmidt semi-normalised harmonics (no Condon-Shortley phase)
//! $$ R_n^m(x) = \sqrt{(2-\delta_{m0})\frac{(n-m)!}{(n+m)!}}\\; r^n P_n^m(\cos\theta)
//!    \begin{cases}\cos m\varphi\\\\ \sin m\varphi\end{cases},\qquad I_n^m(x) = R_n^m(x)/r^{2n+1} $$
//! the potential of a unit charge at $y$ is, for $|y|<|x|$,
//! $$ \frac1{|x-y|} = \sum_{n=0}^{\infty}\sum_{m} R_n^m(y)\\, I_n^m(x). $$
//! A *multipole* expansion holds the coefficients $M_n^m=\sum q R_n^m(y)$ of $I$, a *local* one the coefficients of
//! $R$. This is the real form of Hu, Gumerov and Duraiswami (eq. 7-15) with another normalisation: rotations become
//! orthogonal matrices, and no factor grows like a factorial.
//!
//! # Storage
//! Order $p$ keeps degrees $0..=p$. Degree $n$ occupies `n*n..(n+1)*(n+1)`: first the cosines $m=0..n$, then the
//! sines $m=1..n$. An expansion of lower order is a prefix. Lengths are in units of the box side, so coefficients are
//! of order one and the translation tables do not depend on the level.
//!
//! # Files
//! `harmonics` evaluates the basis, `rotation` builds rotation matrices, `translation` applies rotate-shift-rotate
//! translations to many boxes at once, `mirror` translates from mirrored sources by one matrix product, `derivative`
//! differentiates expansions.

pub(crate) mod derivative;
pub(crate) mod harmonics;
pub(crate) mod mirror;
#[cfg(test)]
pub(crate) mod oracle;
pub(crate) mod rotation;
pub(crate) mod translation;

/// The highest order any plan may use.
pub const MAX_ORDER: usize = 52;

/// The number of coefficients of an expansion of order `order`.
#[inline(always)]
pub const fn coefficient_count(order: usize) -> usize {
    (order + 1) * (order + 1)
}

/// The index of the cosine coefficient of degree `n` and order `m`.
#[inline(always)]
pub(crate) const fn cosine(n: usize, m: usize) -> usize {
    n * n + m
}

/// The index of the sine coefficient of degree `n` and order `m >= 1`.
#[inline(always)]
pub(crate) const fn sine(n: usize, m: usize) -> usize {
    n * n + n + m
}
