// M2M, M2L and L2L as matrix products on tensor cores.
//
// All boxes of a level and octant share every shift, and a shift's mirror images share one matrix: mirroring only
// changes signs of rows and columns. So 56 matrices serve the 316 shifts of M2L, and one each the eight of M2M and L2L.
// A block translates into COLUMNS_PER_BLOCK expansions at once: for every shift it gathers the source expansions of its
// columns into shared memory and multiplies them by the shift's matrix, in tiles of 16 rows. The sums stay in
// registers from the first shift to the last and are written once: no atomics, always the same order.
//
// Single precision is split into two numbers of 11 bits each, a = a_hi + a_lo, and a b = a_hi b_hi + a_hi b_lo + a_lo b_hi:
// three products on the TF32 units are as good as one in single precision.
#include "expansion.cuh"
#include "tree.cuh"

// ---- the matrices ----------------------------------------------------------------------------------------------------

// Matrix 0 is M2M into the octant at positive x, y, z, matrix 1 L2L out of it, the others are M2L.
#define M2M_MATRIX 0
#define L2L_MATRIX 1
#define FIRST_M2L_MATRIX 2

#define FRAGMENT 4

// Where the entries of tile `tile` and step `step` start that lane `lane` multiplies.
__device__ __forceinline__ ulong64 fragment_at(uint matrix, uint tile, uint step, uint lane) {
    return (((ulong64)matrix * ROW_TILES + tile) * STEPS + step) * 32 * FRAGMENT + lane * FRAGMENT;
}

// The part of a number that TF32 holds.
__device__ __forceinline__ float tf32_of(float value) {
    uint bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
    return __uint_as_float(bits);
}

// kappa_nm = sqrt(eps_m (n-m)! (n+m)!), eps_0 = 1, else 2: its logarithm. R = kappa R^ and I = eps/kappa I^ for the
// complex harmonics R^, I^ whose addition theorems have no factors.
__device__ __forceinline__ double ln_kappa(const double *ln_factorial, int n, int m) {
    return 0.5 * ((m == 0 ? 0.0 : 0.69314718055994530942) + ln_factorial[n - m] + ln_factorial[n + m]);
}

// Real and imaginary part of the complex harmonic of degree n and order m (also negative) from the real ones, times
// exp(ln_scale); `sign` is that of ln_kappa in its normalisation: 1 for I^, -1 for R^.
__device__ void complex_harmonic(const double *values, const double *ln_factorial, int n, int m, int sign, double ln_scale,
                                 double &re, double &im) {
    int a = abs(m);
    re = im = 0;
    if (n < a) return;
    double factor = exp(sign * ln_kappa(ln_factorial, n, a) + ln_scale) / (sign > 0 && a > 0 ? 2 : 1);
    re = values[cosine(n, a)] * factor;
    im = a > 0 ? values[sine(n, a)] * factor : 0;
    if (m < 0) {
        double alternate = a % 2 == 0 ? 1 : -1;
        re *= alternate;
        im *= -alternate;
    }
}

// The coefficient of R_row(x) in I_column(X + x); `irregular` holds all I(X) up to twice the order.
__device__ double m2l_entry(const double *irregular, const double *ln_factorial, int row, int column) {
    int n, m, k, l;
    bool row_sine, column_sine;
    decode(row, n, m, row_sine);
    decode(column, k, l, column_sine);
    double ln_scale = -ln_kappa(ln_factorial, k, l) - ln_kappa(ln_factorial, n, m);
    double factor = (n % 2 == 0 ? 1 : -1) * (l == 0 ? 1 : 2);
    double up, vp, um, vm, alternate = m % 2 == 0 ? 1 : -1;
    complex_harmonic(irregular, ln_factorial, n + k, l + m, 1, ln_scale, up, vp);
    if (m == 0) return factor * (column_sine ? vp : up);
    complex_harmonic(irregular, ln_factorial, n + k, l - m, 1, ln_scale, um, vm);
    if (!row_sine) return factor * (column_sine ? vp + alternate * vm : up + alternate * um);
    return factor * (column_sine ? alternate * um - up : vp - alternate * vm);
}

// The coefficient of R_column(y) in R_row(y + b); `regular` holds all R(b).
__device__ double shift_entry(const double *regular, const double *ln_factorial, int row, int column) {
    int n, m, k, l;
    bool row_sine, column_sine;
    decode(row, n, m, row_sine);
    decode(column, k, l, column_sine);
    if (k > n) return 0;
    double ln_scale = ln_kappa(ln_factorial, n, m) - ln_kappa(ln_factorial, k, l);
    double pm, qm, pp, qp, alternate = l % 2 == 0 ? 1 : -1;
    complex_harmonic(regular, ln_factorial, n - k, m - l, -1, ln_scale, pm, qm);
    if (l == 0) return row_sine ? qm : pm;
    complex_harmonic(regular, ln_factorial, n - k, m + l, -1, ln_scale, pp, qp);
    if (!row_sine) return column_sine ? alternate * qp - qm : pm + alternate * pp;
    return column_sine ? pm - alternate * pp : qm + alternate * qp;
}

// Fills all matrices, one thread per entry. `harmonics` holds for each matrix the values its shift needs,
// (2 ORDER + 1)^2 numbers each: R of the octant's centre (in sides of the parent) for M2M and L2L, I of the shift (in
// sides) for M2L.
extern "C" __global__ void build_matrices(const double *__restrict__ harmonics, const double *__restrict__ ln_factorial,
                                          uint matrices, real *__restrict__ table) {
    ulong64 thread = (ulong64)blockIdx.x * blockDim.x + threadIdx.x;
    uint k = thread % STRIDE, row = thread / STRIDE % STRIDE, matrix = thread / STRIDE / STRIDE;
    if (matrix >= matrices) return;
    const double *values = harmonics + (ulong64)matrix * (2 * ORDER + 1) * (2 * ORDER + 1);
    double entry = 0;
    if (row < COEFFICIENTS && k < COEFFICIENTS) {
        // Children are half as large: degree j of their multipoles shrinks by 2^-j, and L2L is half the transpose.
        if (matrix == M2M_MATRIX) {
            entry = shift_entry(values, ln_factorial, row, k);
            int n, m;
            bool is_sine;
            decode(k, n, m, is_sine);
            entry = ldexp(entry, -n);
        } else if (matrix == L2L_MATRIX) {
            entry = shift_entry(values, ln_factorial, k, row);
            int n, m;
            bool is_sine;
            decode(row, n, m, is_sine);
            entry = ldexp(entry, -n - 1);
        } else {
            entry = m2l_entry(values, ln_factorial, row, k);
        }
    }
    // Lane 4 g + t holds rows g and g + 8 of columns t and t + 4.
    uint lane = row % 8 * 4 + k % 4, place = row % 16 / 8 + 2 * (k % 8 / 4);
    ulong64 at = fragment_at(matrix, row / 16, k / 8, lane) + place;
    table[at] = (real)entry;
}

// ---- one tile product ------------------------------------------------------------------------------------------------

struct Fragment {
    real a[FRAGMENT];
};

// c (16 x 8) += a (16 x 8) b (8 x 8); the lane holds b[0] of row t and b[1] of row t + 4, column g.
__device__ __forceinline__ void multiply(real (&c)[4], const Fragment &f, real b0, real b1) {
#if FARFIELD_DOUBLE
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(f.a[0]), "d"(f.a[1]), "d"(f.a[2]), "d"(f.a[3]), "d"(b0), "d"(b1));
#else
    for (int half = 0; half < 2; ++half)
        for (int part = 0; part < 2; ++part)
            asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                : "+d"(c[2 * half]), "+d"(c[2 * half + 1])
                : "d"(f.a[half + 2 * part]), "d"(part == 0 ? b0 : b1));
#endif
#else
    auto product = [&](const float *a, const float *b) {
        asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])), "r"(__float_as_uint(a[3])),
              "r"(__float_as_uint(b[0])), "r"(__float_as_uint(b[1])));
    };
    float a_high[4], a_low[4], b_high[2] = {tf32_of(b0), tf32_of(b1)};
    float b_low[2] = {tf32_of(b0 - b_high[0]), tf32_of(b1 - b_high[1])};
    for (int i = 0; i < 4; ++i) {
        a_high[i] = tf32_of(f.a[i]);
        a_low[i] = tf32_of(f.a[i] - a_high[i]);
    }
    // The small parts first.
    product(a_low, b_high);
    product(a_high, b_low);
    product(a_high, b_high);
#endif
}

__device__ __forceinline__ Fragment load_fragment(const real *__restrict__ table, ulong64 at) {
    Fragment f;
    const int4 *from = reinterpret_cast<const int4 *>(table + at);
    int4 words[sizeof(Fragment) / 16];
#pragma unroll
    for (int k = 0; k < sizeof(Fragment) / 16; ++k) words[k] = __ldg(from + k);
    memcpy(&f, words, sizeof f);
    return f;
}

// ---- the translations ------------------------------------------------------------------------------------------------

#define COLUMNS_PER_BLOCK 64
#define CHUNK 32
#define CHUNK_STRIDE (CHUNK + 4) // four more: no two lanes of a product meet in a bank
#define STAGES 3
// A block's eight warps: FARFIELD_ROW_WARPS parts of the rows times COLUMN_WARPS parts of the columns. A block has
// TILES_PER_BLOCK tiles of rows, dealt out to its warps in turn; further rows have blocks of their own (blockIdx.y), which
// skip the shifts of low order that do not need them.
#define WARPS 8
#define COLUMN_WARPS (WARPS / FARFIELD_ROW_WARPS)
#define TILES_PER_WARP (COLUMNS_PER_BLOCK / 8 / COLUMN_WARPS)
#define ROWS_PER_WARP FARFIELD_ROWS_PER_WARP
#define TILES_PER_BLOCK (FARFIELD_ROW_WARPS * ROWS_PER_WARP)
// Products of a chunk, and how many of them ahead their matrix entries are loaded: as far as registers allow two blocks
// on a multiprocessor.
#define PRODUCTS (CHUNK / 8 * ROWS_PER_WARP)
#if FARFIELD_DOUBLE
#define AHEAD 2
#else
#define AHEAD 4
#endif
#define MAX_STEPS 189

// One shift: where the source is, which matrix, mirrored how.
struct Step {
    unsigned char neighbour; // M2L: which of the parent's 27 neighbours
    unsigned char child;     // M2L, M2M: which of its children
    unsigned char matrix;
    unsigned char mirror;    // bits x, y, z
    unsigned char shift_class;
    unsigned char unused[3];
};

// Target boxes of one block: `count` of them from `first` on, of one column.
struct Task {
    uint first, count, level, octant;
};

__device__ __forceinline__ void copy_16_bytes(void *to, const void *from, bool there) {
    uint address = (uint)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(there ? 16 : 0));
}

enum Kind { M2M, M2L, L2L };

// A block's shared memory.
template <int STEP_COUNT> struct Shared {
    real tile[STAGES][COLUMNS_PER_BLOCK * CHUNK_STRIDE];
    int source[STEP_COUNT][COLUMNS_PER_BLOCK];
    uint active[192];
    unsigned char bits[STRIDE];
    uint active_count;
};

// The host asks for as much as it thinks a block needs.
static_assert(sizeof(Shared<8>) <= FARFIELD_SHARED(8) && sizeof(Shared<MAX_STEPS>) <= FARFIELD_SHARED(MAX_STEPS) &&
                  sizeof(Shared<1>) <= FARFIELD_SHARED(1),
              "Warps::shared_bytes disagrees with Shared");

// The source of `step` for target box `box`, or -1.
template <Kind KIND>
__device__ __forceinline__ int source_of(const Boxes &boxes, const Step &step, uint box) {
    if (KIND == L2L) return boxes.parent[box];
    if (KIND == M2M) return boxes.children[8 * (ulong64)box + step.child];
    int neighbour = boxes.neighbours[27 * (ulong64)boxes.parent[box] + step.neighbour];
    return neighbour < 0 ? -1 : boxes.children[8 * (ulong64)neighbour + step.child];
}

// `steps` has `step_count` entries for each octant. `orders[level * 16 + class]` is the degree up to which a shift works.
// Expansion `stream` of box b starts at (b * streams + stream) * STRIDE.
template <Kind KIND>
__device__ __forceinline__ void translate(const Boxes &boxes, const Task *__restrict__ tasks, const Step *__restrict__ steps,
                                          uint step_count, const unsigned char *__restrict__ orders,
                                          const real *__restrict__ table, uint streams, const real *__restrict__ from,
                                          real *__restrict__ to) {
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
    // How many coefficients a shift needs.
    auto coefficients_of = [&](const Step &step) -> uint {
        if (KIND != M2L) return STRIDE;
        uint order = orders[16 * task.level + step.shift_class];
        return min((order + 1) * (order + 1), (uint)STRIDE);
    };
    if (KIND != M2M) steps += task.octant * step_count;

    for (uint k = threadIdx.x; k < STRIDE; k += 32 * WARPS) bits[k] = mirror_bits(k);
    for (uint k = threadIdx.x; k < step_count * COLUMNS_PER_BLOCK; k += 32 * WARPS) {
        uint column = k % COLUMNS_PER_BLOCK, step = k / COLUMNS_PER_BLOCK;
        int box = column < columns ? source_of<KIND>(boxes, steps[step], task.first + column / streams) : -1;
        source[step][column] = box < 0 ? -1 : (int)(box * streams + column % streams);
    }
    __syncthreads();
    // The shifts that matter to this block: some column has a source, and some row is needed.
    if (warp == 0) {
        uint found = 0;
        for (uint first = 0; first < step_count; first += 32) {
            uint at = first + lane;
            bool any = false;
            Step step = {};
            uint needed = 0;
            if (at < step_count) {
                for (uint column = 0; column < COLUMNS_PER_BLOCK; ++column)
                    any |= source[at][(column + lane) % COLUMNS_PER_BLOCK] >= 0;
                step = steps[at];
                needed = coefficients_of(step);
                any = any && needed > 16 * TILES_PER_BLOCK * blockIdx.y;
            }
            uint which = __ballot_sync(~0u, any);
            if (any) active[found + __popc(which & ((1u << lane) - 1))] = at | step.matrix << 8 | step.mirror << 14 | needed << 17;
            found += __popc(which);
        }
        if (lane == 0) memory.active_count = found;
    }
    __syncthreads();
    // An active shift: its number, matrix, mirror and coefficients in one word.
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
    // The sums are those of the mirrored space of the current shift.
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
    // Copies run two chunks ahead of products; a group is committed for every chunk, also beyond the last.
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

    // A chunk on its way through the tensor cores; product p of it is step p / ROWS_PER_WARP, row tile p % ROWS_PER_WARP.
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
            to = load_fragment(table, fragment_at(matrix_of(chunk.word), row_tile(p % ROWS_PER_WARP), step, lane));
        }
    };
    // Tensor cores cut off what their single-precision sums cannot hold: only a shift's products are added there, shifts
    // are added with rounding.
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
        // No row of this warp is needed: only look ahead.
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
                // A leaf's multipole is that of its sources.
                else if (KIND == M2L || !boxes.is_leaf[task.first + column / streams]) *out = sums[r][t][k];
            }
    }
}

#define TRANSLATION(name, KIND)                                                                                             \
    extern "C" __global__ void __launch_bounds__(32 * WARPS, 2)                                                             \
        name(Boxes boxes, const Task *tasks, const Step *steps, uint step_count, const unsigned char *orders,               \
             const real *table, uint streams, const real *from, real *to) {                                                 \
        translate<KIND>(boxes, tasks, steps, step_count, orders, table, streams, from, to);                                 \
    }

TRANSLATION(m2m, M2M)
TRANSLATION(m2l, M2L)
TRANSLATION(l2l, L2L)
