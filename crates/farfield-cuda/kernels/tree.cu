// The octree, built on the device:
//   bounds -> shape -> keys -> sort_pass (several) -> occupancy -> count_boxes -> scan_boxes -> write_boxes -> link_boxes
//   -> mark_mixed
// The result of every kernel is independent of the order in which blocks run.
#include "tree.cuh"
#include "sortable.cuh"
#include "sort.cuh"

// Extends the tree's bounds (initially zero) by `count` points.
extern "C" __global__ void bounds(const real *__restrict__ points, uint count, Tree *tree) {
    Bounds bounds = {};
    for (uint i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        for (int axis = 0; axis < 3; ++axis) bounds.include(axis, points[3 * (ulong64)i + axis]);
    bounds.widen(tree->high, tree->low);
}

#define SAMPLE 32768u

// The root cube. Its side exceeds the extent of the points by a factor in [1, 2), chosen so that leaves hold about
// `leaf_mean` points: the number of occupied boxes at two levels gives the number at the other levels. `root_scale` is
// that factor, or zero to choose it. One block.
extern "C" __global__ void shape(const real *__restrict__ sources, uint source_count, const real *__restrict__ targets,
                                 uint target_count, double leaf_mean, double root_scale, double min_side, uint key_levels,
                                 Tree *tree) {
    __shared__ uint fine[128], coarse[16];
    __shared__ uint occupied[2];
    for (uint k = threadIdx.x; k < 128; k += blockDim.x) fine[k] = 0;
    if (threadIdx.x < 16) coarse[threadIdx.x] = 0;
    if (threadIdx.x < 2) occupied[threadIdx.x] = 0;
    __syncthreads();
    double corner[3], largest = 0;
    for (int axis = 0; axis < 3; ++axis) {
        corner[axis] = -from_sort_key(tree->low[axis]);
        largest = max(largest, from_sort_key(tree->high[axis]) - corner[axis]);
    }
    ulong64 count = (ulong64)source_count + target_count, sample = min((ulong64)SAMPLE, count);
    double to_cells = largest > 0 ? 16 / (largest * (1 + 1e-12)) : 0;
    for (uint k = threadIdx.x; k < sample; k += blockDim.x) {
        ulong64 at = k * count / sample;
        const real *point = at < source_count ? sources + 3 * at : targets + 3 * (at - source_count);
        uint cell[3];
        for (int axis = 0; axis < 3; ++axis) cell[axis] = min((uint)((point[axis] - corner[axis]) * to_cells), 15u);
        uint key = (uint)key_of_cell(cell[0], cell[1], cell[2]);
        atomicOr(&fine[key / 32], 1u << key % 32);
        atomicOr(&coarse[key / 256], 1u << key / 8 % 32);
    }
    __syncthreads();
    if (threadIdx.x < 128) atomicAdd(&occupied[0], __popc(fine[threadIdx.x]));
    if (threadIdx.x < 16) atomicAdd(&occupied[1], __popc(coarse[threadIdx.x]));
    __syncthreads();
    if (threadIdx.x != 0) return;
    if (root_scale == 0) {
        double at4 = log2((double)occupied[0]), at3 = log2((double)occupied[1]);
        double dimension = min(max(at4 - at3, 0.5), 3.0);
        double points = target_count == 0 ? source_count : max(source_count, target_count);
        double halvings = max(4 + (log2(max(points / leaf_mean, 1.0)) - at4) / dimension, 0.0);
        double per_side = exp2(halvings);
        if (per_side < 128) halvings = log2(max(rint(per_side), 1.0));
        root_scale = exp2(ceil(halvings) - halvings);
    }
    // Slightly larger than the extent of the points, so that the last ones are inside; never zero.
    double side = max(largest * root_scale * (1 + 1e-12), 2.2250738585072014e-278);
    for (int axis = 0; axis < 3; ++axis) tree->corner[axis] = corner[axis];
    tree->side = side;
    uint level = 0;
    while (level < key_levels && ldexp(side, -(int)(level + 1)) >= min_side) ++level;
    tree->max_level = largest > 0 ? level : 0;
}

// Morton keys of `count` points whose indices start at `first`, and the histogram of each digit of the keys.
extern "C" __global__ void keys(const real *__restrict__ points, uint count, uint first, const Tree *__restrict__ tree,
                                uint key_levels, uint passes, ulong64 *__restrict__ keys, uint *__restrict__ indices,
                                uint *__restrict__ histograms) {
    __shared__ uint local[8][RADIX];
    for (uint k = threadIdx.x; k < 8 * RADIX; k += blockDim.x) (&local[0][0])[k] = 0;
    __syncthreads();
    double inverse_side = 1.0 / tree->side, cells = (double)(1u << key_levels);
    for (uint i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        uint cell[3];
        for (int axis = 0; axis < 3; ++axis) {
            double c = (points[3 * (ulong64)i + axis] - tree->corner[axis]) * inverse_side * cells;
            cell[axis] = min((uint)max(c, 0.0), (1u << key_levels) - 1);
        }
        ulong64 key = key_of_cell(cell[0], cell[1], cell[2]);
        keys[first + i] = key;
        indices[first + i] = first + i;
        for (uint pass = 0; pass < passes; ++pass) atomicAdd(&local[pass][key >> 8 * pass & (RADIX - 1)], 1u);
    }
    __syncthreads();
    for (uint k = threadIdx.x; k < passes * RADIX; k += blockDim.x) {
        uint value = (&local[0][0])[k];
        if (value) atomicAdd(&histograms[k], value);
    }
}

// The number of leading levels in which two keys agree.
__device__ __forceinline__ int common_levels(ulong64 a, ulong64 b, uint key_levels) {
    if (a == b) return key_levels;
    return key_levels - 1 - (63 - __clzll(a ^ b)) / 3;
}

// The number of occupied boxes of each level.
extern "C" __global__ void occupancy(const ulong64 *__restrict__ keys, uint count, uint key_levels, Tree *tree) {
    __shared__ uint first_at[LEVELS + 2];
    if (threadIdx.x < LEVELS + 2) first_at[threadIdx.x] = 0;
    __syncthreads();
    for (uint i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        int level = i == 0 ? 0 : common_levels(keys[i - 1], keys[i], key_levels) + 1;
        atomicAdd(&first_at[level], 1u);
    }
    __syncthreads();
    // A point that is the first of its box at one level is the first at all finer levels.
    if (threadIdx.x <= key_levels) {
        uint sum = 0;
        for (uint level = 0; level <= threadIdx.x; ++level) sum += first_at[level];
        if (sum) atomicAdd(&tree->occupied[threadIdx.x], sum);
    }
}

// Leaves start at the finest level whose boxes hold `leaf_mean` points on average: coarse leaves next to crowded boxes
// would interact with all their points by pairs. One thread.
extern "C" __global__ void choose_min_level(uint count, double leaf_mean, uint key_levels, Tree *tree) {
    uint level = 0;
    while (level < tree->max_level && tree->occupied[level + 1] * leaf_mean <= 1.15 * count) ++level;
    tree->min_level = level;
}

// The levels of the boxes whose first point is `i`: first..=last, empty if first > last.
//
// A box of level l exists if its parent holds more than `limit` points or is above the coarsest level of leaves. It
// starts at i if the keys of i and i - 1 differ in their first l levels. Keys are sorted, so a box holds more than
// `limit` points if the point at i + `limit` has the same key up to that level.
struct Levels {
    int first, last;
};

__device__ Levels levels_at(const ulong64 *__restrict__ keys, uint count, uint i, uint key_levels, const Tree *tree, uint limit) {
    int max_level = tree->max_level, min_level = tree->min_level;
    ulong64 key = keys[i];
    int first = i == 0 ? 0 : common_levels(keys[i - 1], key, key_levels) + 1;
    if (first > max_level) return {1, 0};
    if (first > min_level) {
        // The parent started earlier: find its start to see whether it is cut.
        uint shift = 3 * (key_levels - (first - 1)), low = i > limit ? i - limit : 0, high = i;
        bool cut = low > 0 && keys[low] >> shift == key >> shift;
        if (!cut) {
            while (low < high) {
                uint middle = (low + high) / 2;
                if (keys[middle] >> shift < key >> shift) low = middle + 1; else high = middle;
            }
            cut = (ulong64)low + limit < count && keys[low + limit] >> shift == key >> shift;
        }
        if (!cut) return {1, 0};
    }
    int shared = (ulong64)i + limit < count ? common_levels(key, keys[i + limit], key_levels) : -1;
    return {first, min(max(max(first, min_level), shared + 1), max_level)};
}

// The first index whose key differs from the key of `i` in the first `level` levels.
__device__ uint end_of_box(const ulong64 *__restrict__ keys, uint count, uint i, uint key_levels, uint level) {
    uint shift = 3 * (key_levels - level);
    ulong64 cell = keys[i] >> shift;
    uint low = i + 1, step = 32;
    while ((ulong64)low + step < count && keys[low + step] >> shift == cell) {
        low += step;
        step *= 2;
    }
    uint high = (uint)min((ulong64)low + step, (ulong64)count);
    while (low < high) {
        uint middle = low + (high - low) / 2;
        if (keys[middle] >> shift == cell) low = middle + 1; else high = middle;
    }
    return low;
}

#define BLOCK 1024

// counts[block * (COLUMNS + 1) + column]: the number of boxes of each column that start in the block's points; the
// last column counts the sources among the points.
extern "C" __global__ void __launch_bounds__(BLOCK)
    count_boxes(const ulong64 *__restrict__ keys, const uint *__restrict__ indices, uint count, uint source_count,
                uint key_levels, uint limit, Tree *tree, uint *__restrict__ counts) {
    __shared__ uint local[COLUMNS + 1];
    if (threadIdx.x <= COLUMNS) local[threadIdx.x] = 0;
    __syncthreads();
    uint i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < count) {
        Levels levels = levels_at(keys, count, i, key_levels, tree, limit);
        for (int level = levels.first; level <= levels.last; ++level)
            atomicAdd(&local[8 * level + (keys[i] >> 3 * (key_levels - level) & 7)], 1u);
        if (indices[i] < source_count) atomicAdd(&local[COLUMNS], 1u);
        if (levels.first <= levels.last && levels.last == (int)tree->max_level) {
            uint points = end_of_box(keys, count, i, key_levels, levels.last) - i;
            if (points > limit) {
                atomicMax(&tree->most_points, points);
                if (tree->max_level == key_levels) tree->overfull = 1;
            }
        }
    }
    __syncthreads();
    if (threadIdx.x <= COLUMNS) counts[(ulong64)blockIdx.x * (COLUMNS + 1) + threadIdx.x] = local[threadIdx.x];
}

// Replaces each column of counts by its exclusive sums; the last block to finish computes the starts of the columns.
// One block of RADIX threads per column; `totals` has COLUMNS + 1 entries.
extern "C" __global__ void scan_boxes(uint *__restrict__ counts, uint blocks, uint *totals, Tree *tree) {
    __shared__ uint scratch[8];
    __shared__ uint carried, last;
    if (threadIdx.x == 0) carried = 0;
    __syncthreads();
    for (uint first = 0; first < blocks; first += RADIX) {
        uint at = first + threadIdx.x;
        ulong64 place = (ulong64)at * (COLUMNS + 1) + blockIdx.x;
        uint value = at < blocks ? counts[place] : 0;
        uint before = exclusive_sum(value, scratch);
        uint carry = carried;
        __syncthreads();
        if (at < blocks) counts[place] = carry + before;
        if (threadIdx.x == RADIX - 1) carried = carry + before + value;
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        totals[blockIdx.x] = carried;
        __threadfence();
        last = atomicAdd(&tree->finished, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    uint value = threadIdx.x < COLUMNS ? *(volatile uint *)&totals[threadIdx.x] : 0;
    uint before = exclusive_sum(value, scratch);
    if (threadIdx.x <= COLUMNS) tree->column_start[threadIdx.x] = before;
}

// Writes the boxes that start in the block's points, and sorts sources and targets into tree order: order[k] is the
// caller's index. `before` holds the number of sources before each point.
extern "C" __global__ void __launch_bounds__(BLOCK)
    write_boxes(const ulong64 *__restrict__ keys, const uint *__restrict__ indices, uint count, uint source_count,
                uint key_levels, uint limit, const Tree *__restrict__ tree, const uint *__restrict__ counts,
                ulong64 *__restrict__ box_key, Range *__restrict__ box_points, uint *__restrict__ before,
                uint *__restrict__ source_permutation, uint *__restrict__ target_permutation) {
    __shared__ uint in_warp[32][8];
    uint i = blockIdx.x * BLOCK + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    bool inside = i < count;
    Levels levels = {1, 0};
    if (inside) levels = levels_at(keys, count, i, key_levels, tree, limit);
    const uint *row = counts + (ulong64)blockIdx.x * (COLUMNS + 1);
    for (int level = 0; level <= (int)tree->max_level; ++level) {
        bool starts = levels.first <= level && level <= levels.last;
        if (!__syncthreads_or(starts)) continue;
        uint octant = starts ? keys[i] >> 3 * (key_levels - level) & 7 : 8;
        uint same = __match_any_sync(~0u, octant);
        if (lane < 8) in_warp[warp][lane] = 0;
        __syncwarp();
        if (starts && lane == __ffs(same) - 1) in_warp[warp][octant] = __popc(same);
        __syncthreads();
        if (starts) {
            uint box = tree->column_start[8 * level + octant] + row[8 * level + octant] + __popc(same & ((1u << lane) - 1));
            for (uint w = 0; w < warp; ++w) box += in_warp[w][octant];
            box_key[box] = keys[i] >> 3 * (key_levels - level);
            box_points[box] = {i, end_of_box(keys, count, i, key_levels, level)};
        }
        __syncthreads();
    }
    bool is_source = inside && indices[i] < source_count;
    uint sources = __ballot_sync(~0u, is_source);
    if (lane == 0) in_warp[warp][0] = __popc(sources);
    __syncthreads();
    if (!inside) return;
    uint rank = row[COLUMNS] + __popc(sources & ((1u << lane) - 1));
    for (uint w = 0; w < warp; ++w) rank += in_warp[w][0];
    before[i] = rank;
    if (i == count - 1) before[count] = source_count;
    if (is_source) source_permutation[rank] = indices[i];
    else target_permutation[i - rank] = indices[i] - source_count;
}

// The box of a level with the given key, or -1.
__device__ int find_box(const Tree *__restrict__ tree, const ulong64 *__restrict__ box_key, uint level, ulong64 key) {
    uint column = 8 * level + (key & 7), low = tree->column_start[column], end = tree->column_start[column + 1], high = end;
    while (low < high) {
        uint middle = (low + high) / 2;
        if (box_key[middle] < key) low = middle + 1; else high = middle;
    }
    return low < end && box_key[low] == key ? (int)low : -1;
}

// Parents, children, neighbours and ranges of every box. One warp per box. With `one_set`, the sources are the targets.
extern "C" __global__ void link_boxes(const Tree *__restrict__ tree, uint boxes, const ulong64 *__restrict__ box_key,
                                      const Range *__restrict__ box_points, const uint *__restrict__ before, uint one_set,
                                      uint key_levels, uint limit, Range *__restrict__ sources, Range *__restrict__ targets,
                                      int *__restrict__ parent, int *__restrict__ children, unsigned char *__restrict__ is_leaf,
                                      int *__restrict__ neighbours) {
    uint box = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (box >= boxes) return;
    uint level = level_of(tree, box);
    ulong64 key = box_key[box];
    Range points = box_points[box];
    if (lane < 27) {
        uint x = gather(key) + lane % 3 - 1, y = gather(key >> 1) + lane / 3 % 3 - 1, z = gather(key >> 2) + lane / 9 - 1;
        bool inside = max(x, max(y, z)) < (1u << level);
        neighbours[27 * (ulong64)box + lane] = inside ? find_box(tree, box_key, level, key_of_cell(x, y, z)) : -1;
    }
    if (lane == 27) parent[box] = level == 0 ? -1 : find_box(tree, box_key, level - 1, key >> 3);
    bool cut = (points.end - points.start > limit || level < tree->min_level) && level < tree->max_level;
    if (lane == 29) is_leaf[box] = !cut;
    if (lane < 8) {
        int child = cut ? find_box(tree, box_key, level + 1, key << 3 | lane) : -1;
        if (child >= 0 && !one_set && before[box_points[child].start] == before[box_points[child].end]) child = -1;
        children[8 * (ulong64)box + lane] = child;
    }
    if (lane == 28) {
        if (one_set) {
            sources[box] = targets[box] = points;
        } else {
            sources[box] = {before[points.start], before[points.end]};
            targets[box] = {points.start - before[points.start], points.end - before[points.end]};
        }
    }
}

// Marks the levels at which some box that is cut touches a leaf. One warp per box.
extern "C" __global__ void mark_mixed(uint boxes, const unsigned char *__restrict__ is_leaf,
                                      const int *__restrict__ neighbours, Tree *tree) {
    uint box = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (box >= boxes || is_leaf[box] || lane >= 27) return;
    int other = neighbours[27 * (ulong64)box + lane];
    if (other < 0 || !is_leaf[other]) return;
    uint bit = 1u << level_of(tree, box);
    if (!(tree->mixed & bit)) atomicOr(&tree->mixed, bit);
}
