// The sums at the targets of a leaf: L2P, M2P and P2P in one kernel.
//
// One warp per leaf. Its lanes are divided into columns, each with FARFIELD_TARGETS targets, and slices, among which
// the sources are distributed in turn; the sums of the slices are added in order.
#include "plane_pair.cuh"

#define ORDER FARFIELD_ORDER
#define COEFFICIENTS (ORDER + 1)
#define TARGETS FARFIELD_TARGETS
#define WARPS 4
#define TILE 64
// The number of blocks that must fit on a multiprocessor: as many as possible without spilling the sums.
#define SUM_REGISTERS (TARGETS * SUMS * (1 + FARFIELD_DOUBLE))
#define BLOCKS (SUM_REGISTERS <= 8 ? 8 : SUM_REGISTERS <= 32 ? 5 : 4)

// The value of an expansion and the derivatives that the outputs need.
struct Values {
    complex value, first, second;
};

// The value of sum c_k w^k and its derivatives by w.
__device__ __forceinline__ Values polynomial(const complex *__restrict__ row, complex w) {
    complex value = row[ORDER], first = {0, 0}, half_second = {0, 0};
#pragma unroll 8
    for (int k = ORDER - 1; k >= 0; --k) {
#if FARFIELD_DERIVATIVES > 1
        half_second = times_plus(half_second, w, first);
#endif
#if FARFIELD_DERIVATIVES > 0
        first = times_plus(first, w, value);
#endif
        value = times_plus(value, w, row[k]);
    }
    return {value, first, half_second + half_second};
}

// Adds the value and derivatives of an expansion to the sums: with w = 1/(z - z_j), the derivatives of log are w and
// -w^2, those of w are -w^2 and 2 w^3.
__device__ __forceinline__ void add_expansion(const Values &of, real (&sums)[SUMS]) {
#if FARFIELD_LOG
    sums[0] += of.value.re;
    const complex powers[] = {of.first, real(-1) * of.second};
#else
    const complex powers[] = {of.value, real(-1) * of.first, real(0.5) * of.second};
#endif
#pragma unroll
    for (int k = 0; k < POWERS; ++k) {
        sums[FIRST_POWER + 2 * k] += powers[k].re;
        sums[FIRST_POWER + 2 * k + 1] += powers[k].im;
    }
}

__device__ __forceinline__ void add_local(const complex *__restrict__ row, const Box &box, complex z, real (&sums)[SUMS]) {
    real inverse_scale = real(1) / box.scale;
    Values of = polynomial(row, {(z.re - box.x) * inverse_scale, (z.im - box.y) * inverse_scale});
    of.first = inverse_scale * of.first;
    of.second = inverse_scale * (inverse_scale * of.second);
    add_expansion(of, sums);
}

__device__ __forceinline__ void add_multipole(const complex *__restrict__ row, const Box &box, complex z, real (&sums)[SUMS]) {
    complex offset = {z.re - box.x, z.im - box.y};
    real inverse_scale = real(1) / box.scale;
    // sum a_k u^k with u = rho/(z - c); du/dz = -u^2/rho, so that d^2/dz^2 is (u^4 d^2/du^2 + 2 u^3 d/du)/rho^2
    complex u = inverse(inverse_scale * offset), square = u * u;
    Values of = polynomial(row, u);
    of.second = inverse_scale * (inverse_scale * (times_plus(of.second, u, real(2) * of.first) * (square * u)));
    of.first = -inverse_scale * (of.first * square);
#if FARFIELD_LOG
    // a_0 is the coefficient of the logarithm.
    complex charge = row[0];
    of.value = of.value + (real(0.5) * log(norm2(offset)) - real(1)) * charge;
    of.first = of.first + inverse_scale * (charge * u);
    of.second = of.second + -inverse_scale * (inverse_scale * (charge * square));
#endif
    add_expansion(of, sums);
}

// sums[(stream * SUMS + k) * target_count + i], in the pyramid's order.
extern "C" __global__ void __launch_bounds__(32 * WARPS, BLOCKS)
    leaf(const Box *__restrict__ boxes, uint first, uint leaves, uint box_count, Criterion criterion,
         const Row *__restrict__ strong, const uint *__restrict__ list, const uint *__restrict__ source_start,
         const Source *__restrict__ sources, uint source_count, const uint *__restrict__ target_start,
         const complex *__restrict__ targets, uint target_count, real global_size2, const complex *__restrict__ multipoles,
         const complex *__restrict__ locals, real *__restrict__ out) {
    __shared__ Source tiles[WARPS][TILE];
#if FARFIELD_SKIP_SAME
    __shared__ uint tile_places[WARPS][TILE];
#endif
    // Ranges of sources: the start of each, and the number of sources before it.
    __shared__ uint range_start[WARPS][32], range_before[WARPS][32];
    uint lane = threadIdx.x % 32, warp = threadIdx.x / 32, leaf = blockIdx.x * WARPS + warp;
    if (leaf >= leaves) return;
    Source *tile = tiles[warp];
    ulong64 stream = blockIdx.y;
    sources += stream * source_count;
    multipoles += stream * box_count * COEFFICIENTS;
    locals += stream * box_count * COEFFICIENTS;
    out += stream * SUMS * target_count;
    Box box = boxes[first + leaf];
    Row row = strong[leaf];
    uint here_start = target_start[leaf], here = target_start[leaf + 1] - here_start;
    for (uint round = 0; round < here; round += 32 * TARGETS) {
        uint count = min(here - round, (uint)(32 * TARGETS)), first_target = here_start + round;
        uint columns = (count + TARGETS - 1) / TARGETS, slices = 32 / columns;
        uint column = lane % columns, slice = lane / columns;
        bool works = slice < slices;
        complex z[TARGETS];
        real sums[TARGETS][SUMS];
#pragma unroll
        for (int t = 0; t < TARGETS; ++t) {
            // Columns without a target repeat the last target and discard the result.
            z[t] = targets[first_target + min(column + t * columns, count - 1)];
#pragma unroll
            for (int k = 0; k < SUMS; ++k) sums[t][k] = 0;
            if (slice == 0) add_local(locals + (ulong64)(first + leaf) * COEFFICIENTS, box, z[t], sums[t]);
        }
        for (uint entry = 0; entry < row.count; entry += 32) {
            uint other = 0, start = 0, length = 0;
            bool by_multipole = false;
            if (entry + lane < row.count) {
                other = list[row.start + entry + lane];
                start = source_start[other];
                length = source_start[other + 1] - start;
                int how = meeting(criterion, box, boxes[first + other], here, length);
                by_multipole = how == BY_MULTIPOLE;
                if (how != IN_PAIRS) length = 0;
            }
            for (uint left = __ballot_sync(~0u, by_multipole); left; left &= left - 1) {
                uint which = first + __shfl_sync(~0u, other, __ffs(left) - 1);
                if (slice == 0)
#pragma unroll
                    for (int t = 0; t < TARGETS; ++t)
                        add_multipole(multipoles + (ulong64)which * COEFFICIENTS, boxes[which], z[t], sums[t]);
            }
            uint before = length;
            for (uint step = 1; step < 32; step *= 2) {
                uint value = __shfl_up_sync(~0u, before, step);
                if (lane >= step) before += value;
            }
            uint total = __shfl_sync(~0u, before, 31);
            __syncwarp();
            range_start[warp][lane] = start;
            range_before[warp][lane] = before - length;
            __syncwarp();
            for (uint tile_start = 0; tile_start < total; tile_start += TILE) {
                uint tile_length = min(total - tile_start, (uint)TILE);
                for (uint j = lane; j < tile_length; j += 32) {
                    // The last range that starts at or before the source; an empty range has the same start as the
                    // next.
                    uint range = 0;
#pragma unroll
                    for (uint step = 16; step > 0; step /= 2)
                        if (range_before[warp][range + step] <= tile_start + j) range += step;
                    uint place = range_start[warp][range] + tile_start + j - range_before[warp][range];
                    tile[j] = sources[place];
#if FARFIELD_SKIP_SAME
                    tile_places[warp][j] = place;
#endif
                }
                __syncwarp();
                if (works)
#pragma unroll 2
                    for (uint j = slice; j < tile_length; j += slices) {
                        Source source = tile[j];
#if FARFIELD_SKIP_SAME
                        uint place = tile_places[warp][j];
#endif
#pragma unroll
                        for (int t = 0; t < TARGETS; ++t) {
#if FARFIELD_SKIP_SAME
                            bool is_other = place != first_target + column + t * columns;
#else
                            const bool is_other = true;
#endif
                            add_pair(z[t].re - source.x, z[t].im - source.y, source, global_size2, is_other, sums[t]);
                        }
                    }
                __syncwarp();
            }
        }
#pragma unroll
        for (int t = 0; t < TARGETS; ++t)
#pragma unroll
            for (int k = 0; k < SUMS; ++k) {
                real sum = sums[t][k];
                for (uint s = 1; s < slices; ++s) sum += __shfl_sync(~0u, sums[t][k], column + s * columns);
                uint i = column + t * columns;
                if (slice == 0 && i < count) out[(ulong64)k * target_count + first_target + i] = sum;
            }
    }
}
