// Real solid-harmonic expansions, laid out as on the CPU: degree n occupies n*n..(n+1)*(n+1), first the cosines
// m = 0..n, then the sines m = 1..n. Lengths are in units of the box's side.
//
// Constants: FARFIELD_ORDER, the highest degree.
#pragma once
#include "real.cuh"

#define ORDER FARFIELD_ORDER
#define COEFFICIENTS ((ORDER + 1) * (ORDER + 1))

// Translations multiply tiles of 16 rows by steps of 8 columns, so expansions are padded with zeros to a multiple of
// both.
#define ROW_TILES ((COEFFICIENTS + 15) / 16)
#define STRIDE (16 * ROW_TILES)
#define STEPS (STRIDE / 8)

__host__ __device__ constexpr int cosine(int n, int m) { return n * n + m; }
__host__ __device__ constexpr int sine(int n, int m) { return n * n + n + m; }

// The degree and order of coefficient `k`, and whether it is a sine.
__device__ __forceinline__ void decode(int k, int &n, int &m, bool &is_sine) {
    n = (int)sqrtf((float)k);
    while (n * n > k) --n;
    while ((n + 1) * (n + 1) <= k) ++n;
    m = k - n * n;
    is_sine = m > n;
    if (is_sine) m -= n;
}

// The axes, as bits x (0), y (1) and z (2), whose mirroring changes the sign of coefficient `k`.
__device__ __forceinline__ uint mirror_bits(int k) {
    int n, m;
    bool is_sine;
    decode(k, n, m, is_sine);
    uint sine_bit = is_sine ? 1u : 0u;
    return ((m & 1) ^ sine_bit) | sine_bit << 1 | ((n + m) & 1) << 2;
}

__device__ __forceinline__ real flip_if(real value, uint odd) {
#if FARFIELD_DOUBLE
    return __hiloint2double(__double2hiint(value) ^ (odd << 31), __double2loint(value));
#else
    return __uint_as_float(__float_as_uint(value) ^ (odd << 31));
#endif
}
