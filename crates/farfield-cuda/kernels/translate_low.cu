// M2M, M2L and L2L of low orders in single precision, where all rows of an expansion fit the registers of a warp.
//
// As in translate.cu, boxes of a level and octant share every shift, and translations are products on tensor cores.
// Here a warp holds the sums of 8 TILES target expansions and processes its shifts independently of other warps: it
// reads source expansions and matrices directly into registers, one piece ahead. The warps of a block have the same
// targets and divide the shifts among them; their sums are added in order at the end. Every shift has its own matrix,
// so that nothing is mirrored: at these orders all 332 matrices stay in the second-level cache.
//
// The tensor cores accumulate the sums and truncate them to single precision. That costs a relative error of about
// 3e-5, which low orders exceed anyway.
//
// Constants: FARFIELD_ORDER, FARFIELD_TILES of 8 target expansions per warp, FARFIELD_GROUPS and FARFIELD_MANY_GROUPS,
// the warps per block of M2L if there are many targets and if there are few.
#include "matrices.cuh"
#include "steps.cuh"
#include "tensor.cuh"

#define TILES FARFIELD_TILES
#define WARP_COLUMNS (8 * TILES)

// A lane reads four consecutive coefficients of an expansion at once: a piece of 16 coefficients takes two products.
// Lane 4 g + t multiplies coefficients 4 t and 4 t + 1 of a piece in the first, and 4 t + 2 and 4 t + 3 in the second.
__device__ __forceinline__ ulong64 fragment_at(uint matrix, uint tile, uint piece, uint half, uint lane) {
    return ((((ulong64)matrix * ROW_TILES + tile) * ROW_TILES + piece) * 2 + half) * 32 * FRAGMENT + lane * FRAGMENT;
}

__device__ ulong64 entry_at(uint matrix, uint row, uint k) {
    return fragment_at(matrix, row / 16, k / 16, k % 4 / 2, row % 8 * 4 + k % 16 / 4) + row % 16 / 8 + 2 * (k % 2);
}

// The expansion of missing boxes: zeros.
__device__ float4 nothing[STRIDE / 4];

// A shift that has sources: its matrix, and its number of pieces of 16 coefficients.
struct Active {
    uint matrix_and_pieces;
    __device__ uint matrix() const { return matrix_and_pieces & 0xffff; }
    __device__ uint pieces() const { return matrix_and_pieces >> 16; }
};

// The part of a number that TF32 does not represent: tensor cores ignore the last 13 bits.
__device__ __forceinline__ uint low_part(float value) {
    return __float_as_uint(value - __uint_as_float(__float_as_uint(value) & 0xffffe000u));
}

template <int GROUPS, int SHIFTS> struct Shared {
    static const int PER_GROUP = (SHIFTS + GROUPS - 1) / GROUPS;
    union {
        struct {
            int source[GROUPS][PER_GROUP][WARP_COLUMNS];
            Active active[GROUPS][PER_GROUP];
        };
        float sums[GROUPS][WARP_COLUMNS][17];
    };
};

// Finds the warp's shifts that have sources; returns their number, and adds the number of source boxes to
// `translations`.
template <Kind KIND, int GROUPS, int SHIFTS>
__device__ uint find_active(Shared<GROUPS, SHIFTS> &memory, const Boxes &boxes, const Task &task, const Step *__restrict__ steps,
                            const unsigned char *__restrict__ orders, uint streams, ulong64 *translations) {
    uint lane = threadIdx.x % 32, group = threadIdx.x / 32, found = 0, sources = 0;
    bool inside = lane < task.count * streams;
    uint box = task.first + lane / streams;
    const int BATCH = 4; // look-ups in flight
    for (int first = 0; first < Shared<GROUPS, SHIFTS>::PER_GROUP; first += BATCH) {
        int source[BATCH];
        Step step[BATCH];
#pragma unroll
        for (int k = 0; k < BATCH; ++k) {
            uint at = group + (first + k) * GROUPS;
            source[k] = -1;
            if (at < SHIFTS) {
                step[k] = steps[at];
                if (inside) source[k] = source_of<KIND>(boxes, step[k], box);
            }
        }
#pragma unroll
        for (int k = 0; k < BATCH; ++k) {
            uint columns = __ballot_sync(~0u, source[k] >= 0);
            if (columns == 0) continue;
            uint order = KIND == M2L ? orders[16 * task.level + step[k].shift_class] : ORDER;
            uint pieces = min((order + 1) * (order + 1) + 15, (uint)STRIDE) / 16;
            if (lane < WARP_COLUMNS) memory.source[group][found][lane] = source[k] < 0 ? -1 : int(source[k] * streams + lane % streams);
            if (lane == 0) memory.active[group][found] = {step[k].matrix | pieces << 16};
            ++found;
            sources += __popc(columns);
        }
    }
    if (lane == 0) atomicAdd(translations, (ulong64)(sources / streams));
    __syncwarp();
    return found;
}

// A piece of the expansions of a warp's columns, distributed over the lanes.
struct Piece {
    float4 values[TILES];
};

// `steps` has SHIFTS entries for each octant. `orders[level * 16 + class]` is the order of a shift. Expansion `stream`
// of box b starts at (b * streams + stream) * STRIDE. `translations` counts pairs of boxes.
template <Kind KIND, int GROUPS, int SHIFTS>
__device__ __forceinline__ void translate(const Boxes &boxes, const Task *__restrict__ tasks, const Step *__restrict__ steps,
                                          const unsigned char *__restrict__ orders, const float *__restrict__ table, uint streams,
                                          const float *from, float *to, ulong64 *translations) {
    __shared__ Shared<GROUPS, SHIFTS> memory;
    Task task = tasks[blockIdx.x];
    uint lane = threadIdx.x % 32, group = threadIdx.x / 32, g = lane / 4, t4 = lane % 4;
    if (KIND != M2M) steps += task.octant * SHIFTS;
    uint count = find_active<KIND>(memory, boxes, task, steps, orders, streams, translations);

    auto load_piece = [&](uint at, uint piece) {
        Piece result;
#pragma unroll
        for (int t = 0; t < TILES; ++t) {
            int index = memory.source[group][at][8 * t + g];
            const float4 *values = index < 0 ? nothing : reinterpret_cast<const float4 *>(from + (ulong64)index * STRIDE);
            result.values[t] = values[4 * piece + t4];
        }
        return result;
    };
    float sums[ROW_TILES][TILES][4] = {};
    uint at = 0, piece = 0;
    Piece ahead;
    Fragment fragments[2];
    auto load_fragments = [&](uint matrix, uint row, uint piece) {
        const float *from = table + fragment_at(matrix, row, piece, 0, lane);
        fragments[0] = load_fragment(from);
        fragments[1] = load_fragment(from + 32 * FRAGMENT);
    };
    if (count > 0) {
        ahead = load_piece(0, 0);
        load_fragments(memory.active[group][0].matrix(), 0, 0);
    }
    while (at < count) {
        const Active active = memory.active[group][at];
        uint this_piece = piece;
        uint high[TILES][2][2], low[TILES][2][2];
#pragma unroll
        for (int t = 0; t < TILES; ++t) {
            const float values[4] = {ahead.values[t].x, ahead.values[t].y, ahead.values[t].z, ahead.values[t].w};
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                high[t][k / 2][k % 2] = __float_as_uint(values[k]);
                low[t][k / 2][k % 2] = low_part(values[k]);
            }
        }
        if (++piece == active.pieces()) {
            piece = 0;
            ++at;
        }
        if (at < count) ahead = load_piece(at, piece);
#pragma unroll
        for (int row = 0; row < ROW_TILES; ++row) {
            if (row >= active.pieces()) break;
            uint a_high[2][4], a_low[2][4];
#pragma unroll
            for (int half = 0; half < 2; ++half)
#pragma unroll
                for (int k = 0; k < 4; ++k) {
                    a_high[half][k] = __float_as_uint(fragments[half].a[k]);
                    a_low[half][k] = low_part(fragments[half].a[k]);
                }
            if (row + 1 < active.pieces()) load_fragments(active.matrix(), row + 1, this_piece);
            else if (at < count) load_fragments(memory.active[group][at].matrix(), 0, piece);
            // The small terms first; tiles in turn, so that no product waits for the previous one.
#pragma unroll
            for (int half = 0; half < 2; ++half)
#pragma unroll
                for (int part = 0; part < 3; ++part)
#pragma unroll
                    for (int t = 0; t < TILES; ++t)
                        tf32_product(sums[row][t], part == 0 ? a_low[half] : a_high[half], part == 1 ? low[t][half] : high[t][half]);
        }
    }

    // Add the sums of the warps, one tile of rows at a time.
    uint columns = task.count * streams;
#pragma unroll
    for (int row = 0; row < ROW_TILES; ++row) {
        __syncthreads();
#pragma unroll
        for (int t = 0; t < TILES; ++t)
#pragma unroll
            for (int k = 0; k < 4; ++k) memory.sums[group][8 * t + 2 * t4 + k % 2][g + 8 * (k / 2)] = sums[row][t][k];
        __syncthreads();
        for (uint k = threadIdx.x; k < 16 * columns; k += 32 * GROUPS) {
            uint column = k / 16, line = k % 16;
            float sum = 0;
            for (int other = 0; other < GROUPS; ++other) sum += memory.sums[other][column][line];
            float *out = to + ((ulong64)task.first * streams + column) * STRIDE + 16 * row + line;
            if (KIND == L2L) *out += sum;
            // The multipole of a leaf comes from its sources.
            else if (KIND == M2L || !boxes.is_leaf[task.first + column / streams]) *out = sum;
        }
    }
}

// The number of warps per multiprocessor that the registers allow.
#define RESIDENT_WARPS (ROW_TILES <= 3 ? 16 : 12)

#define TRANSLATION(name, KIND, GROUPS, SHIFTS)                                                                              \
    extern "C" __global__ void __launch_bounds__(32 * GROUPS, RESIDENT_WARPS / GROUPS)                                      \
        name(Boxes boxes, const Task *tasks, const Step *steps, uint, const unsigned char *orders, const float *table,      \
             uint streams, const float *from, float *to, Slices, ulong64 *translations) {                                   \
        translate<KIND, GROUPS, SHIFTS>(boxes, tasks, steps, orders, table, streams, from, to, translations);               \
    }

TRANSLATION(m2m, M2M, 8, 8)
TRANSLATION(m2l, M2L, FARFIELD_GROUPS, MAX_STEPS)
TRANSLATION(m2l_few, M2L, FARFIELD_MANY_GROUPS, MAX_STEPS)
TRANSLATION(l2l, L2L, 1, 1)
