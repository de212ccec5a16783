// M2M, M2L and L2L as matrix products on tensor cores.
//
// All boxes of a level and octant share every shift, and a shift's mirror images share one matrix: mirroring only
// changes signs of rows and columns. So 56 matrices cover the 316 shifts of M2L, and one each the eight shifts of M2M
// and L2L. A block translates into COLUMNS_PER_BLOCK expansions at once: for every shift it gathers the source
// expansions of its columns into shared memory and multiplies them by the shift's matrix, in tiles of 16 rows. The
// sums stay in registers from the first shift to the last and are written once: no atomics, always the same order. If
// there are few blocks, several divide the shifts of M2L among them (blockIdx.z), and add_slices adds their sums in
// order.
#include "copy.cuh"
#include "matrices.cuh"
#include "steps.cuh"
#include "tensor.cuh"

// The index of the first entry that lane `lane` multiplies in tile `tile` and step `step`.
__device__ __forceinline__ ulong64 fragment_at(uint matrix, uint tile, uint step, uint lane) {
    return (((ulong64)matrix * ROW_TILES + tile) * STEPS + step) * 32 * FRAGMENT + lane * FRAGMENT;
}

__device__ ulong64 entry_at(uint matrix, uint row, uint k) {
    return fragment_at(matrix, row / 16, k / 8, row % 8 * 4 + k % 4) + row % 16 / 8 + 2 * (k % 8 / 4);
}

#define COLUMNS_PER_BLOCK 64
#define CHUNK 32
#define CHUNK_STRIDE (CHUNK + 4) // padded by four to avoid bank conflicts
#define STAGES 3
// The eight warps of a block: FARFIELD_ROW_WARPS parts of the rows times COLUMN_WARPS parts of the columns. A block
// has TILES_PER_BLOCK tiles of rows, assigned to its warps in turn; further rows have separate blocks (blockIdx.y),
// which skip the shifts of low order that do not need them.
#define WARPS 8
#define COLUMN_WARPS (WARPS / FARFIELD_ROW_WARPS)
#define TILES_PER_WARP (COLUMNS_PER_BLOCK / 8 / COLUMN_WARPS)
#define ROWS_PER_WARP FARFIELD_ROWS_PER_WARP
#define TILES_PER_BLOCK (FARFIELD_ROW_WARPS * ROWS_PER_WARP)
// Products per chunk, and how many products ahead matrix entries are loaded: as far as registers allow with two blocks
// per multiprocessor.
#define PRODUCTS (CHUNK / 8 * ROWS_PER_WARP)
#if FARFIELD_DOUBLE
#define AHEAD 2
#else
#define AHEAD 4
#endif

// The shared memory of a block.
template <int STEP_COUNT> struct Shared {
    real tile[STAGES][COLUMNS_PER_BLOCK * CHUNK_STRIDE];
    int source[STEP_COUNT][COLUMNS_PER_BLOCK];
    uint active[192];
    unsigned char bits[STRIDE];
    uint active_count;
};

// The size that the host requests must match.
static_assert(sizeof(Shared<8>) <= FARFIELD_SHARED(8) && sizeof(Shared<MAX_STEPS>) <= FARFIELD_SHARED(MAX_STEPS) &&
                  sizeof(Shared<1>) <= FARFIELD_SHARED(1),
              "Warps::shared_bytes disagrees with Shared");

// `steps` has `step_count` entries for each octant. `orders[level * 16 + class]` is the order of a shift. Expansion
// `stream` of box b starts at (b * streams + stream) * STRIDE. `translations` counts pairs of boxes.
template <Kind KIND>
__device__ __forceinline__ void translate(const Boxes &boxes, const Task *__restrict__ tasks, const Step *__restrict__ steps,
                                          uint step_count, const unsigned char *__restrict__ orders,
                                          const real *__restrict__ table, uint streams, const real *__restrict__ from,
                                          real *__restrict__ to, Slices slices, ulong64 *translations) {
    extern __shared__ int4 shared_memory[];
    typedef Shared<KIND == M2L ? MAX_STEPS : KIND == M2M ? 8 : 1> Memory;
    Memory &memory = *reinterpret_cast<Memory *>(shared_memory);
    auto &tile = memory.tile;
    auto &source = memory.source;
    auto &active = memory.active;
    auto &bits = memory.bits;
    Task task = tasks[blockIdx.x];
    uint columns = task.count * streams, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint first_column = warp % COLUMN_WARPS * (8 * TILES_PER_WARP);
    auto row_tile = [&](int r) { return blockIdx.y * TILES_PER_BLOCK + r * FARFIELD_ROW_WARPS + warp / COLUMN_WARPS; };
    // The number of coefficients of a shift.
    auto coefficients_of = [&](const Step &step) -> uint {
        if (KIND != M2L) return STRIDE;
        uint order = orders[16 * task.level + step.shift_class];
        return min((order + 1) * (order + 1), (uint)STRIDE);
    };
    if (KIND != M2M) steps += task.octant * step_count;
    if (KIND == M2L) {
        uint first = step_count * blockIdx.z / gridDim.z;
        step_count = step_count * (blockIdx.z + 1) / gridDim.z - first;
        steps += first;
        if (blockIdx.z > 0) to = slices.sums + (blockIdx.z - 1) * slices.length;
    }

    for (uint k = threadIdx.x; k < STRIDE; k += 32 * WARPS) bits[k] = mirror_bits(k);
    for (uint k = threadIdx.x; k < step_count * COLUMNS_PER_BLOCK; k += 32 * WARPS) {
        uint column = k % COLUMNS_PER_BLOCK, step = k / COLUMNS_PER_BLOCK;
        int box = column < columns ? source_of<KIND>(boxes, steps[step], task.first + column / streams) : -1;
        source[step][column] = box < 0 ? -1 : (int)(box * streams + column % streams);
    }
    __syncthreads();
    // The active shifts of this block: some column has a source, and some row is needed.
    if (warp == 0) {
        uint found = 0, sources = 0;
        for (uint first = 0; first < step_count; first += 32) {
            uint at = first + lane, here = 0;
            bool any = false;
            Step step = {};
            uint needed = 0;
            if (at < step_count) {
                for (uint column = 0; column < COLUMNS_PER_BLOCK; ++column)
                    here += source[at][(column + lane) % COLUMNS_PER_BLOCK] >= 0;
                step = steps[at];
                needed = coefficients_of(step);
                any = here > 0 && needed > 16 * TILES_PER_BLOCK * blockIdx.y;
            }
            uint which = __ballot_sync(~0u, any);
            if (any) active[found + __popc(which & ((1u << lane) - 1))] = at | step.matrix << 8 | step.mirror << 14 | needed << 17;
            found += __popc(which);
            sources += here;
        }
        for (uint step = 16; step > 0; step /= 2) sources += __shfl_xor_sync(~0u, sources, step);
        if (lane == 0 && blockIdx.y == 0) atomicAdd(translations, (ulong64)(sources / streams));
        if (lane == 0) memory.active_count = found;
    }
    __syncthreads();
    // An active shift: its index, matrix, mirroring and number of coefficients in one word.
    auto step_of = [](uint word) { return word & 255; };
    auto matrix_of = [](uint word) { return word >> 8 & 63; };
    auto mirror_of = [](uint word) { return word >> 14 & 7; };
    auto needed_of = [](uint word) { return word >> 17; };

    real sums[ROWS_PER_WARP][TILES_PER_WARP][4];
#pragma unroll
    for (int r = 0; r < ROWS_PER_WARP; ++r)
#pragma unroll
        for (int t = 0; t < TILES_PER_WARP; ++t)
#pragma unroll
            for (int k = 0; k < 4; ++k) sums[r][t][k] = 0;
    uint g = lane / 4, t4 = lane % 4;
    // The sums are in the mirrored space of the current shift.
    uint mirror = 0;
    auto turn_to = [&](uint next) {
        uint change = mirror ^ next;
        mirror = next;
        if (change == 0) return;
#pragma unroll
        for (int r = 0; r < ROWS_PER_WARP; ++r) {
            uint row = 16 * row_tile(r) + g;
            if (row >= STRIDE) continue;
            uint odd[2] = {__popc(change & bits[row]) & 1u, __popc(change & bits[row + 8]) & 1u};
#pragma unroll
            for (int t = 0; t < TILES_PER_WARP; ++t)
#pragma unroll
                for (int k = 0; k < 4; ++k) sums[r][t][k] = flip_if(sums[r][t][k], odd[k / 2]);
        }
    };

    auto copy_chunk = [&](uint at, uint chunk, uint buffer) {
        const int per_column = CHUNK * sizeof(real) / 16, per_piece = 16 / sizeof(real);
        for (uint k = threadIdx.x; k < COLUMNS_PER_BLOCK * per_column; k += 32 * WARPS) {
            uint column = k / per_column, piece = k % per_column * per_piece;
            int index = source[step_of(active[at])][column];
            bool there = index >= 0 && chunk * CHUNK + piece < STRIDE;
            copy_16_bytes(&tile[buffer][column * CHUNK_STRIDE + piece],
                          there ? from + (ulong64)index * STRIDE + chunk * CHUNK + piece : from, there);
        }
    };

    uint count = memory.active_count;
    // Copies run two chunks ahead of products; a group is committed for every chunk, even beyond the last.
    uint copy_at = 0, copied_chunk = 0, copy_buffer = 0;
    auto copy_next = [&]() {
        if (copy_at < count) {
            copy_chunk(copy_at, copied_chunk, copy_buffer);
            if ((copied_chunk + 1) * CHUNK >= needed_of(active[copy_at])) {
                ++copy_at;
                copied_chunk = 0;
            } else {
                ++copied_chunk;
            }
            copy_buffer = copy_buffer == STAGES - 1 ? 0 : copy_buffer + 1;
        }
        asm volatile("cp.async.commit_group;");
    };
    copy_next();
    copy_next();

    // A chunk in the tensor cores; its product p is step p / ROWS_PER_WARP, row tile p % ROWS_PER_WARP.
    struct Chunk {
        uint at, first, needed, word;
    };
    auto chunk_at = [&](uint at, uint first) {
        uint word = at < count ? active[at] : 0;
        return Chunk{at, first, needed_of(word), word};
    };
    auto works = [&](const Chunk &chunk, int p) {
        return chunk.first + 8 * (p / ROWS_PER_WARP) < chunk.needed && 16 * row_tile(p % ROWS_PER_WARP) < chunk.needed;
    };
    auto load = [&](Fragment &to, const Chunk &chunk, int p) {
        if (works(chunk, p)) {
            uint step = chunk.first / 8 + p / ROWS_PER_WARP;
            to = load_fragment(table + fragment_at(matrix_of(chunk.word), row_tile(p % ROWS_PER_WARP), step, lane));
        }
    };
    // Tensor cores truncate their single-precision sums. So they only add the products of one shift; shifts are added
    // with rounding.
#if FARFIELD_DOUBLE
    auto &parts = sums;
#else
    real parts[ROWS_PER_WARP][TILES_PER_WARP][4] = {};
#endif
    Fragment ahead[AHEAD];
    Chunk chunk = chunk_at(0, 0);
#pragma unroll
    for (int p = 0; p < AHEAD; ++p) load(ahead[p], chunk, p);
    uint buffer = 0;
    while (chunk.at < count) {
        if (chunk.first == 0) turn_to(mirror_of(chunk.word));
        bool last = chunk.first + CHUNK >= chunk.needed;
        Chunk next = chunk_at(last ? chunk.at + 1 : chunk.at, last ? 0 : chunk.first + CHUNK);
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
        __syncthreads();
        copy_next();
        const real *values = memory.tile[buffer] + (first_column + g) * CHUNK_STRIDE + t4;
        buffer = buffer == STAGES - 1 ? 0 : buffer + 1;
        // No row of this warp is needed: only load ahead.
        if (16 * row_tile(0) >= chunk.needed) {
#pragma unroll
            for (int p = 0; p < AHEAD; ++p) load(ahead[p], next, p);
            chunk = next;
            continue;
        }
        real b[TILES_PER_WARP][2];
#pragma unroll
        for (int p = 0; p < PRODUCTS; ++p) {
            const int k = 8 * (p / ROWS_PER_WARP), r = p % ROWS_PER_WARP;
            if (r == 0 && chunk.first + k < chunk.needed) {
                uint low = __popc(mirror & bits[chunk.first + k + t4]) & 1;
                uint high = __popc(mirror & bits[chunk.first + k + t4 + 4]) & 1;
#pragma unroll
                for (int t = 0; t < TILES_PER_WARP; ++t) {
                    b[t][0] = flip_if(values[8 * t * CHUNK_STRIDE + k], low);
                    b[t][1] = flip_if(values[8 * t * CHUNK_STRIDE + k + 4], high);
                }
            }
            if (works(chunk, p))
#pragma unroll
                for (int t = 0; t < TILES_PER_WARP; ++t) multiply(parts[r][t], ahead[p % AHEAD], b[t][0], b[t][1]);
            if (p + AHEAD < PRODUCTS) load(ahead[p % AHEAD], chunk, p + AHEAD);
            else load(ahead[p % AHEAD], next, p + AHEAD - PRODUCTS);
        }
#if !FARFIELD_DOUBLE
        if (last)
#pragma unroll
            for (int r = 0; r < ROWS_PER_WARP; ++r)
#pragma unroll
                for (int t = 0; t < TILES_PER_WARP; ++t)
#pragma unroll
                    for (int k = 0; k < 4; ++k) {
                        sums[r][t][k] += parts[r][t][k];
                        parts[r][t][k] = 0;
                    }
#endif
        chunk = next;
    }
    turn_to(0);
#pragma unroll
    for (int r = 0; r < ROWS_PER_WARP; ++r) {
        uint row = 16 * row_tile(r) + g;
        if (row >= STRIDE) continue;
#pragma unroll
        for (int t = 0; t < TILES_PER_WARP; ++t)
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                uint column = first_column + 8 * t + 2 * t4 + k % 2;
                if (column >= columns) continue;
                real *out = to + ((ulong64)task.first * streams + column) * STRIDE + row + 8 * (k / 2);
                if (KIND == L2L) *out += sums[r][t][k];
                // The multipole of a leaf comes from its sources.
                else if (KIND == M2L || !boxes.is_leaf[task.first + column / streams]) *out = sums[r][t][k];
            }
    }
}

#define TRANSLATION(name, KIND)                                                                                             \
    extern "C" __global__ void __launch_bounds__(32 * WARPS, 2)                                                             \
        name(Boxes boxes, const Task *tasks, const Step *steps, uint step_count, const unsigned char *orders,               \
             const real *table, uint streams, const real *from, real *to, Slices slices, ulong64 *translations) {           \
        translate<KIND>(boxes, tasks, steps, step_count, orders, table, streams, from, to, slices, translations);           \
    }

TRANSLATION(m2m, M2M)
TRANSLATION(m2l, M2L)
TRANSLATION(l2l, L2L)

// Adds the sums of all other slices to those of the first, from index `first` on.
extern "C" __global__ void add_slices(real *__restrict__ to, Slices slices, uint count, ulong64 first) {
    ulong64 at = first + blockIdx.x * (ulong64)blockDim.x + threadIdx.x;
    if (at >= slices.length) return;
    real sum = to[at];
    for (uint slice = 0; slice + 1 < count; ++slice) sum += slices.sums[slice * slices.length + at];
    to[at] = sum;
}
