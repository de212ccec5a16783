// True sums at a few targets: over all sources, in double precision, from the engine's packed sources in the precision
// of the sum. Included after pair.cuh or plane_pair.cuh in double precision and after PackedSource, with
//   Source widen(const PackedSource &)          the source in double precision,
//   double magnitude(const Source &)            the magnitude of its strength,
//   add_absolute(dx, .., size2, w, sums)        the largest contribution of a source of that strength,
// which differ in space and in the plane. Targets and permutations are in the engine's order.
//
// Constants: FARFIELD_INPUT_DOUBLE (the precision of the sum: `input`).
#pragma once

#define THREADS 128
// The number of sums of absolute contributions, one for each number of derivatives, and of targets that have them.
#define ABSOLUTE 3
#define WITH_ABSOLUTE 8

// partial[((stream * slices + slice) * SUMS + k) * drawn_count + i]
extern "C" __global__ void __launch_bounds__(THREADS)
    truth(const input *__restrict__ targets, const uint *__restrict__ drawn, uint drawn_count,
          const PackedSource *__restrict__ sources, uint source_count, uint slice_length, double global_size2,
          double *__restrict__ partial) {
    __shared__ Source tile[THREADS];
    uint i = blockIdx.x * THREADS + threadIdx.x;
    uint at = drawn[min(i, drawn_count - 1)];
    Target target;
    target.load(targets, at);
    double sums[SUMS];
#pragma unroll
    for (int k = 0; k < SUMS; ++k) sums[k] = 0;
    sources += (ulong64)blockIdx.z * source_count;
    uint first = blockIdx.y * slice_length, end = min(first + slice_length, source_count);
    for (uint start = first; start < end; start += THREADS) {
        __syncthreads();
        tile[threadIdx.x] = start + threadIdx.x < end ? widen(sources[start + threadIdx.x]) : no_source();
        __syncthreads();
#pragma unroll 4
        for (int j = 0; j < THREADS; ++j) {
            // If the sources are the targets, a target is the source with its own index.
            bool other = !FARFIELD_SKIP_SAME || start + j != at;
            target.meet(tile[j], global_size2, other, sums);
        }
    }
    partial += ((ulong64)blockIdx.z * gridDim.y + blockIdx.y) * SUMS * drawn_count;
    if (i < drawn_count)
#pragma unroll
        for (int k = 0; k < SUMS; ++k) partial[(ulong64)k * drawn_count + i] = sums[k];
}

// Adds the slices: sums[row] for each of `rows` = streams * SUMS * drawn_count.
extern "C" __global__ void add_slices(const double *__restrict__ partial, uint per_stream, uint rows, uint slices,
                                      double *__restrict__ sums) {
    uint row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    uint stream = row / per_stream, k = row % per_stream;
    const double *from = partial + (ulong64)stream * slices * per_stream + k;
    double sum = 0;
    for (uint slice = 0; slice < slices; ++slice) sum += from[(ulong64)slice * per_stream];
    sums[row] = sum;
}

// The sum of the values of all threads, in thread 0, always in the same order.
__device__ __forceinline__ double sum_of_block(double value, double *__restrict__ shared) {
    __syncthreads();
    shared[threadIdx.x] = value;
    for (uint half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
    }
    __syncthreads();
    return shared[0];
}

// Sums of absolute contributions at the first few drawn targets, slice by slice of the sources:
// partial[((stream * slices + slice) * WITH_ABSOLUTE + target) * ABSOLUTE + k]
extern "C" __global__ void __launch_bounds__(THREADS)
    absolute(const input *__restrict__ targets, const uint *__restrict__ drawn, uint drawn_count,
             const PackedSource *__restrict__ sources, uint source_count, uint slice_length, double global_size2,
             double *__restrict__ partial) {
    __shared__ double shared[THREADS];
    Target target[WITH_ABSOLUTE];
    double sums[WITH_ABSOLUTE][ABSOLUTE] = {};
#pragma unroll
    for (int t = 0; t < WITH_ABSOLUTE; ++t) target[t].load(targets, drawn[min(t, drawn_count - 1)]);
    sources += (ulong64)blockIdx.y * source_count;
    uint first = blockIdx.x * slice_length, end = min(first + slice_length, source_count);
    for (uint j = first + threadIdx.x; j < end; j += THREADS) {
        Source source = widen(sources[j]);
        double w = magnitude(source);
#pragma unroll
        for (int t = 0; t < WITH_ABSOLUTE; ++t) add_absolute(target[t], source, global_size2, w, sums[t]);
    }
    partial += ((ulong64)blockIdx.y * gridDim.x + blockIdx.x) * WITH_ABSOLUTE * ABSOLUTE;
    for (int t = 0; t < WITH_ABSOLUTE; ++t)
        for (int k = 0; k < ABSOLUTE; ++k) {
            double sum = sum_of_block(sums[t][k], shared);
            if (threadIdx.x == 0) partial[t * ABSOLUTE + k] = sum;
        }
}

// The caller's index of a target.
__device__ __forceinline__ ulong64 place_of(const uint *__restrict__ permutation, uint target) {
    return permutation ? permutation[target] : target;
}

// For every stretch of targets, one block each: the sum of squares of an output's values, the largest square of a
// target, and the index of that target.
extern "C" __global__ void __launch_bounds__(THREADS)
    survey(const input *__restrict__ values, const uint *__restrict__ permutation, uint target_count, uint vectors,
           uint components, uint stretch, double *__restrict__ facts) {
    __shared__ double shared[THREADS];
    __shared__ uint shared_at[THREADS];
    uint first = blockIdx.x * stretch, end = min(first + stretch, target_count), at = first;
    double sum = 0, most = -1;
    for (uint target = first + threadIdx.x; target < end; target += THREADS) {
        ulong64 place = place_of(permutation, target);
        double square = 0;
        for (uint vector = 0; vector < vectors; ++vector)
            for (uint c = 0; c < components; ++c) {
                double value = values[((ulong64)vector * target_count + place) * components + c];
                square = fma(value, value, square);
            }
        sum += square;
        if (square > most) most = square, at = target;
    }
    sum = sum_of_block(sum, shared);
    shared[threadIdx.x] = most;
    shared_at[threadIdx.x] = at;
    for (uint half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half && shared[threadIdx.x + half] > shared[threadIdx.x]) {
            shared[threadIdx.x] = shared[threadIdx.x + half];
            shared_at[threadIdx.x] = shared_at[threadIdx.x + half];
        }
    }
    if (threadIdx.x == 0) {
        facts[3 * blockIdx.x] = sum;
        facts[3 * blockIdx.x + 1] = shared[0];
        facts[3 * blockIdx.x + 2] = shared_at[0];
    }
}

// The values of an output at the drawn targets, vector blockIdx.y: found[(vector * drawn_count + i) * components + c]
extern "C" __global__ void find(const input *__restrict__ values, const uint *__restrict__ permutation, uint target_count,
                                uint components, const uint *__restrict__ drawn, uint drawn_count,
                                double *__restrict__ found) {
    uint i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= drawn_count) return;
    ulong64 vector = blockIdx.y, place = place_of(permutation, drawn[i]);
    for (uint c = 0; c < components; ++c)
        found[(vector * drawn_count + i) * components + c] = values[(vector * target_count + place) * components + c];
}
