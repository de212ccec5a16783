// Operators between points and expansions: P2M and L2P, one box at a time. The kernel's far field is a set of
// derivatives of the expansion of its (scalar or vector) potential, all evaluated with one set of basis functions.
#define FARFIELD_MULTIPOLE 0
#include "basis.cuh"
#include "permute.cuh"
#include "tree.cuh"

// ---- points in tree order --------------------------------------------------------------------------------------------

// Packs sources for the inner loops, in tree order; one strength vector per blockIdx.y.
extern "C" __global__ void gather_sources(const real *__restrict__ positions, const real *__restrict__ strengths,
                                          const real *__restrict__ sizes, const uint *__restrict__ permutation, uint count,
                                          Source *__restrict__ sources) {
    uint k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= count) return;
    ulong64 vector = blockIdx.y;
    sources[vector * count + k] = load_source(positions, strengths, sizes, count, vector, permutation[k]);
}

// The strengths of each source in groups of `at_once` vectors (blockIdx.y), padded with zeros. Scalar strengths only.
extern "C" __global__ void gather_charges(const real *__restrict__ strengths, const uint *__restrict__ permutation, uint count, uint vectors,
                                          uint at_once, real *__restrict__ charges) {
    uint k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= count) return;
    ulong64 first = (ulong64)blockIdx.y * at_once;
    real *to = charges + ((ulong64)blockIdx.y * count + k) * at_once;
    for (uint v = 0; v < at_once; ++v) to[v] = first + v < vectors ? strengths[(first + v) * count + permutation[k]] : real(0);
}

// ---- P2M -------------------------------------------------------------------------------------------------------------

#define P2M_WARPS FARFIELD_P2M_WARPS

// The sums of four values over the warp, in lanes 0, 8, 16 and 24. Lanes exchange the values they do not keep, so that
// four sums take six exchanges instead of twenty.
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

// P2M of one leaf per warp, for strength vector blockIdx.y; each lane holds a source. Coefficients beyond COEFFICIENTS
// are set to zero, as are all coefficients of a box without sources. Eight blocks per multiprocessor leave enough
// registers to interleave degrees.
extern "C" __global__ void __launch_bounds__(32 * P2M_WARPS, 8)
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
#pragma unroll
                for (int e = 0; e < STRENGTHS; ++e) {
                    real strength = strength_of(source, e);
                    real sum = warp_sums(strength * qc, strength * qs, strength * q * c, strength * q * s);
                    if (keeps) sums[warp][e][place] += sum;
                }
            }
        }
    }
    __syncwarp();
    real *out = multipoles + ((ulong64)box * streams + blockIdx.y * EXPANSIONS) * STRIDE;
#if FARFIELD_DIPOLES
    // A dipole is minus the derivative of a charge; lengths are in units of the box side.
    for (uint k = lane; k < STRIDE; k += 32) {
        real sum = sums[warp][0][k];
        if (k < COEFFICIENTS)
            for (int axis = 0; axis < 3; ++axis)
                sum = fma(-(real)inverse_side, derivative<true>(sums[warp][1 + axis], 1, ORDER, k, axis), sum);
        out[k] = sum;
    }
#else
    for (uint k = lane; k < STRENGTHS * STRIDE; k += 32) out[k] = (&sums[warp][0][0])[k];
#endif
}

// ---- L2P -------------------------------------------------------------------------------------------------------------

#define L2P_THREADS 64
#define L2P_VECTORS FARFIELD_L2P_VECTORS

// far[((vector * SUMS) + s) * target_count + i]: the sums from a leaf's local expansion at its targets, in tree order.
// A block handles L2P_VECTORS strength vectors, which share the basis.
extern "C" __global__ void __launch_bounds__(L2P_THREADS)
    l2p(const Tree *__restrict__ tree, Boxes boxes, const real *__restrict__ targets, uint target_count, uint streams,
        const real *__restrict__ locals, real *__restrict__ far) {
    extern __shared__ int4 shared_memory[];
    Recurrence &table = *reinterpret_cast<Recurrence *>(shared_memory);
    real *derived = reinterpret_cast<real *>(&table + 1);
    uint box = blockIdx.x;
    Range range = boxes.targets[box];
    if (!boxes.is_leaf[box] || range.start == range.end) return;
    uint first = blockIdx.y * L2P_VECTORS, vectors = min(streams / EXPANSIONS - first, (uint)L2P_VECTORS);
    far += (ulong64)first * SUMS * target_count;
    uint level = level_of(tree, box);
    // Boxes of the first two levels have no far field.
    if (level < 2) {
        for (uint i = range.start + threadIdx.x; i < range.end; i += blockDim.x)
            for (int s = 0; s < SUMS * vectors; ++s) far[(ulong64)s * target_count + i] = 0;
        return;
    }
    fill_recurrence(table);
    // Vectors beyond the last repeat the last one.
    for (uint v = 0; v < L2P_VECTORS; ++v) {
        uint vector = first + min(v, vectors - 1);
        derive(locals + ((ulong64)box * streams + vector * EXPANSIONS) * STRIDE, derived + v * SUMS * BASIS_COEFFICIENTS);
    }
    double centre[3], inverse_side;
    frame_of(tree, boxes.key[box], level, centre, inverse_side);
    for (uint i = range.start + threadIdx.x; i < range.end; i += blockDim.x) {
        real x = (targets[3 * (ulong64)i] - centre[0]) * inverse_side;
        real y = (targets[3 * (ulong64)i + 1] - centre[1]) * inverse_side;
        real z = (targets[3 * (ulong64)i + 2] - centre[2]) * inverse_side;
        real values[L2P_VECTORS][SUMS] = {};
        add_regular(table, derived, x, y, z, values);
        real scales[3] = {(real)inverse_side, (real)(inverse_side * inverse_side), (real)(inverse_side * inverse_side * inverse_side)};
#pragma unroll
        for (int v = 0; v < L2P_VECTORS; ++v)
            if (v < vectors)
#pragma unroll
                for (int e = 0; e < SUMS; ++e)
                    far[(ulong64)(v * SUMS + e) * target_count + i] = values[v][e] * scales[derivatives_of(e)];
    }
}
