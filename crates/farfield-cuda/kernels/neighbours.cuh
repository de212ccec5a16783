// The treecode on the FMM's neighbour lists (Yokota and Barba, figure 6): boxes that an FMM would translate into a
// leaf or one of its ancestors act by their multipoles on the leaf's targets. For each of these boxes they are the
// children of its parent's neighbours that do not touch it. Boxes that touch the leaf act by pairs, as in the FMM.
//
// All threads of the block search together, always in the same order, and return the boxes level by level, from the
// leaf's level up.
#pragma once
#include "opening.cuh"

__device__ __forceinline__ void start_on_neighbours(Walk &walk, uint box) {
    if (threadIdx.x == 0) walk.opened[0] = box;
    __syncthreads();
}

// Whether two boxes of a level touch.
__device__ __forceinline__ bool touch(ulong64 a, ulong64 b) {
    for (int axis = 0; axis < 3; ++axis)
        if (abs((int)gather(a >> axis) - (int)gather(b >> axis)) > 1) return false;
    return true;
}

// The acting boxes of the next level that has any; returns their number, zero at the end. Called by all threads.
__device__ __forceinline__ uint next_on_neighbours(Walk &walk, const Boxes &boxes) {
    uint lane = threadIdx.x % 32, warp = threadIdx.x / 32, below = (1u << lane) - 1, count = 0;
    int at = walk.opened[0];
    while (count == 0 && at >= 0) {
        int parent = boxes.parent[at];
        for (uint first = 0; parent >= 0 && first < 27 * 8; first += WALK_THREADS) {
            uint k = first + threadIdx.x;
            int neighbour = k < 27 * 8 ? boxes.neighbours[27 * (ulong64)parent + k / 8] : -1;
            int box = neighbour >= 0 ? boxes.children[8 * (ulong64)neighbour + k % 8] : -1;
            bool acts = box >= 0 && !touch(boxes.key[box], boxes.key[at]);
            uint chosen = __ballot_sync(~0u, acts);
            if (lane == 0) walk.in_warp[0][warp] = __popc(chosen);
            __syncthreads();
            uint before = 0, all = 0;
            for (uint other = 0; other < WALK_WARPS; ++other) {
                if (other < warp) before += walk.in_warp[0][other];
                all += walk.in_warp[0][other];
            }
            if (acts) walk.found[count + before + __popc(chosen & below)] = box;
            count += all;
            __syncthreads();
        }
        at = parent;
    }
    __syncthreads();
    if (threadIdx.x == 0) walk.opened[0] = at;
    __syncthreads();
    return count;
}
