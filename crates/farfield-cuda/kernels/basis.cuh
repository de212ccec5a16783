// The sums at a point from the derivatives of an expansion: the expansion of every sum, and the basis functions they
// share.
//
// Constants: those of pair.cuh, and FARFIELD_MULTIPOLE: 0 for local expansions, whose derivatives lose a degree, 1 for
// multipoles, whose derivatives gain one.
#pragma once
#include "expansion.cuh"
#include "pair.cuh"

#define BASIS_ORDER (ORDER + (FARFIELD_MULTIPOLE ? FARFIELD_DERIVATIVES : 0))
#define BASIS_COEFFICIENTS ((BASIS_ORDER + 1) * (BASIS_ORDER + 1))

// The recurrences of the basis: R_n^m = Q_n^m(z, r) {C_m, S_m}(x, y) with
//   C_m + i S_m = diagonal_m (x + i y) (C_{m-1} + i S_{m-1}),   Q_n = alpha z Q_{n-1} - beta r^2 Q_{n-2},
//   alpha = (2n-1)/sqrt(n^2 - m^2), beta = sqrt(((n-1)^2 - m^2)/(n^2 - m^2)), diagonal = sqrt((2m-1)/2m), one for m = 1.
struct Recurrence {
    real alpha[BASIS_COEFFICIENTS], beta[BASIS_COEFFICIENTS], diagonal[BASIS_ORDER + 1];
};

__device__ void fill_recurrence(Recurrence &table) {
    for (int k = threadIdx.x; k < BASIS_COEFFICIENTS; k += blockDim.x) {
        int n, m;
        bool is_sine;
        decode(k, n, m, is_sine);
        double square = (double)n * n - (double)m * m;
        table.alpha[k] = m < n ? (2.0 * n - 1) * rsqrt(square) : 0;
        table.beta[k] = m < n ? sqrt(max((n - 1.0) * (n - 1.0) - (double)m * m, 0.0) / square) : 0;
        if (m == n && !is_sine) table.diagonal[n] = n > 1 ? sqrt((2.0 * n - 1) / (2.0 * n)) : 1;
    }
}

// Coefficient `k` of the derivative along `axis` of an expansion of order `order` with coefficients `values`: a
// combination of at most two coefficients of the next degree (local) or of the previous one (multipole).
template <bool MULTIPOLE = FARFIELD_MULTIPOLE>
__device__ real derivative(const real *values, int stride, int order, int k, int axis) {
    int n, m;
    bool is_sine;
    decode(k, n, m, is_sine);
    int from = MULTIPOLE ? n - 1 : n + 1;
    if (from < 0 || from > order) return 0;
    auto cosines = [&](int order) { return order > from ? real(0) : values[cosine(from, order) * stride]; };
    auto sines = [&](int order) { return order == 0 || order > from ? real(0) : values[sine(from, order) * stride]; };
    // The weights of orders m, m + 1 and m - 1; order 0 has no sine partner.
    real same, down, up;
    if (MULTIPOLE) {
        same = -sqrt(max((double)(n - m) * (n + m), 0.0));
        down = 0.5 * sqrt(max((double)(n - m) * (n - m - 1), 0.0));
        up = -0.5 * sqrt((double)(n + m) * (n + m - 1));
    } else {
        same = sqrt((double)(from - m) * (from + m));
        down = 0.5 * sqrt((double)(from + m + 1) * (from + m));
        up = -0.5 * sqrt((double)(from - m + 1) * (from - m));
    }
    if (m == 0) {
        down *= real(1.41421356237309504880);
        up = 0;
    } else if (m == 1) {
        up *= real(1.41421356237309504880);
    }
    int below = m == 0 ? 0 : m - 1;
    if (axis == 2) return same * (is_sine ? sines(m) : cosines(m));
    if (axis == 0) return is_sine ? fma(down, sines(m + 1), up * sines(below)) : fma(down, cosines(m + 1), up * cosines(below));
    return is_sine ? fma(-down, cosines(m + 1), up * cosines(below)) : fma(down, sines(m + 1), -up * sines(below));
}

// derived[k * SUMS + s]: coefficient k of the expansion of sum s, from the expansions of the potential, which are
// STRIDE apart. Called by all threads of the block.
__device__ void derive(const real *__restrict__ potential, real *derived) {
#if FARFIELD_VECTOR
    // Velocity = curl of the vector potential: u_i = d_j A_k - d_k A_j with (i, j, k) cyclic
    for (int k = threadIdx.x; k < BASIS_COEFFICIENTS; k += blockDim.x)
        for (int i = 0; i < 3; ++i) {
            int j = (i + 1) % 3, l = (i + 2) % 3;
            derived[k * SUMS + i] =
                derivative(potential + l * STRIDE, 1, ORDER, k, j) - derivative(potential + j * STRIDE, 1, ORDER, k, l);
        }
#else
    for (int k = threadIdx.x; k < BASIS_COEFFICIENTS; k += blockDim.x) {
        derived[k * SUMS] = k < COEFFICIENTS ? potential[k] : real(0);
#if FARFIELD_DERIVATIVES >= 1
        for (int axis = 0; axis < 3; ++axis) derived[k * SUMS + 1 + axis] = derivative(potential, 1, ORDER, k, axis);
#endif
    }
#endif
#if FARFIELD_DERIVATIVES == 2
    __syncthreads();
    const int order = ORDER + FARFIELD_MULTIPOLE;
    for (int k = threadIdx.x; k < BASIS_COEFFICIENTS; k += blockDim.x) {
        int place = FARFIELD_VECTOR ? 3 : 4;
        for (int i = 0; i < 3; ++i)
            for (int j = FARFIELD_VECTOR ? 0 : i; j < 3; ++j)
                derived[k * SUMS + place++] = derivative(derived + !FARFIELD_VECTOR + i, SUMS, order, k, j);
    }
#endif
    __syncthreads();
}

// Adds the values at (x, y, z) of all sums, given their regular expansions `derived`, strength vector by strength
// vector.
template <int VECTORS>
__device__ __forceinline__ void add_regular(const Recurrence &table, const real *__restrict__ derived, real x, real y, real z,
                                            real (&values)[VECTORS][SUMS]) {
    const int per_vector = SUMS * BASIS_COEFFICIENTS;
    real r2 = fma(x, x, fma(y, y, z * z)), c = 1, s = 0;
    for (int m = 0; m <= BASIS_ORDER; ++m) {
        if (m > 0) {
            real dx = table.diagonal[m] * x, dy = table.diagonal[m] * y, old = c;
            c = fma(-dy, s, dx * c);
            s = fma(dy, old, dx * s);
        }
        real q = 1, before = 0;
        for (int n = m; n <= BASIS_ORDER; ++n) {
            if (n > m) {
                real next = fma(-table.beta[cosine(n, m)] * r2, before, table.alpha[cosine(n, m)] * z * q);
                before = q;
                q = next;
            }
            real qc = q * c, qs = q * s;
#pragma unroll
            for (int v = 0; v < VECTORS; ++v)
#pragma unroll
                for (int e = 0; e < SUMS; ++e)
                    values[v][e] = fma(derived[v * per_vector + cosine(n, m) * SUMS + e], qc, values[v][e]);
            if (m > 0)
#pragma unroll
                for (int v = 0; v < VECTORS; ++v)
#pragma unroll
                    for (int e = 0; e < SUMS; ++e)
                        values[v][e] = fma(derived[v * per_vector + sine(n, m) * SUMS + e], qs, values[v][e]);
        }
    }
}

// The number of derivatives in sum `s`; each contributes a factor of one over the box side.
__device__ __forceinline__ constexpr int derivatives_of(int s) {
#if FARFIELD_VECTOR
    return s < 3 ? 1 : 2;
#else
    return s == 0 ? 0 : s < 4 ? 1 : 2;
#endif
}
