// The contribution of one source of the plane to the sums at one target, d = target - source. The sums and their order
// are those of the CPU:
//   harmonic:  sum gamma f/d (re, im) | sum gamma/d^2 (re, im) | sum gamma/d^3 (re, im)
//   log:       sum gamma g | sum gamma f/d (re, im) | sum gamma/d^2 (re, im)
//
// Constants: FARFIELD_LOG (0 harmonic, 1 logarithm), FARFIELD_DERIVATIVES (0, 1, 2: the largest number in an output),
// FARFIELD_COMPLEX (1: complex strengths; singular harmonic kernel only), FARFIELD_CORE (0 singular, 1 Gaussian, 2
// algebraic), FARFIELD_SIZES (0: no sizes, 1: one for all sources, 2: one per source), FARFIELD_SKIP_SAME (1: the pair
// of a point with itself is skipped by index).
#pragma once
#include "plane.cuh"

// The number of powers of 1/d that are summed, and the index of the first among the sums.
#define POWERS (FARFIELD_DERIVATIVES + !FARFIELD_LOG)
#define FIRST_POWER FARFIELD_LOG
#define SUMS (FIRST_POWER + 2 * POWERS)

// Position, strength, and the strength's imaginary part or the squared core size, which never occur together.
struct __align__(16) Source {
    real x, y, s, extra;
};

__device__ __forceinline__ Source no_source() { return {0, 0, 0, 0}; }

__device__ __forceinline__ complex strength_of(const Source &source) {
    return {source.s, FARFIELD_COMPLEX ? source.extra : real(0)};
}

// 1/x in full precision, for x neither zero nor denormal.
__device__ __forceinline__ real reciprocal(real x) {
#if FARFIELD_DOUBLE
    // The hardware's estimate y has about 20 correct bits; with e = 1 - x y one cubic step y (1 + e + e^2).
    real y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    real e = fma(-x, y, 1.0);
    return fma(y, fma(e, e, e), y);
#else
    real y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#endif
}

#if FARFIELD_CORE == 1 && FARFIELD_LOG
// E1(x) = int_x^inf exp(-t)/t dt: the power series below one, a continued fraction above, as on the CPU.
__device__ double exponential_integral(double x) {
    const double euler = 0.577215664901532861;
    if (x > 40) return 0;
    if (x <= 1) {
        double sum = -euler - log(x), term = 1;
        for (int k = 1; k < 20; ++k) {
            term *= -x / k;
            sum -= term / k;
        }
        return sum;
    }
    double b = x + 1, d = 1 / b, fraction = d, c = 0;
    for (int k = 1; k < 200; ++k) {
        double a = -(double)k * k;
        b += 2;
        d = 1 / fma(a, d, b);
        // Lentz's method starts from an infinite c.
        c = k == 1 ? b : b + a / c;
        double step = c * d;
        fraction *= step;
        if (fabs(step - 1) < 1e-16) break;
    }
    return fraction * exp(-x);
}
#endif

// f/r^2 of the core.
__device__ __forceinline__ real weight_of(real r2, real size2) {
#if FARFIELD_CORE == 1
    // If the size is zero or the exponential is below round-off, this is the singular core.
    real inverse2 = real(1) / max(size2, real(1e-30));
    real x = r2 * inverse2;
    if (x < real(0.02)) {
        // (1 - exp(-x))/x near zero, without cancellation
        real series = real(1. / 5040);
        series = fma(series, x, real(-1. / 720));
        series = fma(series, x, real(1. / 120));
        series = fma(series, x, real(-1. / 24));
        series = fma(series, x, real(1. / 6));
        series = fma(series, x, real(-0.5));
        return fma(series, x, real(1)) * inverse2;
    }
    return (real(1) - exp(-x)) * reciprocal(r2);
#elif FARFIELD_CORE == 2
    return reciprocal(r2 + size2);
#else
    return reciprocal(r2);
#endif
}

#if FARFIELD_LOG
// g of the core.
__device__ __forceinline__ real logarithm_of(real r2, real size2) {
#if FARFIELD_CORE == 1
    if (r2 < real(37) * size2) {
        double x = (double)r2 / (double)size2;
        if (x < 1e-300) return real(0.5 * (log((double)size2) - 0.577215664901532861));
        return real(0.5 * (log((double)r2) + exponential_integral(x)));
    }
    return real(0.5) * log(r2);
#elif FARFIELD_CORE == 2
    return real(0.5) * log(r2 + size2);
#else
    return real(0.5) * log(r2);
#endif
}
#endif

// Adds gamma conj(d) to a pair of sums.
__device__ __forceinline__ void add_conjugate(real dx, real dy, complex strength, real &re, real &im) {
    re = fma(strength.re, dx, re);
    im = fma(-strength.re, dy, im);
#if FARFIELD_COMPLEX
    re = fma(strength.im, dy, re);
    im = fma(strength.im, dx, im);
#endif
}

// Adds the contribution of `source`; `other` is false for the pair of a point with itself.
__device__ __forceinline__ void add_pair(real dx, real dy, const Source &source, real global_size2, bool other,
                                         real (&sums)[SUMS]) {
    real r2 = fma(dx, dx, dy * dy);
    real size2 = FARFIELD_SIZES == 2 ? source.extra : global_size2;
#if FARFIELD_CORE == 0
    bool counts = is_positive(r2) && other;
#else
    // Some sources may have size zero.
    bool counts = is_positive(r2 + size2) && other;
#endif
    complex strength = strength_of(source);
#if FARFIELD_LOG
    real logarithm = logarithm_of(r2, size2);
    if (counts) sums[0] = fma(strength.re, logarithm, sums[0]);
#endif
#if POWERS == 1
    real weight = weight_of(r2, size2);
    if (counts) add_conjugate(dx, dy, weight * strength, sums[FIRST_POWER], sums[FIRST_POWER + 1]);
#elif POWERS > 1
    real weight = weight_of(r2, size2);
    // The conjugate of 1/d and its powers.
    complex conjugate = {dx * weight, dy * weight}, power = conjugate;
    if (counts)
#pragma unroll
        for (int k = 0; k < POWERS; ++k) {
            if (k > 0) power = power * conjugate;
            add_conjugate(power.re, power.im, strength, sums[FIRST_POWER + 2 * k], sums[FIRST_POWER + 2 * k + 1]);
        }
#endif
}

// A target in registers.
struct Target {
    real x, y;

    // From positions in any precision.
    template <class Number> __device__ __forceinline__ void load(const Number *__restrict__ positions, ulong64 i) {
        x = positions[2 * i];
        y = positions[2 * i + 1];
    }

    __device__ __forceinline__ void meet(const Source &source, real global_size2, bool other, real (&sums)[SUMS]) const {
        add_pair(x - source.x, y - source.y, source, global_size2, other, sums);
    }
};
