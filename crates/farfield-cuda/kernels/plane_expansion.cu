// P2M, M2M, M2L, P2L, L2L in the plane. Outside a box with centre c and scale rho, and inside one,
//   M(z) = a_0 log(z - c) + sum_k a_k (rho/(z - c))^k,    L(z) = sum_l b_l ((z - c)/rho)^l .
// The far field of the harmonic kernel is that of sum gamma/(z - z_j); signs are applied when the sums are read. A box
// has ORDER + 1 complex coefficients, stored box by box for each strength vector (blockIdx.y).
//
// A few neighbouring lanes handle a box; their sums are added in a fixed order.
#include "plane_pair.cuh"

#define ORDER FARFIELD_ORDER
#define COEFFICIENTS (ORDER + 1)
// Loops over coefficients are unrolled, so that arrays of coefficients are registers. At high orders the products of
// M2L, whose matrix entries are constants in the code, become too many for the compiler.
#if ORDER <= 32
#define UNROLL_PRODUCTS _Pragma("unroll")
#else
#define UNROLL_PRODUCTS _Pragma("unroll 1")
#endif

// The sum over groups of `lanes` neighbouring lanes.
template <int lanes> __device__ __forceinline__ complex group_sum(uint mask, complex value) {
#pragma unroll
    for (int step = lanes / 2; step > 0; step /= 2) {
        value.re += __shfl_xor_sync(mask, value.re, step);
        value.im += __shfl_xor_sync(mask, value.im, step);
    }
    return value;
}

#define POINT_LANES 8
#define SHIFT_LANES 8

// P2M: from the sources of each leaf.
extern "C" __global__ void p2m(const Box *__restrict__ boxes, uint first, uint leaves, uint box_count,
                               const uint *__restrict__ starts, const Source *__restrict__ sources, uint source_count,
                               complex *__restrict__ multipoles) {
    uint thread = blockIdx.x * blockDim.x + threadIdx.x, lane = thread % POINT_LANES, leaf = thread / POINT_LANES;
    bool exists = leaf < leaves;
    leaf = min(leaf, leaves - 1);
    Box box = boxes[first + leaf];
    real inverse_scale = real(1) / box.scale;
    sources += (ulong64)blockIdx.y * source_count;
    complex sums[COEFFICIENTS] = {};
    for (uint j = starts[leaf] + lane; j < starts[leaf + 1]; j += POINT_LANES) {
        Source source = sources[j];
        complex unit = {(source.x - box.x) * inverse_scale, (source.y - box.y) * inverse_scale};
        complex power = strength_of(source);
#pragma unroll
        for (int k = FARFIELD_LOG ? 0 : 1; k <= ORDER; ++k) {
            sums[k] = sums[k] + power;
            power = power * unit;
        }
    }
    complex *row = multipoles + ((ulong64)blockIdx.y * box_count + first + leaf) * COEFFICIENTS;
#pragma unroll
    for (int k = 0; k <= ORDER; ++k) {
        complex sum = group_sum<POINT_LANES>(~0u, sums[k]);
        real factor = FARFIELD_LOG ? (k == 0 ? real(1) : real(-1) / real(max(k, 1))) : inverse_scale;
        if (exists && lane == k % POINT_LANES) row[k] = factor * sum;
    }
}

// M2M into the parents of level `from` up to level `to`; more than one level only with one block per strength vector.
extern "C" __global__ void m2m(const Box *__restrict__ boxes, uint from, uint to, uint box_count, complex *multipoles) {
    multipoles += (ulong64)blockIdx.y * box_count * COEFFICIENTS;
    uint mask = 15u << (threadIdx.x % 32 & ~3u), lane = threadIdx.x % 4;
    for (int level = from; level >= (int)to; --level) {
        uint first = first_of_level(level), children = first_of_level(level + 1), count = 4u << 2 * level;
        for (uint at = blockIdx.x * blockDim.x + threadIdx.x; at < count; at += gridDim.x * blockDim.x) {
            Box parent = boxes[first + at / 4], child = boxes[children + at];
            const complex *row = multipoles + (ulong64)(children + at) * COEFFICIENTS;
            real inverse_scale = real(1) / parent.scale, ratio = child.scale * inverse_scale, scale = 1;
            complex a[COEFFICIENTS];
#pragma unroll
            for (int k = 0; k <= ORDER; ++k) {
                a[k] = scale * row[k];
                scale *= ratio;
            }
            complex shift = {(child.x - parent.x) * inverse_scale, (child.y - parent.y) * inverse_scale};
            // (z - c)^-k about the new centre, by repeated Horner steps
#pragma unroll
            for (int k = ORDER; k >= 2; --k) {
                complex below = a[k - 1];
#pragma unroll
                for (int j = k; j <= ORDER; ++j) below = a[j] = times_plus(shift, below, a[j]);
            }
#if FARFIELD_LOG
            complex power = a[0] * shift;
#pragma unroll
            for (int j = 1; j <= ORDER; ++j) {
                a[j] = a[j] + real(-1) / real(j) * power;
                power = power * shift;
            }
#endif
            complex *out = multipoles + (ulong64)(first + at / 4) * COEFFICIENTS;
#pragma unroll
            for (int k = 0; k <= ORDER; ++k) {
                complex sum = group_sum<4>(mask, a[k]);
                if (lane == k % 4) out[k] = sum;
            }
        }
        __syncthreads();
    }
}

// C(k + l - 1, l)
struct Binomials {
    real value[ORDER + 1][ORDER + 1];
    __device__ constexpr Binomials() : value() {
        for (int k = 1; k <= ORDER; ++k) {
            double binomial = 1;
            for (int l = 0; l <= ORDER; ++l) {
                value[k][l] = real(binomial);
                binomial = binomial * (k + l) / (l + 1);
            }
        }
    }
};
__constant__ Binomials binomials = Binomials();

// Rows of the matrix per pass: as many as registers hold.
#define PASSES ((COEFFICIENTS + FARFIELD_ROWS - 1) / FARFIELD_ROWS)
#define ROWS ((COEFFICIENTS + PASSES - 1) / PASSES)

// The rows from `first_row` on of M2L into one box.
//
// With d = target - source and alpha_k = a_k (rho_s/d)^k: b_0 = a_0 log|d| + sum_k alpha_k and
// b_l = (-rho_t/d)^l [sum_k C(k + l - 1, l) alpha_k - a_0/l]. With this scaling, the matrix is real and the same for
// all pairs.
template <int first_row>
__device__ __forceinline__ void m2l_rows(const Box *__restrict__ boxes, const Box &target, Row row,
                                         const uint *__restrict__ list, const complex *__restrict__ multipoles, uint lane,
                                         bool exists, complex *__restrict__ local) {
    constexpr int rows = first_row + ROWS <= COEFFICIENTS ? ROWS : COEFFICIENTS - first_row;
    complex b[rows] = {};
    for (uint e = lane; e < row.count; e += SHIFT_LANES) {
        uint other = list[row.start + e];
        Box source = boxes[other];
        const complex *a = multipoles + (ulong64)other * COEFFICIENTS;
        complex d = {target.x - source.x, target.y - source.y};
        complex over = inverse(d), from = source.scale * over, to = -target.scale * over;
        complex power = from, sums[rows] = {};
        UNROLL_PRODUCTS for (int k = 1; k <= ORDER; ++k) {
            complex alpha = a[k] * power;
            power = power * from;
#pragma unroll
            for (int r = 0; r < rows; ++r) {
                sums[r].re = fma(binomials.value[k][first_row + r], alpha.re, sums[r].re);
                sums[r].im = fma(binomials.value[k][first_row + r], alpha.im, sums[r].im);
            }
        }
#if FARFIELD_LOG
        complex charge = a[0];
#pragma unroll
        for (int r = 0; r < rows; ++r) {
            int l = first_row + r;
            real share = l == 0 ? real(0.5) * log(norm2(d)) : real(-1) / real(l > 0 ? l : 1);
            sums[r] = sums[r] + share * charge;
        }
#endif
        power = {1, 0};
        for (int l = 0; l < first_row; ++l) power = power * to;
#pragma unroll
        for (int r = 0; r < rows; ++r) {
            b[r] = times_plus(sums[r], power, b[r]);
            power = power * to;
        }
    }
#pragma unroll
    for (int r = 0; r < rows; ++r) {
        complex sum = group_sum<SHIFT_LANES>(~0u, b[r]);
        if (exists && lane == r % SHIFT_LANES) local[first_row + r] = sum;
    }
}

template <int pass, typename... Arguments> __device__ __forceinline__ void m2l_passes(Arguments... arguments) {
    if constexpr (pass < PASSES) {
        m2l_rows<pass * ROWS>(arguments...);
        m2l_passes<pass + 1>(arguments...);
    }
}

// M2L into every box of all levels from the boxes weakly coupled to it; boxes without weak couplings get zeros.
extern "C" __global__ void __launch_bounds__(128)
    m2l(const Box *__restrict__ boxes, uint box_count, const Row *__restrict__ weak, const uint *__restrict__ list,
        const complex *__restrict__ multipoles, complex *__restrict__ locals) {
    uint thread = blockIdx.x * blockDim.x + threadIdx.x, lane = thread % SHIFT_LANES, box = thread / SHIFT_LANES;
    bool exists = box < box_count;
    box = min(box, box_count - 1);
    ulong64 stream = (ulong64)blockIdx.y * box_count;
    m2l_passes<0>(boxes, boxes[box], weak[box], list, multipoles + stream * COEFFICIENTS, lane, exists,
                  locals + (stream + box) * COEFFICIENTS);
}

// P2L: sources of larger leaves nearby act on local expansions. One warp per leaf; most have no work.
extern "C" __global__ void p2l(const Box *__restrict__ boxes, uint first, uint leaves, uint box_count, Criterion criterion,
                               const Row *__restrict__ strong, const uint *__restrict__ list,
                               const uint *__restrict__ starts, const uint *__restrict__ target_starts,
                               const Source *__restrict__ sources, uint source_count, complex *__restrict__ locals) {
    uint thread = blockIdx.x * blockDim.x + threadIdx.x, lane = thread % 32, leaf = thread / 32;
    if (leaf >= leaves) return;
    Box box = boxes[first + leaf];
    uint here = target_starts[leaf + 1] - target_starts[leaf];
    real inverse_scale = real(1) / box.scale;
    sources += (ulong64)blockIdx.y * source_count;
    complex sums[COEFFICIENTS] = {};
    Row row = strong[leaf];
    bool any = false;
    for (uint entry = 0; entry < row.count; entry += 32) {
        uint start = 0, end = 0;
        bool by_local = false;
        if (entry + lane < row.count) {
            uint other = list[row.start + entry + lane];
            start = starts[other];
            end = starts[other + 1];
            by_local = meeting(criterion, box, boxes[first + other], here, end - start) == BY_LOCAL;
        }
        for (uint left = __ballot_sync(~0u, by_local); left; left &= left - 1) {
            any = true;
            uint from = __shfl_sync(~0u, start, __ffs(left) - 1), to = __shfl_sync(~0u, end, __ffs(left) - 1);
            for (uint j = from + lane; j < to; j += 32) {
                Source source = sources[j];
                complex offset = {source.x - box.x, source.y - box.y};
                complex base = inverse(inverse_scale * offset), strength = strength_of(source), power = strength * base;
                if (FARFIELD_LOG) sums[0].re = fma(strength.re, real(0.5) * log(norm2(offset)), sums[0].re);
#pragma unroll
                for (int k = FARFIELD_LOG ? 1 : 0; k <= ORDER; ++k) {
                    sums[k] = sums[k] + power;
                    power = power * base;
                }
            }
        }
    }
    if (!any) return;
    complex *out = locals + ((ulong64)blockIdx.y * box_count + first + leaf) * COEFFICIENTS;
#pragma unroll
    for (int k = 0; k <= ORDER; ++k) {
        complex sum = group_sum<32>(~0u, sums[k]);
        real factor = FARFIELD_LOG ? (k == 0 ? real(1) : real(-1) / real(max(k, 1))) : -inverse_scale;
        if (lane == k % 32) out[k] = out[k] + factor * sum;
    }
}

// L2L from the parents of level `from` down to the boxes of level `to`, one thread per child; more than one level only
// with one block per strength vector.
extern "C" __global__ void l2l(const Box *__restrict__ boxes, uint from, uint to, uint box_count, complex *locals) {
    locals += (ulong64)blockIdx.y * box_count * COEFFICIENTS;
    for (uint level = from; level <= to; ++level) {
        uint first = first_of_level(level), parents = first_of_level(level - 1), count = 1u << 2 * level;
        for (uint at = blockIdx.x * blockDim.x + threadIdx.x; at < count; at += gridDim.x * blockDim.x) {
            Box child = boxes[first + at], parent = boxes[parents + at / 4];
            const complex *row = locals + (ulong64)(parents + at / 4) * COEFFICIENTS;
            complex b[COEFFICIENTS];
#pragma unroll
            for (int k = 0; k <= ORDER; ++k) b[k] = row[k];
            real inverse_scale = real(1) / parent.scale;
            complex shift = {(child.x - parent.x) * inverse_scale, (child.y - parent.y) * inverse_scale};
#pragma unroll
            for (int k = 0; k < ORDER; ++k) {
                complex above = b[ORDER];
#pragma unroll
                for (int j = ORDER - 1; j >= k; --j) above = b[j] = times_plus(shift, above, b[j]);
            }
            complex *out = locals + (ulong64)(first + at) * COEFFICIENTS;
            real ratio = child.scale * inverse_scale, scale = 1;
#pragma unroll
            for (int k = 0; k <= ORDER; ++k) {
                out[k] = out[k] + scale * b[k];
                scale *= ratio;
            }
        }
        __syncthreads();
    }
}
