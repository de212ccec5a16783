// The balanced pyramid, built on the device:
//   keys -> sort_pass (several, x and y at once) -> rank_points -> pair_ranks -> (count_upper -> partition) for every cut
//   of large boxes -> cut_in_blocks: all cuts of small ones -> [count_sources -> scan_counts] -> permute_points -> circles
//
// Points are sorted once along x and once along y. From then on a point is the pair of its ranks, and every box stores
// its points twice, in both orders: these give its rectangle and its median, and a cut is a stable partition of the
// order along the other axis. Cut s turns 2^s boxes into 2^(s+1). Box b of 2^s holds the points from floor(N b / 2^s)
// on, so all boxes hold the same number of points, plus or minus one, and their starts need no memory.
#include "plane.cuh"
#include "sortable.cuh"
#include "sort.cuh"

// Coordinates as integers with the same order.
__device__ __forceinline__ ulong64 key_of(real c) {
#if FARFIELD_DOUBLE
    return sort_key(c);
#else
    int bits = __float_as_int(c);
    return (uint)(bits < 0 ? ~bits : bits | 0x80000000);
#endif
}

__device__ __forceinline__ real coordinate_of(ulong64 key) {
#if FARFIELD_DOUBLE
    return from_sort_key(key);
#else
    uint bits = (uint)key;
    return __int_as_float(bits & 0x80000000u ? (int)(bits ^ 0x80000000u) : (int)~bits);
#endif
}

// The keys of `count` points whose indices start at `first` of `total`, along x and then along y, and the histogram of
// each digit of the keys: histograms[(axis * 8 + pass) * RADIX + digit].
extern "C" __global__ void keys(const real *__restrict__ points, uint count, uint first, uint total, uint passes,
                                ulong64 *__restrict__ keys, uint *__restrict__ indices, uint *__restrict__ histograms) {
    __shared__ uint local[16][RADIX];
    for (uint k = threadIdx.x; k < 16 * RADIX; k += blockDim.x) (&local[0][0])[k] = 0;
    __syncthreads();
    for (uint i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        for (uint axis = 0; axis < 2; ++axis) {
            ulong64 key = key_of(points[2 * (ulong64)i + axis]), at = (ulong64)axis * total + first + i;
            keys[at] = key;
            indices[at] = first + i;
            for (uint pass = 0; pass < passes; ++pass) atomicAdd(&local[8 * axis + pass][key >> 8 * pass & (RADIX - 1)], 1u);
        }
    __syncthreads();
    for (uint k = threadIdx.x; k < 16 * RADIX; k += blockDim.x) {
        uint value = (&local[0][0])[k];
        if (value) atomicAdd(&histograms[k], value);
    }
}

// ranks[point]: the rank of the point along x.
extern "C" __global__ void rank_points(const uint *__restrict__ indices, uint count, uint *__restrict__ ranks) {
    uint i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) ranks[indices[i]] = i;
}

// lists[i]: the ranks (x, y) of the point with rank i along x; lists[count + j]: of the point with rank j along y.
extern "C" __global__ void pair_ranks(const uint *__restrict__ indices, const uint *__restrict__ ranks, uint count,
                                      uint2 *__restrict__ lists) {
    uint j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= count) return;
    uint i = ranks[indices[(ulong64)count + j]];
    lists[i] = lists[(ulong64)count + j] = {i, j};
}

__device__ __forceinline__ uint start_of(uint count, uint cut, uint box) { return (uint)((ulong64)count * box >> cut); }
__device__ __forceinline__ uint middle_of(uint count, uint cut, uint box) {
    return (uint)((ulong64)count * (2 * box + 1) >> (cut + 1));
}
// The box of the point at index `i`.
__device__ __forceinline__ uint box_at(uint count, uint cut, uint i) {
    return (uint)((((ulong64)(i + 1) << cut) - 1) / count);
}

struct Rectangle {
    real low[2], high[2];
};

// The bounding rectangle of points, from their first and last ranks along both axes.
__device__ __forceinline__ Rectangle rectangle_of(const ulong64 *__restrict__ keys, uint count, uint first_x, uint last_x,
                                                  uint first_y, uint last_y) {
    return {{coordinate_of(keys[first_x]), coordinate_of(keys[(ulong64)count + first_y])},
            {coordinate_of(keys[last_x]), coordinate_of(keys[(ulong64)count + last_y])}};
}

// A cut divides the longer side of a box.
__device__ __forceinline__ uint axis_of(const Rectangle &r) { return r.high[1] - r.low[1] > r.high[0] - r.low[0]; }

// A box before its cut: its points, the axis of the cut, and the rank along it at which the upper half starts.
struct Cut {
    uint start, middle, end, axis, pivot;
};

__device__ Cut cut_of(const ulong64 *__restrict__ keys, const uint2 *__restrict__ lists, uint count, uint cut, uint box,
                      Rectangle &rectangle) {
    const uint2 *along_y = lists + count;
    Cut c = {start_of(count, cut, box), middle_of(count, cut, box), start_of(count, cut, box + 1)};
    rectangle = rectangle_of(keys, count, lists[c.start].x, lists[c.end - 1].x, along_y[c.start].y, along_y[c.end - 1].y);
    c.axis = axis_of(rectangle);
    c.pivot = c.axis ? along_y[c.middle].y : lists[c.middle].x;
    return c;
}

// Whether the point with these ranks is in the upper half.
__device__ __forceinline__ bool is_upper(uint2 ranks, uint axis, uint pivot) { return (axis ? ranks.y : ranks.x) >= pivot; }

#define CUT_THREADS 256
#define CUT_ITEMS 16
#define CUT_TILE (CUT_THREADS * CUT_ITEMS)

// counts[box * tiles + tile]: the number of points in the upper half, in a tile of the order along the other axis.
// When all cuts of a level are done, its rectangles are written. Blocks: tiles per box times boxes.
extern "C" __global__ void __launch_bounds__(CUT_THREADS)
    count_upper(const ulong64 *__restrict__ keys, const uint2 *__restrict__ lists, uint count, uint cut, uint tiles,
                uint *__restrict__ counts, Rectangle *__restrict__ rectangles) {
    __shared__ uint sum;
    uint box = blockIdx.x / tiles, tile = blockIdx.x % tiles;
    if (threadIdx.x == 0) sum = 0;
    Rectangle rectangle;
    Cut c = cut_of(keys, lists, count, cut, box, rectangle);
    if (tile == 0 && threadIdx.x == 0 && cut % 2 == 0) rectangles[first_of_level(cut / 2) + box] = rectangle;
    const uint2 *other = c.axis ? lists : lists + count;
    uint mine = 0;
    for (uint k = 0; k < CUT_ITEMS; ++k) {
        uint i = c.start + tile * CUT_TILE + k * CUT_THREADS + threadIdx.x;
        if (i < c.end) mine += is_upper(other[i], c.axis, c.pivot);
    }
    mine = __reduce_add_sync(~0u, mine);
    __syncthreads();
    if (threadIdx.x % 32 == 0) atomicAdd(&sum, mine);
    __syncthreads();
    if (threadIdx.x == 0) counts[blockIdx.x] = sum;
}

// Exclusive sums of the one bits in up to 128 words. Called by the first warp.
__device__ __forceinline__ void sum_words(const uint *words, uint count, uint *before) {
    if (threadIdx.x >= 32) return;
    uint ones[4], total = 0;
    for (int k = 0; k < 4; ++k) {
        uint at = 4 * threadIdx.x + k;
        ones[k] = at < count ? __popc(words[at]) : 0;
        total += ones[k];
    }
    uint sum = total;
    for (uint step = 1; step < 32; step *= 2) {
        uint other = __shfl_up_sync(~0u, sum, step);
        if (threadIdx.x >= step) sum += other;
    }
    sum -= total;
    for (int k = 0; k < 4; ++k) {
        uint at = 4 * threadIdx.x + k;
        if (at < count) before[at] = sum;
        sum += ones[k];
    }
}

__device__ __forceinline__ uint ones_before(const uint *words, const uint *before, uint at) {
    return before[at / 32] + __popc(words[at / 32] & ((1u << at % 32) - 1));
}

// Both orders after the cut: the order along its axis is unchanged, the other one is partitioned.
extern "C" __global__ void __launch_bounds__(CUT_THREADS)
    partition(const ulong64 *__restrict__ keys, const uint2 *__restrict__ lists, uint count, uint cut, uint tiles,
              const uint *__restrict__ counts, uint2 *__restrict__ cut_lists) {
    __shared__ uint words[CUT_TILE / 32], before[CUT_TILE / 32];
    __shared__ uint earlier;
    uint box = blockIdx.x / tiles, tile = blockIdx.x % tiles;
    if (threadIdx.x == 0) earlier = 0;
    Rectangle rectangle;
    Cut c = cut_of(keys, lists, count, cut, box, rectangle);
    uint first = c.start + tile * CUT_TILE;
    if (first >= c.end) return;
    ulong64 own = c.axis ? count : 0, other = c.axis ? 0 : count;
    __syncthreads();
    uint sum = 0;
    for (uint t = threadIdx.x; t < tile; t += CUT_THREADS) sum += counts[box * tiles + t];
    sum = __reduce_add_sync(~0u, sum);
    if (threadIdx.x % 32 == 0) atomicAdd(&earlier, sum);
    uint2 ranks[CUT_ITEMS];
#pragma unroll
    for (uint k = 0; k < CUT_ITEMS; ++k) {
        uint i = first + k * CUT_THREADS + threadIdx.x;
        ranks[k] = i < c.end ? lists[other + i] : uint2{0, 0};
        uint word = __ballot_sync(~0u, i < c.end && is_upper(ranks[k], c.axis, c.pivot));
        if (threadIdx.x % 32 == 0) words[(k * CUT_THREADS + threadIdx.x) / 32] = word;
        if (i < c.end) cut_lists[own + i] = lists[own + i];
    }
    __syncthreads();
    sum_words(words, CUT_TILE / 32, before);
    __syncthreads();
#pragma unroll
    for (uint k = 0; k < CUT_ITEMS; ++k) {
        uint at = k * CUT_THREADS + threadIdx.x, i = first + at;
        if (i >= c.end) continue;
        uint upper = earlier + ones_before(words, before, at);
        uint to = is_upper(ranks[k], c.axis, c.pivot) ? c.middle + upper : i - upper;
        cut_lists[other + to] = ranks[k];
    }
}

#define BLOCK_POINTS 2048
#define BLOCK_THREADS 512
#define BLOCK_ITEMS (BLOCK_POINTS / BLOCK_THREADS)

// The index of `rank` among sorted ranks.
__device__ __forceinline__ uint find(const uint *ranks, uint count, uint rank) {
    uint low = 0, high = count;
    while (low < high) {
        uint middle = (low + high) / 2;
        if (ranks[middle] < rank) low = middle + 1; else high = middle;
    }
    return low;
}

// All cuts from `first_cut` to `last_cut` in shared memory, for one box of at most BLOCK_POINTS points per block.
// Ranks are converted to ranks within the box, two per word.
extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    cut_in_blocks(const ulong64 *__restrict__ keys, uint2 *__restrict__ lists, uint count, uint first_cut, uint last_cut,
                  Rectangle *__restrict__ rectangles) {
    // order[axis]: x rank | y rank << 16, box by box; rank[axis]: the ranks among all points
    __shared__ uint order[2][BLOCK_POINTS], rank[2][BLOCK_POINTS];
    __shared__ uint cuts[BLOCK_POINTS];  // pivot | axis << 31
    __shared__ uint words[BLOCK_POINTS / 32], before[BLOCK_POINTS / 32];
    uint start = start_of(count, first_cut, blockIdx.x), points = start_of(count, first_cut, blockIdx.x + 1) - start;
    for (uint i = threadIdx.x; i < points; i += BLOCK_THREADS) {
        rank[0][i] = lists[start + i].x;
        rank[1][i] = lists[(ulong64)count + start + i].y;
    }
    __syncthreads();
    for (uint i = threadIdx.x; i < points; i += BLOCK_THREADS) {
        order[0][i] = i | find(rank[1], points, lists[start + i].y) << 16;
        order[1][i] = find(rank[0], points, lists[(ulong64)count + start + i].x) | i << 16;
    }
    __syncthreads();
    for (uint cut = first_cut; cut <= last_cut; ++cut) {
        uint first_box = blockIdx.x << (cut - first_cut), boxes = 1u << (cut - first_cut);
        for (uint b = threadIdx.x; b < boxes; b += BLOCK_THREADS) {
            uint from = start_of(count, cut, first_box + b) - start, to = start_of(count, cut, first_box + b + 1) - start;
            Rectangle r = rectangle_of(keys, count, rank[0][order[0][from] & 0xffff], rank[0][order[0][to - 1] & 0xffff],
                                       rank[1][order[1][from] >> 16], rank[1][order[1][to - 1] >> 16]);
            if (cut % 2 == 0) rectangles[first_of_level(cut / 2) + first_box + b] = r;
            uint middle = min(middle_of(count, cut, first_box + b) - start, points - 1), axis = axis_of(r);
            cuts[b] = (axis ? order[1][middle] >> 16 : order[0][middle] & 0xffff) | axis << 31;
        }
        if (cut == last_cut) break;
        __syncthreads();
        uint item[BLOCK_ITEMS], to[BLOCK_ITEMS];
#pragma unroll
        for (uint k = 0; k < BLOCK_ITEMS; ++k) {
            uint i = k * BLOCK_THREADS + threadIdx.x;
            bool upper = false;
            if (i < points) {
                uint cut_here = cuts[box_at(count, cut, start + i) - first_box], axis = cut_here >> 31;
                item[k] = order[1 - axis][i];
                upper = (axis ? item[k] >> 16 : item[k] & 0xffff) >= (cut_here & 0x7fffffff);
            }
            uint word = __ballot_sync(~0u, upper);
            if (threadIdx.x % 32 == 0) words[i / 32] = word;
        }
        __syncthreads();
        sum_words(words, BLOCK_POINTS / 32, before);
        __syncthreads();
#pragma unroll
        for (uint k = 0; k < BLOCK_ITEMS; ++k) {
            uint i = k * BLOCK_THREADS + threadIdx.x;
            if (i >= points) continue;
            uint box = box_at(count, cut, start + i), from = start_of(count, cut, box) - start;
            uint upper = ones_before(words, before, i) - ones_before(words, before, from);
            bool is_one = words[i / 32] >> i % 32 & 1;
            to[k] = (is_one ? middle_of(count, cut, box) - start + upper : i - upper) | (1 - (cuts[box - first_box] >> 31)) << 31;
        }
        __syncthreads();
#pragma unroll
        for (uint k = 0; k < BLOCK_ITEMS; ++k)
            if (k * BLOCK_THREADS + threadIdx.x < points) order[to[k] >> 31][to[k] & 0x7fffffff] = item[k];
        __syncthreads();
    }
    for (uint i = threadIdx.x; i < points; i += BLOCK_THREADS) {
        uint ranks = order[0][i];
        lists[start + i] = {rank[0][ranks & 0xffff], rank[1][ranks >> 16]};
    }
}

#define ORDER_THREADS 1024

// counts[block]: the number of sources among its points. Only if sources and targets differ.
extern "C" __global__ void __launch_bounds__(ORDER_THREADS)
    count_sources(const uint2 *__restrict__ lists, const uint *__restrict__ indices, uint count, uint source_count,
                  uint *__restrict__ counts) {
    uint i = blockIdx.x * ORDER_THREADS + threadIdx.x;
    uint sources = __syncthreads_count(i < count && indices[lists[i].x] < source_count);
    if (threadIdx.x == 0) counts[blockIdx.x] = sources;
}

// Exclusive sums of counts, in place. One block.
extern "C" __global__ void __launch_bounds__(RADIX) scan_counts(uint *counts, uint length) {
    __shared__ uint scratch[RADIX / 32];
    __shared__ uint last;
    uint before = 0;
    for (uint start = 0; start < length; start += RADIX) {
        uint at = start + threadIdx.x, value = at < length ? counts[at] : 0;
        uint sum = before + exclusive_sum(value, scratch);
        if (at < length) counts[at] = sum;
        if (threadIdx.x == RADIX - 1) last = sum + value;
        __syncthreads();
        before = last;
        __syncthreads();
    }
}

// Writes the points in the pyramid's order, sources and targets separately: positions, the caller's index of each, and
// the start of each leaf. `counts` are the sources before each block, or null if the sources are the targets.
extern "C" __global__ void __launch_bounds__(ORDER_THREADS)
    permute_points(const ulong64 *__restrict__ keys, const uint2 *__restrict__ lists, const uint *__restrict__ indices,
                 uint count, uint source_count, uint last_cut, const uint *__restrict__ counts, complex *__restrict__ sources,
                 uint *__restrict__ source_permutation, uint *__restrict__ source_start, complex *__restrict__ targets,
                 uint *__restrict__ target_permutation, uint *__restrict__ target_start) {
    __shared__ uint words[ORDER_THREADS / 32], before[ORDER_THREADS / 32];
    uint i = blockIdx.x * ORDER_THREADS + threadIdx.x;
    bool exists = i < count;
    uint2 ranks = exists ? lists[i] : uint2{0, 0};
    uint index = indices[ranks.x];
    complex position = {coordinate_of(keys[ranks.x]), coordinate_of(keys[(ulong64)count + ranks.y])};
    uint sources_before = i;
    bool is_source = exists;
    if (counts) {
        is_source = exists && index < source_count;
        uint word = __ballot_sync(~0u, is_source);
        if (threadIdx.x % 32 == 0) words[threadIdx.x / 32] = word;
        __syncthreads();
        sum_words(words, ORDER_THREADS / 32, before);
        __syncthreads();
        sources_before = counts[blockIdx.x] + ones_before(words, before, threadIdx.x);
    }
    if (!exists) return;
    uint leaf = box_at(count, last_cut, i);
    if (start_of(count, last_cut, leaf) == i) {
        source_start[leaf] = sources_before;
        if (counts) target_start[leaf] = i - sources_before;
    }
    if (i == count - 1) {
        source_start[1u << last_cut] = source_count;
        if (counts) target_start[1u << last_cut] = count - source_count;
    }
    if (is_source) {
        sources[sources_before] = position;
        source_permutation[sources_before] = index;
    } else {
        targets[i - sources_before] = position;
        target_permutation[i - sources_before] = index - source_count;
    }
}

__device__ __forceinline__ real radius_of(const Rectangle &r, real &x, real &y) {
    // Coordinates are halved before they are added, because their sum could overflow.
    x = real(0.5) * r.low[0] + real(0.5) * r.high[0];
    y = real(0.5) * r.low[1] + real(0.5) * r.high[1];
    real width = max(x - r.low[0], r.high[0] - x), height = max(y - r.low[1], r.high[1] - y);
    return sqrt(fma(width, width, height * height));
}

// The circle around the points of each box. Its unit of length is the larger of its radius and a small fraction of its
// parent's unit.
extern "C" __global__ void circles(const Rectangle *__restrict__ rectangles, uint boxes, Box *__restrict__ out) {
    uint b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= boxes) return;
    Box box;
    box.radius = box.scale = radius_of(rectangles[b], box.x, box.y);
    real part = 1;
    for (uint above = b; above > 0;) {
        above = (above - 1) / 4;
        part *= real(9.5367431640625e-7);
        real x, y, radius = radius_of(rectangles[above], x, y);
        if (above == 0 && radius == 0) radius = 1;
        box.scale = max(box.scale, part * radius);
    }
    if (b == 0 && box.scale == 0) box.scale = 1;
    out[b] = box;
}
