// M2P: the multipoles of boxes that are far enough away, evaluated at the targets of each leaf.
//
// Constants: those of pair.cuh, FARFIELD_ORDER, FARFIELD_THREADS, and FARFIELD_ON_NEIGHBOURS: 1 if the boxes are those
// of the FMM's neighbour lists, 0 if an opening angle chooses them.
#define FARFIELD_MULTIPOLE 1
#include "basis.cuh"
#include "neighbours.cuh"

#define THREADS FARFIELD_THREADS

// The bounding ball of the sources of each box. One warp per box.
extern "C" __global__ void balls(const Tree *__restrict__ tree, Boxes boxes, uint box_count, const Source *__restrict__ sources,
                                 Ball *__restrict__ balls) {
    uint box = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (box >= box_count) return;
    Ball ball;
    frame_of(tree, boxes.key[box], level_of(tree, box), ball.centre, ball.inverse_side);
    Range range = boxes.sources[box];
    double square = 0;
    for (uint j = range.start + lane; j < range.end; j += 32) {
        double x = sources[j].x - ball.centre[0], y = sources[j].y - ball.centre[1], z = sources[j].z - ball.centre[2];
        square = max(square, x * x + y * y + z * z);
    }
    for (int step = 16; step > 0; step /= 2) square = max(square, __shfl_xor_sync(~0u, square, step));
    ball.radius = sqrt(square);
    if (lane == 0) balls[box] = ball;
}

// The expansions of all sums of each box, for strength vector blockIdx.y:
// derived[(box * vectors + vector) * BASIS_COEFFICIENTS * SUMS].
extern "C" __global__ void derive_multipoles(const real *__restrict__ multipoles, uint streams, real *__restrict__ derived) {
    ulong64 expansion = (ulong64)blockIdx.x * gridDim.y + blockIdx.y;
    derive(multipoles + ((ulong64)blockIdx.x * streams + blockIdx.y * EXPANSIONS) * STRIDE,
           derived + expansion * BASIS_COEFFICIENTS * SUMS);
}

// far[((vector * SUMS) + s) * target_count + i]: the sums from multipoles at the targets of leaf blockIdx.x, in tree
// order, for strength vector blockIdx.z. Threads are divided into columns, one target each, and slices, each with a
// part of the boxes; the sums of the slices are added in order. `interactions` counts pairs of a multipole and a
// target. Four blocks per multiprocessor leave enough registers to interleave coefficients.
extern "C" __global__ void __launch_bounds__(THREADS, 4)
    m2p(Boxes boxes, const real *__restrict__ targets, uint target_count, Opening opening, const real *__restrict__ derived,
        real *__restrict__ far, ulong64 *__restrict__ interactions) {
    __shared__ Walk walk;
    __shared__ Recurrence table;
    __shared__ real slice_sums[THREADS * SUMS];
    uint box = blockIdx.x;
    Range mine = boxes.targets[box];
    if (!boxes.is_leaf[box]) return;
    uint first = mine.start + blockIdx.y * THREADS;
    if (first >= mine.end) return;
    uint count = min(mine.end - first, (uint)THREADS);
    fill_recurrence(table);
#if FARFIELD_ON_NEIGHBOURS
    start_on_neighbours(walk, box);
    auto next = [&] { return next_on_neighbours(walk, boxes); };
#else
    start_walk(walk, targets, mine);
    auto next = [&] { return walk_on(walk, boxes, opening, MULTIPOLE); };
#endif
    uint slices = THREADS / count, column = threadIdx.x % count, slice = threadIdx.x / count;
    const real *target = targets + 3 * (ulong64)(first + column);
    double x = target[0], y = target[1], z = target[2];
    real sums[SUMS] = {};
    while (uint found = next()) {
        if (threadIdx.x == 0 && blockIdx.z == 0) atomicAdd(interactions, (ulong64)found * count);
        if (slice < slices)
            for (uint k = slice; k < found; k += slices) {
                int from = walk.found[k];
                const Ball &ball = opening.balls[from];
                real inverse_side = ball.inverse_side;
                real dx = (x - ball.centre[0]) * ball.inverse_side, dy = (y - ball.centre[1]) * ball.inverse_side;
                real dz = (z - ball.centre[2]) * ball.inverse_side;
                // The irregular functions are the regular ones at the inverted point, divided by the distance.
                real inverse = inverse_sqrt(fma(dx, dx, fma(dy, dy, dz * dz))), inverse2 = inverse * inverse;
                real values[1][SUMS] = {};
                add_regular(table, derived + ((ulong64)from * gridDim.z + blockIdx.z) * BASIS_COEFFICIENTS * SUMS, dx * inverse2,
                            dy * inverse2, dz * inverse2, values);
                real scale = inverse * inverse_side;
                real scales[3] = {scale, scale * inverse_side, scale * inverse_side * inverse_side};
#pragma unroll
                for (int e = 0; e < SUMS; ++e) sums[e] = fma(values[0][e], scales[derivatives_of(e)], sums[e]);
            }
        __syncthreads();
    }
    if (slice < slices)
#pragma unroll
        for (int e = 0; e < SUMS; ++e) slice_sums[(slice * SUMS + e) * count + column] = sums[e];
    __syncthreads();
    far += (ulong64)blockIdx.z * SUMS * target_count;
    for (uint k = threadIdx.x; k < SUMS * count; k += THREADS) {
        uint i = k % count, e = k / count;
        real sum = 0;
        for (uint s = 0; s < slices; ++s) sum += slice_sums[(s * SUMS + e) * count + i];
        far[(ulong64)e * target_count + first + i] = sum;
    }
}
