// The interaction lists: children of strongly coupled boxes are weakly or strongly coupled, level by level.
#include "plane.cuh"

#define WARPS 8

// The lengths of the lists, which the host reads.
struct Totals {
    ulong64 weak;            // entries of the weak lists of all levels
    ulong64 overfull;        // the largest number of entries that a list without enough room would have needed
    ulong64 p2p, p2l, m2p;   // pairs of the leaves
    ulong64 strong[16];      // entries of the strong lists of each level
};

// The couplings of the boxes of one level, from the strong couplings of the level above. One warp per box, in the
// order of the parent's list. The location of a block's lists in memory depends on timing, their contents do not.
extern "C" __global__ void __launch_bounds__(32 * WARPS)
    connect(const Box *__restrict__ boxes, uint level, uint depth, Criterion criterion, const uint *__restrict__ source_start,
            const uint *__restrict__ target_start, const Row *__restrict__ above, const uint *__restrict__ above_list,
            Row *__restrict__ weak, uint *__restrict__ weak_list, ulong64 weak_room, Row *__restrict__ strong,
            uint *__restrict__ strong_list, ulong64 strong_room, Totals *totals) {
    __shared__ uint counts[2][WARPS];
    __shared__ ulong64 starts[2];
    __shared__ ulong64 pairs[3];
    uint lane = threadIdx.x % 32, warp = threadIdx.x / 32, b = blockIdx.x * WARPS + warp;
    uint first = first_of_level(level), count = 1u << 2 * level, below = depth - level;
    if (threadIdx.x < 3) pairs[threadIdx.x] = 0;
    bool exists = b < count && target_start[b << 2 * below] < target_start[(b + 1) << 2 * below];
    Row parents = exists ? above[b / 4] : Row{0, 0};
    Box here = boxes[first + min(b, count - 1)];
    // 0: no box with sources, 1: weakly coupled, 2: strongly coupled
    auto coupling = [&](uint k, uint &other) {
        if (k >= 4 * parents.count) return 0;
        other = 4 * above_list[parents.start + k / 4] + k % 4;
        if (source_start[other << 2 * below] == source_start[(other + 1) << 2 * below]) return 0;
        return passes(criterion, here, boxes[first + other], false) ? 1 : 2;
    };
    uint weak_count = 0, strong_count = 0, other = 0;
    for (uint k = 0; k < 4 * parents.count; k += 32) {
        int coupled = coupling(k + lane, other);
        weak_count += __popc(__ballot_sync(~0u, coupled == 1));
        strong_count += __popc(__ballot_sync(~0u, coupled == 2));
    }
    if (lane == 0) {
        counts[0][warp] = weak_count;
        counts[1][warp] = strong_count;
    }
    __syncthreads();
    if (threadIdx.x < 2) {
        uint total = 0;
        for (int w = 0; w < WARPS; ++w) total += counts[threadIdx.x][w];
        ulong64 start = atomicAdd(threadIdx.x ? &totals->strong[level] : &totals->weak, (ulong64)total);
        if (start + total > (threadIdx.x ? strong_room : weak_room)) {
            atomicMax(&totals->overfull, start + total);
            start = ~0ull;
        }
        starts[threadIdx.x] = start;
    }
    __syncthreads();
    ulong64 weak_at = starts[0], strong_at = starts[1];
    bool fits = weak_at != ~0ull && strong_at != ~0ull;
    for (uint w = 0; w < warp; ++w) {
        weak_at += counts[0][w];
        strong_at += counts[1][w];
    }
    if (b < count && lane == 0) {
        weak[first + b] = fits ? Row{(uint)weak_at, weak_count} : Row{0, 0};
        strong[b] = fits ? Row{(uint)strong_at, strong_count} : Row{0, 0};
    }
    if (!fits) return;
    ulong64 met[3] = {0, 0, 0};
    uint targets = exists ? target_start[(b + 1) << 2 * below] - target_start[b << 2 * below] : 0;
    for (uint k = 0; k < 4 * parents.count; k += 32) {
        int coupled = coupling(k + lane, other);
        uint is_weak = __ballot_sync(~0u, coupled == 1), is_strong = __ballot_sync(~0u, coupled == 2);
        uint earlier = (1u << lane) - 1;
        if (coupled == 1) weak_list[weak_at + __popc(is_weak & earlier)] = first + other;
        if (coupled == 2) {
            strong_list[strong_at + __popc(is_strong & earlier)] = other;
            if (below == 0) {
                uint sources = source_start[other + 1] - source_start[other];
                switch (meeting(criterion, here, boxes[first + other], targets, sources)) {
                case IN_PAIRS: met[0] += (ulong64)targets * sources; break;
                case BY_LOCAL: met[1] += sources; break;
                default: met[2] += targets;
                }
            }
        }
        weak_at += __popc(is_weak);
        strong_at += __popc(is_strong);
    }
    if (below > 0) return;
    for (int kind = 0; kind < 3; ++kind)
        if (met[kind]) atomicAdd(&pairs[kind], met[kind]);
    __syncthreads();
    if (threadIdx.x < 3 && pairs[threadIdx.x]) atomicAdd(&totals->p2p + threadIdx.x, pairs[threadIdx.x]);
}
