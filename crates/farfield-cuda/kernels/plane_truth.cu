// True sums in the plane at a few targets.
#include "plane_pair.cuh"

#if FARFIELD_INPUT_DOUBLE
typedef double input;
#else
typedef float input;
#endif

// A source packed by the engine.
struct __align__(16) PackedSource {
    input x, y, s, extra;
};

__device__ __forceinline__ Source widen(const PackedSource &packed) { return {packed.x, packed.y, packed.s, packed.extra}; }

__device__ __forceinline__ double magnitude(const Source &source) {
    complex strength = strength_of(source);
    return sqrt(fma(strength.re, strength.re, strength.im * strength.im));
}

// w/s, w/s^2 and w/s^3, or w |log s|, w/s and w/s^2 for the logarithm, with s^2 = r^2 + size^2, as on the CPU.
__device__ __forceinline__ void add_absolute(const Target &target, const Source &source, double global_size2, double w,
                                             double (&sums)[3]) {
    double dx = target.x - source.x, dy = target.y - source.y;
    double size2 = FARFIELD_SIZES == 2 ? source.extra : global_size2;
    double s2 = fma(dx, dx, fma(dy, dy, size2));
    bool counts = is_positive(s2);
    double inverse = counts ? inverse_sqrt(s2) : 0;
#if FARFIELD_LOG
    sums[0] = fma(w, counts ? fabs(0.5 * log(s2)) : 0, sums[0]);
#endif
    double term = w * inverse;
#pragma unroll
    for (int k = FIRST_POWER; k < 3; ++k) {
        sums[k] += term;
        term *= inverse;
    }
}

#include "truth.cuh"
