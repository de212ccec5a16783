// The translation matrices: their entries in double precision, and the kernel that fills the table.
#pragma once
#include "expansion.cuh"

// The logarithm of kappa_nm = sqrt(eps_m (n-m)! (n+m)!), eps_0 = 1, else 2. R = kappa R^ and I = eps/kappa I^ for the
// complex harmonics R^, I^ whose addition theorems have no factors.
__device__ __forceinline__ double ln_kappa(const double *ln_factorial, int n, int m) {
    return 0.5 * ((m == 0 ? 0.0 : 0.69314718055994530942) + ln_factorial[n - m] + ln_factorial[n + m]);
}

// Real and imaginary part of the complex harmonic of degree n and order m (which may be negative) from the real ones,
// times exp(ln_scale). `sign` is the sign of ln_kappa in the normalisation: 1 for I^, -1 for R^.
__device__ void complex_harmonic(const double *values, const double *ln_factorial, int n, int m, int sign, double ln_scale,
                                 double &re, double &im) {
    int a = abs(m);
    re = im = 0;
    if (n < a) return;
    double factor = exp(sign * ln_kappa(ln_factorial, n, a) + ln_scale) / (sign > 0 && a > 0 ? 2 : 1);
    re = values[cosine(n, a)] * factor;
    im = a > 0 ? values[sine(n, a)] * factor : 0;
    if (m < 0) {
        double alternate = a % 2 == 0 ? 1 : -1;
        re *= alternate;
        im *= -alternate;
    }
}

// The coefficient of R_row(x) in I_column(X + x); `irregular` holds all I(X) up to twice the order.
__device__ double m2l_entry(const double *irregular, const double *ln_factorial, int row, int column) {
    int n, m, k, l;
    bool row_sine, column_sine;
    decode(row, n, m, row_sine);
    decode(column, k, l, column_sine);
    double ln_scale = -ln_kappa(ln_factorial, k, l) - ln_kappa(ln_factorial, n, m);
    double factor = (n % 2 == 0 ? 1 : -1) * (l == 0 ? 1 : 2);
    double up, vp, um, vm, alternate = m % 2 == 0 ? 1 : -1;
    complex_harmonic(irregular, ln_factorial, n + k, l + m, 1, ln_scale, up, vp);
    if (m == 0) return factor * (column_sine ? vp : up);
    complex_harmonic(irregular, ln_factorial, n + k, l - m, 1, ln_scale, um, vm);
    if (!row_sine) return factor * (column_sine ? vp + alternate * vm : up + alternate * um);
    return factor * (column_sine ? alternate * um - up : vp - alternate * vm);
}

// The coefficient of R_column(y) in R_row(y + b); `regular` holds all R(b).
__device__ double shift_entry(const double *regular, const double *ln_factorial, int row, int column) {
    int n, m, k, l;
    bool row_sine, column_sine;
    decode(row, n, m, row_sine);
    decode(column, k, l, column_sine);
    if (k > n) return 0;
    double ln_scale = ln_kappa(ln_factorial, n, m) - ln_kappa(ln_factorial, k, l);
    double pm, qm, pp, qp, alternate = l % 2 == 0 ? 1 : -1;
    complex_harmonic(regular, ln_factorial, n - k, m - l, -1, ln_scale, pm, qm);
    if (l == 0) return row_sine ? qm : pm;
    complex_harmonic(regular, ln_factorial, n - k, m + l, -1, ln_scale, pp, qp);
    if (!row_sine) return column_sine ? alternate * qp - qm : pm + alternate * pp;
    return column_sine ? pm - alternate * pp : qm + alternate * qp;
}

// Entry (row, k) of matrix `matrix`: the first `octants` matrices are M2M from octants, the next `octants` are L2L
// into octants, the others M2L. `values` are the harmonics of the shift: R of the octant's centre (in units of the
// parent's side) for M2M and L2L, I of the shift (in units of the side) for M2L.
__device__ double matrix_entry(const double *values, const double *ln_factorial, uint octants, uint matrix, int row, int k) {
    if (row >= COEFFICIENTS || k >= COEFFICIENTS) return 0;
    if (matrix >= 2 * octants) return m2l_entry(values, ln_factorial, row, k);
    // Children are half as large: degree j of their multipoles shrinks by 2^-j, and L2L is half the transpose.
    int n, m;
    bool is_sine, up = matrix < octants;
    decode(up ? k : row, n, m, is_sine);
    double entry = up ? shift_entry(values, ln_factorial, row, k) : shift_entry(values, ln_factorial, k, row);
    return ldexp(entry, up ? -n : -n - 1);
}

// The index of entry (row, k) of a matrix in the table; each program defines its own layout.
__device__ ulong64 entry_at(uint matrix, uint row, uint k);

// Fills all matrices, one thread per entry. `harmonics` holds (2 ORDER + 1)^2 values for each matrix.
extern "C" __global__ void build_matrices(const double *__restrict__ harmonics, const double *__restrict__ ln_factorial,
                                          uint octants, uint matrices, real *__restrict__ table) {
    ulong64 thread = (ulong64)blockIdx.x * blockDim.x + threadIdx.x;
    uint k = thread % STRIDE, row = thread / STRIDE % STRIDE, matrix = thread / STRIDE / STRIDE;
    if (matrix >= matrices) return;
    const double *values = harmonics + (ulong64)matrix * (2 * ORDER + 1) * (2 * ORDER + 1);
    table[entry_at(matrix, row, k)] = (real)matrix_entry(values, ln_factorial, octants, matrix, row, k);
}
