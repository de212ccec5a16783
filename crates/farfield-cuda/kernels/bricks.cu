// Sums at the points of bricks: 8^3 points of a regular grid with the same sources and the same expansions.
//
// A block of FARFIELD_THREADS threads handles a brick. A thread has the eight points of one or more of the 64 lines
// along x. The threads are divided into slices, which divide the sources (or the expansions) among them; their sums
// are added in order. Bricks with most work come first, so that the last ones to finish are short.
//
// direct: a pair needs dy^2 + dz^2 once per line and dx^2 once per brick, so that it takes one addition, one
// reciprocal square root and one fused multiply-add with the singular kernel. The reciprocal square roots, 16 per
// clock on a multiprocessor, are the bound.
//
// indirect: an expansion is sum_m (A_m + x B_m) / r^(2m+1); A_m and B_m are polynomials in y and z, computed once per
// line.
#include "real.cuh"

#define SIDE 8
#define LINES (SIDE * SIDE)
#define POINTS (LINES * SIDE)
#define COMPONENTS FARFIELD_COMPONENTS
// Lines per thread, threads per brick, and how many times the threads of a block cover a brick.
#define OWN FARFIELD_LINES
#define COLUMNS (LINES / OWN)
#define SLICES (FARFIELD_THREADS / COLUMNS)

// The contribution of a pair: `BrickPair` of the host.
#define SINGULAR 0
#define REGULARISED 1
#define VELOCITY 2
#define REGULARISED_VELOCITY 3
#define IS_VELOCITY (FARFIELD_PAIR >= VELOCITY)
#define IS_SMOOTH (FARFIELD_PAIR % 2)

// The first point of a brick and the distance between points.
struct Brick {
    double first[3];
    double spacing;
};

// The index of the first sum of a line: block by block of 16^3 points, component by component, x fastest. Eight bricks
// form a block; bit 0 of a brick's number is x, 1 y, 2 z.
__device__ __forceinline__ ulong64 first_of_line(uint brick, uint component, uint line) {
    uint x = (brick & 1) * SIDE, y = (brick >> 1 & 1) * SIDE + line % SIDE, z = (brick >> 2 & 1) * SIDE + line / SIDE;
    return ((ulong64)(brick / 8) * COMPONENTS + component) * (8 * POINTS) + (z * 16 + y) * 16 + x;
}

// The sums of a thread: its points for each component.
struct Sums {
    real of[COMPONENTS][OWN][SIDE];

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int k = 0; k < COMPONENTS * OWN * SIDE; ++k) (&of[0][0][0])[k] = 0;
    }

    __device__ __forceinline__ void add(const Sums &other) {
#pragma unroll
        for (int k = 0; k < COMPONENTS * OWN * SIDE; ++k) (&of[0][0][0])[k] += (&other.of[0][0][0])[k];
    }
};

// Adds the totals of the slices of each component in order, and writes them or, with `add`, adds them to the old
// values. `shared` holds (SLICES - 1) * POINTS values.
__device__ __forceinline__ void finish(const Sums &totals, real *shared, uint brick, uint add,
                                       real *__restrict__ values) {
    uint column = threadIdx.x % COLUMNS, slice = threadIdx.x / COLUMNS;
#pragma unroll
    for (int c = 0; c < COMPONENTS; ++c) {
        __syncthreads();
#pragma unroll
        for (int i = 0; i < OWN; ++i)
#pragma unroll
            for (int x = 0; x < SIDE; ++x)
                if (slice > 0) shared[(slice - 1) * POINTS + x * LINES + i * COLUMNS + column] = totals.of[c][i][x];
        __syncthreads();
        if (slice > 0) continue;
#pragma unroll
        for (int i = 0; i < OWN; ++i) {
            uint line = i * COLUMNS + column;
            real *target = values + first_of_line(brick, c, line);
#pragma unroll
            for (int x = 0; x < SIDE; ++x) {
                real sum = totals.of[c][i][x];
                for (int s = 0; s < SLICES - 1; ++s) sum += shared[s * POINTS + x * LINES + line];
                target[x] = add ? target[x] + sum : sum;
            }
        }
    }
}

#ifdef FARFIELD_PAIR
// Sources from `start` up to `end`; some may be points of the brick if `touching`.
struct Range {
    uint start, end, touching;
};

// A source relative to a brick. `along` has the distances in x to the points of a line, for potentials their squares
// plus epsilon^2; `smoothing` is epsilon^2 for velocities, otherwise half of it, times the weight if there is only one
// component.
struct __align__(16) Source {
    real along[SIDE];
    real y, z, smoothing;
    real weight[COMPONENTS];
};

union DirectMemory {
    Source tile[FARFIELD_THREADS];
    real partial[(SLICES - 1) * POINTS];
};

// The position of a point relative to the brick's first point.
struct Place {
    real y, z[OWN], same_place;
};

template <bool touching>
__device__ __forceinline__ real inverse(real r2, real same_place) {
    real s = inverse_sqrt(r2);
    // A source at a point of the brick is at distance zero up to round-off; any other source is much further away.
    return touching && !(r2 > same_place) ? real(0) : s;
}

template <bool touching>
__device__ __forceinline__ void add_source(const Source &source, const Place &place, Sums &sums) {
    real dy = place.y - source.y, dy2 = IS_SMOOTH && IS_VELOCITY ? fma(dy, dy, source.smoothing) : dy * dy;
    const real *w = source.weight;
#pragma unroll
    for (int i = 0; i < OWN; ++i) {
        real dz = place.z[i] - source.z, across = fma(dz, dz, dy2);
#if IS_VELOCITY
        real cross_x = w[1] * dz - w[2] * dy, first_y = -w[0] * dz, first_z = w[0] * dy;
#endif
#pragma unroll
        for (int x = 0; x < SIDE; ++x) {
#if IS_VELOCITY
            real dx = source.along[x];
            real s = inverse<touching>(fma(dx, dx, across), place.same_place), s2 = s * s, value = s2 * s;
            if (IS_SMOOTH) value = fma(value * s2, real(1.5) * source.smoothing, value);
            sums.of[0][i][x] = fma(cross_x, value, sums.of[0][i][x]);
            sums.of[1][i][x] = fma(fma(w[2], dx, first_y), value, sums.of[1][i][x]);
            sums.of[2][i][x] = fma(fma(-w[1], dx, first_z), value, sums.of[2][i][x]);
#else
            real s = inverse<touching>(across + source.along[x], place.same_place);
            // s (1 + epsilon^2 s^2 / 2)
            if (IS_SMOOTH && COMPONENTS > 1) s = fma(s * s * s, source.smoothing, s);
#pragma unroll
            for (int c = 0; c < COMPONENTS; ++c) {
                real weight = w[c];
                if (IS_SMOOTH && COMPONENTS == 1) weight = fma(s * s, source.smoothing, w[c]);
                sums.of[c][i][x] = fma(weight, s, sums.of[c][i][x]);
            }
#endif
        }
    }
}

// Adds the sources of a slice in the tile. Each tile is summed separately: round-off grows with the number of tiles,
// not of sources.
template <bool touching>
__device__ __forceinline__ void add_tile(const Source *tile, uint slice, uint count, const Place &place, Sums &totals) {
    constexpr int unroll = FARFIELD_UNROLL;
    Sums sums;
    sums.clear();
#pragma unroll unroll
    for (uint j = slice; j < count; j += SLICES) add_source<touching>(tile[j], place, sums);
    totals.add(sums);
}

// Positions and weights are one array per axis and component, `count` values each; the ranges of brick b begin at
// offsets[b].
extern "C" __global__ void __launch_bounds__(FARFIELD_THREADS)
    direct(const real *__restrict__ position, const real *__restrict__ weights, const real *__restrict__ epsilon2,
           uint count, const Brick *__restrict__ bricks, const uint *__restrict__ order,
           const uint *__restrict__ offsets, const Range *__restrict__ ranges, uint add, real *__restrict__ values) {
    __shared__ DirectMemory memory;
    uint brick = order[blockIdx.x];
    uint next = offsets[brick], last = offsets[brick + 1];
    if (next == last && add) return;
    Brick at = bricks[brick];
    real first_x = at.first[0], first_y = at.first[1], first_z = at.first[2], h = at.spacing;
    uint column = threadIdx.x % COLUMNS, slice = threadIdx.x / COLUMNS;
    Place place;
    place.y = h * (column % SIDE);
    place.same_place = real(1e-4) * h * h;
#pragma unroll
    for (int i = 0; i < OWN; ++i) place.z[i] = h * ((i * COLUMNS + column) / SIDE);
    Sums totals;
    totals.clear();
    Range range = {0, 0, 0};
    if (next < last) range = ranges[next];
    while (next < last) {
        __syncthreads();
        // Fill a tile from as many ranges as necessary.
        uint filled = 0, touching = 0;
        while (filled < FARFIELD_THREADS && next < last) {
            uint take = min(FARFIELD_THREADS - filled, range.end - range.start), k = threadIdx.x - filled;
            touching |= range.touching;
            if (k < take) {
                ulong64 j = range.start + k;
                Source source;
                real dx = first_x - position[j], e2 = IS_SMOOTH ? epsilon2[j] : real(0);
#pragma unroll
                for (int x = 0; x < SIDE; ++x) {
                    real along = fma(h, real(x), dx);
                    source.along[x] = IS_VELOCITY ? along : fma(along, along, e2);
                }
                source.y = position[(ulong64)count + j] - first_y;
                source.z = position[2 * (ulong64)count + j] - first_z;
#pragma unroll
                for (int c = 0; c < COMPONENTS; ++c) source.weight[c] = weights[(ulong64)c * count + j];
                source.smoothing = IS_VELOCITY ? e2 : real(0.5) * e2 * (COMPONENTS == 1 ? source.weight[0] : real(1));
                memory.tile[threadIdx.x] = source;
            }
            filled += take;
            range.start += take;
            if (range.start == range.end && ++next < last) range = ranges[next];
        }
        __syncthreads();
        if (touching && !IS_SMOOTH)
            add_tile<true>(memory.tile, slice, filled, place, totals);
        else
            add_tile<false>(memory.tile, slice, filled, place, totals);
    }
    finish(totals, memory.partial, brick, add, values);
}
#endif

#ifdef FARFIELD_ORDER
#define P FARFIELD_ORDER
#define TERMS ((P + 1) * (P + 2) * (P + 3) / 6)
#define PAIRS ((P + 1) * (P + 2) / 2)

// The centre of a node and the unit of length of its expansion.
struct Node {
    double center[3];
    double unit;
};

struct IndirectMemory {
    union {
        real coefficients[SLICES][COMPONENTS * TERMS];
        real partial[(SLICES - 1) * POINTS];
    };
    // For each slice, the brick's first point relative to the node, and the distance between points.
    real first[SLICES][4];
};

__device__ constexpr int pair(int n, int k) { return n * (n + 1) / 2 + k; }

// The index of the term r^(2j) x^b y^l z^(n-k-l), k = 2j + b.
__device__ constexpr int term(int n, int k, int l) { return n * (n + 1) * (n + 2) / 6 + k * (2 * n + 3 - k) / 2 + l; }

static_assert(OWN == 1, "a thread evaluates expansions along one line");

// The nodes of brick b begin at plan[offsets[b]].
extern "C" __global__ void __launch_bounds__(FARFIELD_THREADS)
    indirect(const real *__restrict__ coefficients, const Node *__restrict__ nodes, const Brick *__restrict__ bricks,
             const uint *__restrict__ order, const uint *__restrict__ offsets, const uint *__restrict__ plan, uint add,
             real *__restrict__ values) {
    __shared__ IndirectMemory memory;
    uint brick = order[blockIdx.x];
    uint begin = offsets[brick], last = offsets[brick + 1];
    if (begin == last && add) return;
    Brick at = bricks[brick];
    uint line = threadIdx.x % LINES, slice = threadIdx.x / LINES;
    Sums totals;
    totals.clear();
    for (uint start = begin; start < last; start += SLICES) {
        __syncthreads();
        if (start + slice < last) {
            uint number = plan[start + slice];
            const real *from = coefficients + (ulong64)number * (COMPONENTS * TERMS);
            for (uint k = line; k < COMPONENTS * TERMS; k += LINES) memory.coefficients[slice][k] = from[k];
            if (line < 4) {
                // In double precision, to keep all digits of the result in single precision.
                double scale = 1.0 / nodes[number].unit;
                memory.first[slice][line] =
                    line < 3 ? (at.first[line] - nodes[number].center[line]) * scale : at.spacing * scale;
            }
        }
        __syncthreads();
        if (start + slice >= last) continue;
        real h = memory.first[slice][3], first = memory.first[slice][0];
        real y = fma(real(line % SIDE), h, memory.first[slice][1]);
        real z = fma(real(line / SIDE), h, memory.first[slice][2]);
        real monomials[PAIRS];
        monomials[0] = 1;
#pragma unroll
        for (int d = 1; d <= P; ++d) {
#pragma unroll
            for (int l = 0; l < d; ++l) monomials[pair(d, l)] = monomials[pair(d - 1, l)] * z;
            monomials[pair(d, d)] = monomials[pair(d - 1, d - 1)] * y;
        }
        real across = fma(y, y, z * z), inverse[SIDE];
#pragma unroll
        for (int x = 0; x < SIDE; ++x) {
            real dx = fma(real(x), h, first);
            inverse[x] = inverse_sqrt(fma(dx, dx, across));
        }
#pragma unroll
        for (int c = 0; c < COMPONENTS; ++c) {
            const real *coefficient = memory.coefficients[slice] + c * TERMS;
            real a[P + 1], b[P + 1];
#pragma unroll
            for (int m = 0; m <= P; ++m) a[m] = b[m] = 0;
#pragma unroll
            for (int n = 0; n <= P; ++n)
#pragma unroll
                for (int k = 0; k <= n; ++k)
#pragma unroll
                    for (int l = 0; l <= n - k; ++l) {
                        real &sum = k % 2 ? b[n - k / 2] : a[n - k / 2];
                        sum = fma(coefficient[term(n, k, l)], monomials[pair(n - k, l)], sum);
                    }
#pragma unroll
            for (int x = 0; x < SIDE; ++x) {
                real dx = fma(real(x), h, first), q = inverse[x] * inverse[x];
                real even = a[P], odd = b[P];
#pragma unroll
                for (int m = P - 1; m > 0; --m) {
                    even = fma(even, q, a[m]);
                    odd = fma(odd, q, b[m]);
                }
                even = fma(even, q, a[0]);
                real &total = totals.of[c][0][x];
                total = fma(fma(odd * q, dx, even), inverse[x], total);
            }
        }
    }
    finish(totals, memory.partial, brick, add, values);
}
#endif

#ifdef FARFIELD_RATE
// Reciprocal square roots of numbers in registers, eight chains per thread: the bound of direct plans in single
// precision.
extern "C" __global__ void __launch_bounds__(FARFIELD_THREADS) roots(uint rounds, real *__restrict__ values) {
    real value[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) value[k] = real(1 + k + threadIdx.x);
    for (uint round = 0; round < rounds; ++round)
#pragma unroll
        for (int k = 0; k < 8; ++k) value[k] = inverse_sqrt(value[k]);
    real sum = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) sum += value[k];
    values[blockIdx.x * FARFIELD_THREADS + threadIdx.x] = sum;
}
#endif
