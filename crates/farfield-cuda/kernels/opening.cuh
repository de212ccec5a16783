// The treecode's walk: the boxes that act on a leaf by their multipoles, and those that act by pairs.
//
// Let a be the distance from a box's centre to its farthest source, and r the distance from the centre to the bounding
// box of a leaf's targets. The box acts by its multipole if a < theta r. Otherwise it is opened; if it is a leaf, it
// acts by pairs. Boxes with few sources and boxes within the reach of a core also act by pairs. All threads of the
// block walk together, eight children of each opened box at a time, always in the same order, and return the boxes in
// batches.
//
// Constants: FARFIELD_THREADS per block.
#pragma once
#include "tree.cuh"

#define WALK_THREADS FARFIELD_THREADS
#define WALK_WARPS (WALK_THREADS / 32)
#define BATCH 512

struct Ball {
    double centre[3], radius, inverse_side;
};

struct Opening {
    const Ball *balls;
    double theta, reach;
    uint few_sources;
};

// In shared memory.
struct Walk {
    int opened[(LEVELS + 1) * WALK_THREADS]; // boxes whose children are to be tested; -1: the root itself
    int found[BATCH];
    uint height, count;
    uint in_warp[2][WALK_WARPS];
    double low[WALK_WARPS][3], high[WALK_WARPS][3];
};

// Begins the walk for the targets of a leaf.
__device__ __forceinline__ void start_walk(Walk &walk, const real *__restrict__ targets, Range range) {
    uint lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    double low[3] = {1e300, 1e300, 1e300}, high[3] = {-1e300, -1e300, -1e300};
    for (uint i = range.start + threadIdx.x; i < range.end; i += WALK_THREADS)
        for (int axis = 0; axis < 3; ++axis) {
            double c = targets[3 * (ulong64)i + axis];
            low[axis] = min(low[axis], c);
            high[axis] = max(high[axis], c);
        }
    for (int axis = 0; axis < 3; ++axis) {
        for (int step = 16; step > 0; step /= 2) {
            low[axis] = min(low[axis], __shfl_xor_sync(~0u, low[axis], step));
            high[axis] = max(high[axis], __shfl_xor_sync(~0u, high[axis], step));
        }
        if (lane == 0) {
            walk.low[warp][axis] = low[axis];
            walk.high[warp][axis] = high[axis];
        }
    }
    if (threadIdx.x == 0) {
        walk.opened[0] = -1;
        walk.height = 1;
    }
    __syncthreads();
    if (threadIdx.x < 3)
        for (int other = 1; other < WALK_WARPS; ++other) {
            walk.low[0][threadIdx.x] = min(walk.low[0][threadIdx.x], walk.low[other][threadIdx.x]);
            walk.high[0][threadIdx.x] = max(walk.high[0][threadIdx.x], walk.high[other][threadIdx.x]);
        }
    __syncthreads();
}

enum Role { NOTHING, MULTIPOLE, PAIRS, OPENED };

__device__ __forceinline__ Role role_of(const Walk &walk, const Boxes &boxes, const Opening &opening, int box) {
    if (box < 0) return NOTHING;
    Range sources = boxes.sources[box];
    if (sources.start == sources.end) return NOTHING;
    Ball ball = opening.balls[box];
    double square = 0;
    for (int axis = 0; axis < 3; ++axis) {
        double c = ball.centre[axis], d = max(max(walk.low[0][axis] - c, c - walk.high[0][axis]), 0.0);
        square += d * d;
    }
    double distance = sqrt(square);
    bool is_far = ball.radius < opening.theta * distance && distance - ball.radius >= opening.reach;
    if (is_far && sources.end - sources.start > opening.few_sources) return MULTIPOLE;
    return is_far || boxes.is_leaf[box] ? PAIRS : OPENED;
}

// Continues the walk until a batch of boxes with role `wanted` is found or the walk ends; returns the number of boxes
// found. Called by all threads.
__device__ __forceinline__ uint walk_on(Walk &walk, const Boxes &boxes, const Opening &opening, Role wanted) {
    uint lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) walk.count = 0;
    __syncthreads();
    while (walk.height > 0 && walk.count + WALK_THREADS <= BATCH) {
        uint parents = min(walk.height, WALK_THREADS / 8u), base = walk.height - parents, count = walk.count;
        int box = -1;
        if (threadIdx.x / 8 < parents) {
            int parent = walk.opened[base + threadIdx.x / 8];
            box = parent >= 0 ? boxes.children[8 * (ulong64)parent + threadIdx.x % 8] : threadIdx.x % 8 == 0 ? 0 : -1;
        }
        Role role = role_of(walk, boxes, opening, box);
        uint chosen = __ballot_sync(~0u, role == wanted), opened = __ballot_sync(~0u, role == OPENED);
        if (lane == 0) {
            walk.in_warp[0][warp] = __popc(chosen);
            walk.in_warp[1][warp] = __popc(opened);
        }
        __syncthreads();
        uint before[2] = {0, 0}, all[2] = {0, 0};
        for (uint other = 0; other < WALK_WARPS; ++other)
            for (int k = 0; k < 2; ++k) {
                if (other < warp) before[k] += walk.in_warp[k][other];
                all[k] += walk.in_warp[k][other];
            }
        uint below = (1u << lane) - 1;
        if (role == wanted) walk.found[count + before[0] + __popc(chosen & below)] = box;
        if (role == OPENED) walk.opened[base + before[1] + __popc(opened & below)] = box;
        __syncthreads();
        if (threadIdx.x == 0) {
            walk.count = count + all[0];
            walk.height = base + all[1];
        }
        __syncthreads();
    }
    return walk.count;
}
