// The contribution of one source to the sums at one target. The sums and their order are those of the CPU's kernels:
//   scalar strengths:  potential | gradient x y z | Hessian xx xy xz yy yz zz, also with dipoles
//   vector strengths:  velocity x y z | velocity gradient row by row
// without the gravitational constant and without 1/(4 pi), which the last step applies.
//
// Constants: FARFIELD_VECTOR (strengths are 0: scalars, 1: vectors), FARFIELD_DIPOLES (1: a scalar and a dipole moment),
// FARFIELD_DERIVATIVES of the potential (0, 1, 2), FARFIELD_CORE (0 singular; vortices: 1 Winckelmans-Leonard, 2
// Gaussian, 3 Hu's polynomial; masses: 4 Plummer, 5 cubic spline, 6 Wendland C2), FARFIELD_SIZES (0: no sizes, 1: one
// for all sources, 2: one per source), FARFIELD_SKIP_SAME (1: the pair of a point with itself is skipped by index).
#pragma once
#include "real.cuh"

#if FARFIELD_VECTOR
#define STRENGTHS 3
#define EXPANSIONS 3
#define SUMS (FARFIELD_DERIVATIVES == 2 ? 12 : 3)
#else
#define STRENGTHS (FARFIELD_DIPOLES ? 4 : 1)
#define EXPANSIONS 1
#define SUMS (FARFIELD_DERIVATIVES == 0 ? 1 : FARFIELD_DERIVATIVES == 1 ? 4 : 10)
#endif

// A packed source, read by the inner loop in one or two vector loads: position and charge, or position, squared core
// size and up to four strengths.
#if FARFIELD_VECTOR || FARFIELD_DIPOLES || FARFIELD_SIZES == 2
#define WIDE_SOURCE 1
struct __align__(16) Source {
    real x, y, z, size2, s0, s1, s2, s3;
};
#else
#define WIDE_SOURCE 0
struct __align__(16) Source {
    real x, y, z, s0;
};
#endif

__device__ __forceinline__ Source no_source() {
    Source none = {};
    return none;
}

// Sets the strengths of a source, which are `stride` apart.
__device__ __forceinline__ void set_strengths(Source &source, const real *__restrict__ strengths, ulong64 stride) {
    source.s0 = strengths[0];
#if STRENGTHS > 1
    source.s1 = strengths[stride];
    source.s2 = strengths[2 * stride];
#endif
#if FARFIELD_DIPOLES
    source.s3 = strengths[3 * stride];
#endif
}

// Strength `e` of a source.
__device__ __forceinline__ real strength_of(const Source &source, int e) {
#if STRENGTHS > 1
    return e == 0 ? source.s0 : e == 1 ? source.s1 : e == 2 ? source.s2 : source.s3;
#else
    return source.s0;
#endif
}

// Source j of a strength vector from the caller's arrays: positions (count x 3), strengths (vectors x count x
// STRENGTHS) and core sizes, if there is one per source.
__device__ __forceinline__ Source load_source(const real *__restrict__ positions, const real *__restrict__ strengths,
                                              const real *__restrict__ sizes, ulong64 count, ulong64 vector, ulong64 j) {
    Source source = no_source();
    source.x = positions[3 * j];
    source.y = positions[3 * j + 1];
    source.z = positions[3 * j + 2];
    set_strengths(source, strengths + (vector * count + j) * STRENGTHS, 1);
#if FARFIELD_SIZES == 2
    source.size2 = sizes[j] * sizes[j];
#endif
    return source;
}

// The squared core size of a source; `global_size2` if all sources share it.
__device__ __forceinline__ real size2_of(const Source &source, real global_size2) {
#if FARFIELD_SIZES == 2
    return source.size2;
#else
    return global_size2;
#endif
}

#if FARFIELD_VECTOR
// K(r) and K'(r)/r of the core. `counts` is set to false if the pair adds nothing.
__device__ __forceinline__ void vortex_profile(real r2, real size2, real &k, real &slope, bool &counts) {
#if FARFIELD_CORE == 0
    real inverse = inverse_sqrt(r2);
    real inverse2 = inverse * inverse;
    k = inverse2 * inverse;
    slope = real(-3) * k * inverse2;
    counts = is_positive(r2);
#elif FARFIELD_CORE == 1
    real s2 = r2 + size2;
    real inverse = inverse_sqrt(s2);
    real inverse2 = inverse * inverse;
    real inverse5 = inverse2 * inverse2 * inverse;
    k = fma(real(1.5), size2, s2) * inverse5;
    slope = fma(real(-7.5), size2, real(-3) * s2) * (inverse5 * inverse2);
    counts = is_positive(s2);
#elif FARFIELD_CORE == 2
    // With s = r/(sqrt(2) size): K = [erf(s) - 2/sqrt(pi) s exp(-s^2)]/r^3. Below s = 0.8, where the difference
    // cancels, the series 4/sqrt(pi) sum (-s^2)^k/(k! (2k+3)) of K r^3/s^3 and its derivative.
    real half_inverse = real(0.5) / max(size2, real(1e-37));
    real s2 = r2 * half_inverse;
    real cube = half_inverse * (half_inverse * inverse_sqrt(half_inverse));
    const real four_over_root_pi = real(2.2567583341910251478);
    // A source of size zero is singular and adds nothing at its own place.
    counts = is_positive(r2) || is_positive(size2);
    if (s2 > real(FARFIELD_DOUBLE ? 40 : 22)) {
        // Outside the core.
        real inverse = inverse_sqrt(r2);
        real inverse2 = inverse * inverse;
        k = inverse2 * inverse;
        slope = real(-3) * k * inverse2;
    } else if (s2 < real(0.64)) {
        real series = 0, series_slope = 0;
        const real term[14] = {1.,        1. / 1,      1. / 2,       1. / 6,        1. / 24,        1. / 120,        1. / 720,
                               1. / 5040, 1. / 40320., 1. / 362880., 1. / 3628800., 1. / 39916800., 1. / 479001600., 1. / 6227020800.};
#pragma unroll
        for (int n = 13; n >= 0; --n) {
            real signed_term = n % 2 == 0 ? term[n] : -term[n];
            series = fma(series, s2, signed_term / real(2 * n + 3));
            series_slope = fma(series_slope, s2, -signed_term / real(2 * n + 5));
        }
        k = four_over_root_pi * cube * series;
        slope = real(2) * four_over_root_pi * cube * half_inverse * series_slope;
    } else {
        real inverse = inverse_sqrt(r2);
        real inverse2 = inverse * inverse;
        real s = sqrt(s2);
        real decay = exp(-s2);
        real g = erf(s) - real(0.5) * four_over_root_pi * s * decay;
        k = g * inverse2 * inverse;
        slope = (four_over_root_pi * cube * decay - real(3) * k) * inverse2;
    }
#else
    real inverse = inverse_sqrt(r2);
    real inverse2 = inverse * inverse;
    bool inside = r2 < size2;
    k = inverse * (inside ? real(1) / max(size2, real(1e-37)) : inverse2);
    slope = (inside ? real(-1) : real(-3)) * k * inverse2;
    // gamma x 0 at the centre
    counts = is_positive(r2);
#endif
}
#endif

#if !FARFIELD_VECTOR && FARFIELD_CORE >= 5
// The potential of a unit mass with compact support h, and its slope divided by the distance. Beyond h it is a point.
// The polynomial in w = 1 - r/h avoids cancellation near the edge.
__device__ __forceinline__ void ended_profile(real r2, real size2, real &potential, real &slope, bool &counts) {
    const real support = FARFIELD_CORE == 5 ? real(2.8) : real(3);
    real h2 = support * support * size2;
    real inverse = inverse_sqrt(r2);
    potential = inverse;
    slope = inverse * inverse * inverse;
    counts = is_positive(r2);
    if (r2 < h2) {
        real inverse_h = inverse_sqrt(h2);
        // Zero at the centre, where the inverse distance is NaN.
        real u = counts ? r2 * inverse * inverse_h : real(0);
        real w = real(1) - u;
        counts = true;
#if FARFIELD_CORE == 5
        if (u < real(0.5)) {
            real u2 = u * u;
            potential = fma(u2, fma(u2, fma(u, real(-32. / 5), real(48. / 5)), real(-16. / 3)), real(14. / 5)) * inverse_h;
            slope = fma(u2, fma(u, real(32), real(-192. / 5)), real(32. / 3)) * (inverse_h * inverse_h * inverse_h);
        } else {
            // The field of a point, less the contribution of the mass outside r.
            real w4 = w * w * w * w;
            potential *= fma(-w4 * w, fma(w, real(-32. / 15), real(16. / 5)), real(1));
            slope *= fma(-w4, fma(w, fma(w, real(32. / 3), real(-128. / 5)), real(16)), real(1));
        }
#else
        real rest = fma(w, fma(w, fma(w, fma(w, fma(w, real(3), real(-6)), real(1)), real(1)), real(1)), real(1));
        potential = fma(w, fma(w, rest, real(1)), real(1)) * inverse_h;
        rest = fma(w, fma(w, fma(w, real(-21), real(15)), real(10)), real(6));
        slope = fma(w, fma(w, rest, real(3)), real(1)) * (inverse_h * inverse_h * inverse_h);
#endif
    }
}
#endif

// Adds the contribution of `source`; d is target minus source.
__device__ __forceinline__ void add_pair(real dx, real dy, real dz, const Source &source, real global_size2, bool other,
                                         real (&sums)[SUMS]) {
    real r2 = fma(dx, dx, fma(dy, dy, dz * dz));
    real size2 = size2_of(source, global_size2);
#if FARFIELD_VECTOR
    real k, slope;
    bool counts;
    vortex_profile(r2, size2, k, slope, counts);
    real cx = fma(-source.s2, dy, source.s1 * dz);
    real cy = fma(-source.s0, dz, source.s2 * dx);
    real cz = fma(-source.s1, dx, source.s0 * dy);
    if (counts && other) {
        sums[0] = fma(k, cx, sums[0]);
        sums[1] = fma(k, cy, sums[1]);
        sums[2] = fma(k, cz, sums[2]);
#if FARFIELD_DERIVATIVES == 2
        real ax = slope * cx, ay = slope * cy, az = slope * cz;
        sums[3] = fma(ax, dx, sums[3]);
        sums[4] = fma(ax, dy, fma(-k, source.s2, sums[4]));
        sums[5] = fma(ax, dz, fma(k, source.s1, sums[5]));
        sums[6] = fma(ay, dx, fma(k, source.s2, sums[6]));
        sums[7] = fma(ay, dy, sums[7]);
        sums[8] = fma(ay, dz, fma(-k, source.s0, sums[8]));
        sums[9] = fma(az, dx, fma(-k, source.s1, sums[9]));
        sums[10] = fma(az, dy, fma(k, source.s0, sums[10]));
        sums[11] = fma(az, dz, sums[11]);
#endif
    }
#elif FARFIELD_DIPOLES
    // Unit vectors avoid powers of the inverse distance that overflow where the sum does not.
    real inverse = inverse_sqrt(r2);
    real ux = dx * inverse, uy = dy * inverse, uz = dz * inverse;
    real q = source.s0, px = source.s1, py = source.s2, pz = source.s3;
    real moment = fma(px, ux, fma(py, uy, pz * uz));
    if (is_positive(r2) && other) {
        sums[0] = fma(fma(moment, inverse, q), inverse, sums[0]);
#if FARFIELD_DERIVATIVES >= 1
        // p/r^3 - u (q/r^2 + 3 p.u/r^3)
        real inverse2 = inverse * inverse, inverse3 = inverse2 * inverse;
        real radial = fma(real(3) * moment, inverse3, q * inverse2);
        sums[1] = fma(-radial, ux, fma(px, inverse3, sums[1]));
        sums[2] = fma(-radial, uy, fma(py, inverse3, sums[2]));
        sums[3] = fma(-radial, uz, fma(pz, inverse3, sums[3]));
#endif
#if FARFIELD_DERIVATIVES == 2
        // u_i u_j (3 q/r^3 + 15 p.u/r^4) - 3 (p_i u_j + p_j u_i)/r^4 - delta_ij (q/r^3 + 3 p.u/r^4)
        real inverse4 = real(3) * inverse3 * inverse, charge = q * inverse3;
        real trace = fma(moment, inverse4, charge), both = fma(real(3), charge, real(5) * moment * inverse4);
        real ax = both * ux, ay = both * uy, az = both * uz;
        sums[4] = fma(ax, ux, fma(-inverse4, real(2) * px * ux, sums[4] - trace));
        sums[5] = fma(ax, uy, fma(-inverse4, fma(px, uy, py * ux), sums[5]));
        sums[6] = fma(ax, uz, fma(-inverse4, fma(px, uz, pz * ux), sums[6]));
        sums[7] = fma(ay, uy, fma(-inverse4, real(2) * py * uy, sums[7] - trace));
        sums[8] = fma(ay, uz, fma(-inverse4, fma(py, uz, pz * uy), sums[8]));
        sums[9] = fma(az, uz, fma(-inverse4, real(2) * pz * uz, sums[9] - trace));
#endif
    }
#elif FARFIELD_CORE >= 5
    real potential, slope;
    bool counts;
    ended_profile(r2, size2, potential, slope, counts);
    if (counts && other) {
        sums[0] = fma(source.s0, potential, sums[0]);
#if FARFIELD_DERIVATIVES == 1
        real radial = source.s0 * slope;
        sums[1] = fma(-radial, dx, sums[1]);
        sums[2] = fma(-radial, dy, sums[2]);
        sums[3] = fma(-radial, dz, sums[3]);
#endif
    }
#else
#if FARFIELD_CORE == 4
    r2 += size2;
#endif
    real inverse = inverse_sqrt(r2);
    bool counts = is_positive(r2) && other;
#if FARFIELD_DERIVATIVES == 0
    if (counts) sums[0] = fma(source.s0, inverse, sums[0]);
#elif FARFIELD_DERIVATIVES == 1
    real potential = source.s0 * inverse;
    real radial = potential * (inverse * inverse);
    if (counts) {
        sums[0] += potential;
        sums[1] = fma(-radial, dx, sums[1]);
        sums[2] = fma(-radial, dy, sums[2]);
        sums[3] = fma(-radial, dz, sums[3]);
    }
#else
    // Unit vectors, because the fifth power of the inverse distance may overflow where the Hessian does not.
    real potential = source.s0 * inverse, slope = potential * inverse, radial = slope * inverse, second = real(3) * radial;
    real ux = dx * inverse, uy = dy * inverse, uz = dz * inverse;
    if (counts) {
        sums[0] += potential;
        sums[1] = fma(-slope, ux, sums[1]);
        sums[2] = fma(-slope, uy, sums[2]);
        sums[3] = fma(-slope, uz, sums[3]);
        // q (3 u_i u_j - delta_ij) / r^3
        real ax = second * ux, ay = second * uy, az = second * uz;
        sums[4] = fma(ax, ux, sums[4] - radial);
        sums[5] = fma(ax, uy, sums[5]);
        sums[6] = fma(ax, uz, sums[6]);
        sums[7] = fma(ay, uy, sums[7] - radial);
        sums[8] = fma(ay, uz, sums[8]);
        sums[9] = fma(az, uz, sums[9] - radial);
    }
#endif
#endif
}

// A target in registers.
struct Target {
    real x, y, z;

    // From positions in any precision.
    template <class Number> __device__ __forceinline__ void load(const Number *__restrict__ positions, ulong64 i) {
        x = positions[3 * i];
        y = positions[3 * i + 1];
        z = positions[3 * i + 2];
    }

    __device__ __forceinline__ void meet(const Source &source, real global_size2, bool other, real (&sums)[SUMS]) const {
        add_pair(x - source.x, y - source.y, z - source.z, source, global_size2, other, sums);
    }
};
