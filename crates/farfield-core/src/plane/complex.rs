//! Complex numbers whose parts are vectors.

use crate::simd::Lanes;

/// A vector of complex numbers.
#[derive(Clone, Copy)]
pub(crate) struct Complex<V> {
    pub re: V,
    pub im: V,
}

impl<V: Lanes> Complex<V> {
    #[inline(always)]
    pub fn zero() -> Self {
        Self::real(V::zero())
    }

    #[inline(always)]
    pub fn real(re: V) -> Self {
        Self { re, im: V::zero() }
    }

    #[inline(always)]
    pub fn plus(self, b: Self) -> Self {
        Self {
            re: self.re + b.re,
            im: self.im + b.im,
        }
    }

    #[inline(always)]
    pub fn times(self, b: Self) -> Self {
        Self {
            re: self.im.neg_mul_add(b.im, self.re * b.re),
            im: self.im.mul_add(b.re, self.re * b.im),
        }
    }

    /// `self * b + c`
    #[inline(always)]
    pub fn times_plus(self, b: Self, c: Self) -> Self {
        Self {
            re: self.im.neg_mul_add(b.im, self.re.mul_add(b.re, c.re)),
            im: self.im.mul_add(b.re, self.re.mul_add(b.im, c.im)),
        }
    }

    #[inline(always)]
    pub fn scaled(self, factor: V) -> Self {
        Self {
            re: self.re * factor,
            im: self.im * factor,
        }
    }

    #[inline(always)]
    pub fn norm2(self) -> V {
        self.re.mul_add(self.re, self.im * self.im)
    }

    /// `1/self`
    #[inline(always)]
    pub fn inverse(self) -> Self {
        let factor = V::splat(crate::simd::Real::from_f64(1.0)).div(self.norm2());
        Self {
            re: self.re * factor,
            im: V::zero() - self.im * factor,
        }
    }
}
