// The direct sum in the plane: pack the sources, sum over all pairs, convert sums to outputs. The FMM also uses the
// first and the last kernel.
#include "plane_pair.cuh"
#include "all_pairs.cuh"

// Packs the sources of strength vector blockIdx.y in the order of `permutation` (null: unchanged). Strengths have
// `parts` components, of which a run takes one, or all if they are summed together: stream = vector * runs + run.
extern "C" __global__ void pack_sources(const complex *__restrict__ positions, const uint *__restrict__ permutation, uint count,
                                        const real *__restrict__ strengths, uint parts, uint runs,
                                        const real *__restrict__ sizes, Source *__restrict__ sources) {
    uint j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= count) return;
    ulong64 stream = blockIdx.y, vector = stream / runs, run = stream % runs;
    uint index = permutation ? permutation[j] : j;
    const real *strength = strengths + (vector * count + index) * parts + run;
    complex position = positions[j];
    Source source = {position.re, position.im, strength[0], 0};
#if FARFIELD_COMPLEX
    source.extra = strength[1];
#endif
#if FARFIELD_SIZES == 2
    source.extra = sizes[index] * sizes[index];
#endif
    sources[stream * count + j] = source;
}

// Adds the slices, joins the runs of strength vector blockIdx.y and writes the outputs in the caller's order. The
// second run, of the imaginary parts, is multiplied by i.
extern "C" __global__ void finish(const real *__restrict__ partial, uint target_count, uint slices, uint runs,
                                  const uint *__restrict__ permutation, real *__restrict__ potential,
                                  real *__restrict__ derivative, real *__restrict__ second_derivative) {
    uint i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= target_count) return;
    ulong64 vector = blockIdx.y, place = vector * target_count + (permutation ? permutation[i] : i);
    real sums[2][SUMS];
    for (uint run = 0; run < 2; ++run)
#pragma unroll
        for (int k = 0; k < SUMS; ++k) {
            real sum = 0;
            if (run < runs)
                for (uint slice = 0; slice < slices; ++slice)
                    sum += partial[(((vector * runs + run) * slices + slice) * SUMS + k) * target_count + i];
            sums[run][k] = sum;
        }
    // The sums are of powers of 1/(z_i - z_j); the factors are those of `Output::of_sums` on the CPU.
#if FARFIELD_LOG
    if (potential) {
        potential[place * runs] = sums[0][0];
        if (runs == 2) potential[2 * place + 1] = sums[1][0];
    }
    real *const outputs[] = {derivative, second_derivative};
    const real factors[] = {1, -1};
#else
    real *const outputs[] = {potential, derivative, second_derivative};
    const real factors[] = {-1, 1, -2};
#endif
#pragma unroll
    for (int k = 0; k < POWERS; ++k)
        if (outputs[k]) {
            const int at = FIRST_POWER + 2 * k;
            outputs[k][2 * place] = factors[k] * (sums[0][at] - sums[1][at + 1]);
            outputs[k][2 * place + 1] = factors[k] * (sums[0][at + 1] + sums[1][at]);
        }
}
