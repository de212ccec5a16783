// Radix sort of 64-bit keys and their indices, one pass per byte.
#pragma once
#include "real.cuh"

#define RADIX 256

#define SORT_WARPS 8
#define SORT_ITEMS 12
#define SORT_TILE (SORT_WARPS * 32 * SORT_ITEMS)

// State of a tile's count of a digit: its own count, or the count of all tiles up to it.
#define COUNTED (1u << 30)
#define SUMMED (2u << 30)
#define COUNT_MASK (COUNTED - 1)

// The exclusive sum of one value per thread over RADIX threads.
__device__ __forceinline__ uint exclusive_sum(uint value, uint *scratch) {
    uint lane = threadIdx.x % 32, warp = threadIdx.x / 32, sum = value;
    for (uint step = 1; step < 32; step *= 2) {
        uint other = __shfl_up_sync(~0u, sum, step);
        if (lane >= step) sum += other;
    }
    if (lane == 31) scratch[warp] = sum;
    __syncthreads();
    uint before = 0;
    for (uint k = 0; k < warp; ++k) before += scratch[k];
    __syncthreads();
    return before + sum - value;
}

// One stable pass over the digit at `shift`: each tile ranks its items, adds up the counts of the tiles before it as
// they appear (decoupled look-back), and scatters. `status` is initially zero, RADIX words per tile; tiles are
// assigned by `ticket`, so that a tile only waits for tiles that already run. Consecutive lists of the same length are
// sorted at once, one per blockIdx.y, each with its own eight histograms.
extern "C" __global__ void __launch_bounds__(32 * SORT_WARPS)
    sort_pass(const ulong64 *__restrict__ keys, const uint *__restrict__ indices, uint count, uint shift,
              const uint *__restrict__ histogram, volatile uint *status, uint *ticket, ulong64 *__restrict__ sorted_keys,
              uint *__restrict__ sorted_indices) {
    __shared__ uint counts[SORT_WARPS][RADIX];
    __shared__ uint starts[RADIX], tile_starts[RADIX];
    __shared__ ulong64 tile_keys[SORT_TILE];
    __shared__ uint tile_indices[SORT_TILE];
    __shared__ uint scratch[SORT_WARPS];
    __shared__ uint shared_tile;
    uint list = blockIdx.y;
    keys += (ulong64)list * count;
    indices += (ulong64)list * count;
    sorted_keys += (ulong64)list * count;
    sorted_indices += (ulong64)list * count;
    histogram += 8 * list * RADIX;
    status += (ulong64)list * gridDim.x * RADIX;
    ticket += list;
    if (threadIdx.x == 0) shared_tile = atomicAdd(ticket, 1u);
    for (int warp = 0; warp < SORT_WARPS; ++warp) counts[warp][threadIdx.x] = 0;
    __syncthreads();
    uint tile = shared_tile, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    ulong64 base = (ulong64)tile * SORT_TILE + warp * 32 * SORT_ITEMS + lane;
    ulong64 item[SORT_ITEMS];
    uint rank[SORT_ITEMS];
#pragma unroll
    for (int i = 0; i < SORT_ITEMS; ++i) item[i] = base + 32 * i < count ? keys[base + 32 * i] : ~0ull;
#pragma unroll
    for (int i = 0; i < SORT_ITEMS; ++i) {
        // Items beyond the end come last in the last tile and count as the last digit.
        uint digit = item[i] >> shift & (RADIX - 1);
        uint same = __match_any_sync(~0u, digit);
        uint before = counts[warp][digit];
        __syncwarp();
        rank[i] = before + __popc(same & ((1u << lane) - 1));
        if (lane == 31 - __clz(same)) counts[warp][digit] = before + __popc(same);
        __syncwarp();
    }
    __syncthreads();
    uint digit = threadIdx.x, in_tile = 0;
    for (int w = 0; w < SORT_WARPS; ++w) {
        uint value = counts[w][digit];
        counts[w][digit] = in_tile;
        in_tile += value;
    }
    status[(ulong64)tile * RADIX + digit] = (tile == 0 ? SUMMED : COUNTED) | in_tile;
    tile_starts[digit] = exclusive_sum(in_tile, scratch);
    uint before_digit = exclusive_sum(histogram[digit], scratch), before_tile = 0;
#pragma unroll
    for (int i = 0; i < SORT_ITEMS; ++i) {
        uint digit = item[i] >> shift & (RADIX - 1), at = tile_starts[digit] + counts[warp][digit] + rank[i];
        tile_keys[at] = item[i];
        tile_indices[at] = base + 32 * i < count ? indices[base + 32 * i] : 0;
    }
    for (uint other = tile; other > 0;) {
        uint word = status[(ulong64)(other - 1) * RADIX + digit];
        if (word == 0) continue;
        before_tile += word & COUNT_MASK;
        if (word & SUMMED) break;
        --other;
    }
    if (tile > 0) status[(ulong64)tile * RADIX + digit] = SUMMED | (before_tile + in_tile);
    // Sort within the tile first, so that writes are coalesced.
    starts[digit] = before_digit + before_tile - tile_starts[digit];
    __syncthreads();
    uint length = (uint)min((ulong64)SORT_TILE, count - (ulong64)tile * SORT_TILE);
    for (uint at = threadIdx.x; at < length; at += 32 * SORT_WARPS) {
        ulong64 key = tile_keys[at];
        uint to = starts[key >> shift & (RADIX - 1)] + at;
        sorted_keys[to] = key;
        sorted_indices[to] = tile_indices[at];
    }
}
