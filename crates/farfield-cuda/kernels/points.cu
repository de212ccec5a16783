// Between points and expansions: P2M and L2P. One box at a time; the kernel's far field is a set of derivatives of the
// expansion of its (scalar or vector) potential, all evaluated with one set of basis functions.
#include "expansion.cuh"
#include "pair.cuh"
#include "tree.cuh"

// The recurrences of the basis: R_n^m = Q_n^m(z, r) {C_m, S_m}(x, y) with
//   C_m + i S_m = diagonal_m (x + i y) (C_{m-1} + i S_{m-1}),   Q_n = alpha z Q_{n-1} - beta r^2 Q_{n-2},
//   alpha = (2n-1)/sqrt(n^2 - m^2), beta = sqrt(((n-1)^2 - m^2)/(n^2 - m^2)), diagonal = sqrt((2m-1)/2m), one for m = 1.
struct Recurrence {
    real alpha[COEFFICIENTS], beta[COEFFICIENTS], diagonal[ORDER + 1];
};

__device__ void fill_recurrence(Recurrence &table) {
    for (int k = threadIdx.x; k < COEFFICIENTS; k += blockDim.x) {
        int n, m;
        bool is_sine;
        decode(k, n, m, is_sine);
        double square = (double)n * n - (double)m * m;
        table.alpha[k] = m < n ? (2.0 * n - 1) * rsqrt(square) : 0;
        table.beta[k] = m < n ? sqrt(max((n - 1.0) * (n - 1.0) - (double)m * m, 0.0) / square) : 0;
        if (m == n && !is_sine) table.diagonal[n] = n > 1 ? sqrt((2.0 * n - 1) / (2.0 * n)) : 1;
    }
}

// ---- points in tree order --------------------------------------------------------------------------------------------

// Packs sources as the inner loops read them, in tree order; one strength vector per blockIdx.y.
extern "C" __global__ void gather_sources(const real *__restrict__ positions, const real *__restrict__ strengths,
                                          const real *__restrict__ sizes, const uint *__restrict__ order, uint count,
                                          Source *__restrict__ sources) {
    uint k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= count) return;
    ulong64 vector = blockIdx.y;
    sources[vector * count + k] = load_source(positions, strengths, sizes, count, vector, order[k]);
}

// Positions of targets in tree order.
extern "C" __global__ void gather_targets(const real *__restrict__ positions, const uint *__restrict__ order, uint count,
                                          real *__restrict__ targets) {
    uint k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= count) return;
    ulong64 j = order[k];
    for (int axis = 0; axis < 3; ++axis) targets[3 * (ulong64)k + axis] = positions[3 * j + axis];
}

// ---- P2M -------------------------------------------------------------------------------------------------------------

#define P2M_WARPS FARFIELD_P2M_WARPS

// The sums of four values over the warp, in lanes 0, 8, 16 and 24: lanes swap what they do not keep, so that four sums
// take six exchanges instead of twenty.
__device__ __forceinline__ real warp_sums(real a, real b, real c, real d) {
    uint lane = threadIdx.x % 32;
    bool upper = lane & 16, odd = lane & 8;
    real first = (upper ? c : a) + __shfl_xor_sync(~0u, upper ? a : c, 16);
    real second = (upper ? d : b) + __shfl_xor_sync(~0u, upper ? b : d, 16);
    real sum = (odd ? second : first) + __shfl_xor_sync(~0u, odd ? first : second, 8);
#pragma unroll
    for (int step = 4; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    return sum;
}

// Each warp makes the multipole of one leaf, for strength vector blockIdx.y; a lane holds a source. Coefficients beyond
// COEFFICIENTS are set to zero, as are all of a box without sources.
extern "C" __global__ void __launch_bounds__(32 * P2M_WARPS)
    p2m(const Tree *__restrict__ tree, Boxes boxes, uint box_count, const Source *__restrict__ sources, uint source_count,
        uint streams, real *__restrict__ multipoles) {
    extern __shared__ int4 shared_memory[];
    Recurrence &table = *reinterpret_cast<Recurrence *>(shared_memory);
    typedef real Expansions[STRENGTHS][STRIDE];
    Expansions *sums = reinterpret_cast<Expansions *>(&table + 1);
    fill_recurrence(table);
    uint lane = threadIdx.x % 32, warp = threadIdx.x / 32, box = blockIdx.x * P2M_WARPS + warp;
    for (uint k = lane; k < STRENGTHS * STRIDE; k += 32) (&sums[warp][0][0])[k] = 0;
    __syncthreads();
    if (box >= box_count || !boxes.is_leaf[box]) return;
    double centre[3], inverse_side;
    frame_of(tree, boxes.key[box], level_of(tree, box), centre, inverse_side);
    Range range = boxes.sources[box];
    sources += (ulong64)blockIdx.y * source_count;
    for (uint first = range.start; first < range.end; first += 32) {
        bool there = first + lane < range.end;
        Source source = there ? sources[first + lane] : no_source();
        real x = there ? (real)((source.x - centre[0]) * inverse_side) : 0;
        real y = there ? (real)((source.y - centre[1]) * inverse_side) : 0;
        real z = there ? (real)((source.z - centre[2]) * inverse_side) : 0;
        real r2 = fma(x, x, fma(y, y, z * z)), c = 1, s = 0;
        for (int m = 0; m <= ORDER; ++m) {
            if (m > 0) {
                real dx = table.diagonal[m] * x, dy = table.diagonal[m] * y, old = c;
                c = fma(-dy, s, dx * c);
                s = fma(dy, old, dx * s);
            }
            real q = 1, before = 0;
            // Two degrees at a time: their cosines and sines.
            for (int n = m; n <= ORDER; n += 2) {
                if (n > m) {
                    real next = fma(-table.beta[cosine(n, m)] * r2, before, table.alpha[cosine(n, m)] * z * q);
                    before = q;
                    q = next;
                }
                real qc = q * c, qs = q * s;
                bool two = n < ORDER;
                if (two) {
                    real next = fma(-table.beta[cosine(n + 1, m)] * r2, before, table.alpha[cosine(n + 1, m)] * z * q);
                    before = q;
                    q = next;
                }
                // Lanes 0, 8, 16 and 24 keep one coefficient each.
                uint degree = n + lane / 16, is_sine = lane / 8 % 2;
                bool keeps = lane % 8 == 0 && (two || lane < 16) && !(is_sine && m == 0);
                int place = is_sine ? sine(degree, m) : cosine(degree, m);
#if FARFIELD_VECTOR
                real strength[3] = {source.s0, source.s1, source.s2};
#else
                real strength[1] = {source.s0};
#endif
#pragma unroll
                for (int e = 0; e < STRENGTHS; ++e) {
                    real sum = warp_sums(strength[e] * qc, strength[e] * qs, strength[e] * q * c, strength[e] * q * s);
                    if (keeps) sums[warp][e][place] += sum;
                }
            }
        }
    }
    __syncwarp();
    real *out = multipoles + ((ulong64)box * streams + blockIdx.y * STRENGTHS) * STRIDE;
    for (uint k = lane; k < STRENGTHS * STRIDE; k += 32) out[k] = (&sums[warp][0][0])[k];
}

// ---- L2P -------------------------------------------------------------------------------------------------------------

// The coefficient `k` of the derivative along `axis` of a local expansion, whose coefficients are `values`: at most two
// of those of the next degree.
__device__ real derivative(const real *values, int stride, int k, int axis) {
    int n, m;
    bool is_sine;
    decode(k, n, m, is_sine);
    int from = n + 1;
    if (from > ORDER) return 0;
    auto cosines = [&](int order) { return values[cosine(from, order) * stride]; };
    auto sines = [&](int order) { return order == 0 ? real(0) : values[sine(from, order) * stride]; };
    if (axis == 2) {
        real weight = sqrt((double)(from - m) * (from + m));
        return weight * (is_sine ? sines(m) : cosines(m));
    }
    // From order m + 1 down and from m - 1 up; order 0 has no sine partner.
    real down = 0.5 * sqrt((double)(from + m + 1) * (from + m)) * (m == 0 ? 1.41421356237309504880 : 1.0);
    real up = m == 0 ? 0.0 : (m == 1 ? 0.70710678118654752440 : 0.5) * sqrt((double)(from - m + 1) * (from - m));
    int below = m == 0 ? 0 : m - 1;
    if (axis == 0) return is_sine ? down * sines(m + 1) - up * sines(below) : down * cosines(m + 1) - up * cosines(below);
    return is_sine ? -down * cosines(m + 1) - up * cosines(below) : down * sines(m + 1) + up * sines(below);
}

#define L2P_THREADS 64

// derived[k * SUMS + s]: coefficient k of the expansion of sum s. Dynamic shared memory holds them all.
__device__ void derive(const real *__restrict__ local, real *derived) {
#if FARFIELD_VECTOR
    // Velocity = curl of the vector potential: u_i = d_j A_k - d_k A_j with (i, j, k) cyclic
    for (int k = threadIdx.x; k < COEFFICIENTS; k += blockDim.x)
        for (int i = 0; i < 3; ++i) {
            int j = (i + 1) % 3, l = (i + 2) % 3;
            derived[k * SUMS + i] = derivative(local + l * STRIDE, 1, k, j) - derivative(local + j * STRIDE, 1, k, l);
        }
#if FARFIELD_DERIVATIVES == 2
    __syncthreads();
    for (int k = threadIdx.x; k < COEFFICIENTS; k += blockDim.x)
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) derived[k * SUMS + 3 + 3 * i + j] = derivative(derived + i, SUMS, k, j);
#endif
#else
    for (int k = threadIdx.x; k < COEFFICIENTS; k += blockDim.x) {
        derived[k * SUMS] = local[k];
#if FARFIELD_DERIVATIVES >= 1
        for (int axis = 0; axis < 3; ++axis) derived[k * SUMS + 1 + axis] = derivative(local, 1, k, axis);
#endif
    }
#if FARFIELD_DERIVATIVES == 2
    __syncthreads();
    for (int k = threadIdx.x; k < COEFFICIENTS; k += blockDim.x) {
        int place = 4;
        for (int i = 0; i < 3; ++i)
            for (int j = i; j < 3; ++j) derived[k * SUMS + place++] = derivative(derived + 1 + i, SUMS, k, j);
    }
#endif
#endif
    __syncthreads();
}

// How many derivatives sum `s` takes; each brings a factor one over the box's side.
__device__ __forceinline__ constexpr int derivatives_of(int s) {
#if FARFIELD_VECTOR
    return s < 3 ? 1 : 2;
#else
    return s == 0 ? 0 : s < 4 ? 1 : 2;
#endif
}

// far[((vector * SUMS) + s) * target_count + i]: what the leaf's local expansion gives at its targets, in tree order.
extern "C" __global__ void __launch_bounds__(L2P_THREADS)
    l2p(const Tree *__restrict__ tree, Boxes boxes, const real *__restrict__ targets, uint target_count, uint streams,
        const real *__restrict__ locals, real *__restrict__ far) {
    extern __shared__ int4 shared_memory[];
    Recurrence &table = *reinterpret_cast<Recurrence *>(shared_memory);
    real *derived = reinterpret_cast<real *>(&table + 1);
    uint box = blockIdx.x;
    Range range = boxes.targets[box];
    if (!boxes.is_leaf[box] || range.start == range.end) return;
    far += (ulong64)blockIdx.y * SUMS * target_count;
    uint level = level_of(tree, box);
    // Boxes of the first two levels have no far field.
    if (level < 2) {
        for (uint i = range.start + threadIdx.x; i < range.end; i += blockDim.x)
            for (int s = 0; s < SUMS; ++s) far[(ulong64)s * target_count + i] = 0;
        return;
    }
    fill_recurrence(table);
    derive(locals + ((ulong64)box * streams + blockIdx.y * STRENGTHS) * STRIDE, derived);
    double centre[3], inverse_side;
    frame_of(tree, boxes.key[box], level, centre, inverse_side);
    for (uint i = range.start + threadIdx.x; i < range.end; i += blockDim.x) {
        real x = (targets[3 * (ulong64)i] - centre[0]) * inverse_side;
        real y = (targets[3 * (ulong64)i + 1] - centre[1]) * inverse_side;
        real z = (targets[3 * (ulong64)i + 2] - centre[2]) * inverse_side;
        real r2 = fma(x, x, fma(y, y, z * z)), c = 1, s = 0;
        real values[SUMS];
#pragma unroll
        for (int e = 0; e < SUMS; ++e) values[e] = 0;
        for (int m = 0; m <= ORDER; ++m) {
            if (m > 0) {
                real dx = table.diagonal[m] * x, dy = table.diagonal[m] * y, old = c;
                c = fma(-dy, s, dx * c);
                s = fma(dy, old, dx * s);
            }
            real q = 1, before = 0;
            for (int n = m; n <= ORDER; ++n) {
                if (n > m) {
                    real next = fma(-table.beta[cosine(n, m)] * r2, before, table.alpha[cosine(n, m)] * z * q);
                    before = q;
                    q = next;
                }
                real qc = q * c, qs = q * s;
#pragma unroll
                for (int e = 0; e < SUMS; ++e) values[e] = fma(derived[cosine(n, m) * SUMS + e], qc, values[e]);
                if (m > 0)
#pragma unroll
                    for (int e = 0; e < SUMS; ++e) values[e] = fma(derived[sine(n, m) * SUMS + e], qs, values[e]);
            }
        }
        real scales[3] = {(real)inverse_side, (real)(inverse_side * inverse_side), (real)(inverse_side * inverse_side * inverse_side)};
#pragma unroll
        for (int e = 0; e < SUMS; ++e) far[(ulong64)e * target_count + i] = values[e] * scales[derivatives_of(e)];
    }
}
