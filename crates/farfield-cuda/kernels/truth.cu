// True sums in space at a few targets.
#include "pair.cuh"

#if FARFIELD_INPUT_DOUBLE
typedef double input;
#else
typedef float input;
#endif

// A source packed by the engine.
struct __align__(16) PackedSource {
#if WIDE_SOURCE
    input x, y, z, size2, s0, s1, s2, s3;
#else
    input x, y, z, s0;
#endif
};

__device__ __forceinline__ Source widen(const PackedSource &packed) {
    Source source = no_source();
    source.x = packed.x;
    source.y = packed.y;
    source.z = packed.z;
    source.s0 = packed.s0;
#if WIDE_SOURCE
    source.size2 = packed.size2;
    source.s1 = packed.s1;
    source.s2 = packed.s2;
    source.s3 = packed.s3;
#endif
    return source;
}

__device__ __forceinline__ double magnitude(const Source &source) {
    double square = 0;
    for (int e = 0; e < STRENGTHS; ++e) square = fma(strength_of(source, e), strength_of(source, e), square);
    return sqrt(square);
}

// w/s, w/s^2, w/s^3 with s^2 = r^2 + size^2, as on the CPU.
__device__ __forceinline__ void add_absolute(const Target &target, const Source &source, double global_size2, double w,
                                             double (&sums)[3]) {
    double dx = target.x - source.x, dy = target.y - source.y, dz = target.z - source.z;
    double s2 = fma(dx, dx, fma(dy, dy, fma(dz, dz, size2_of(source, global_size2))));
    double inverse = is_positive(s2) ? inverse_sqrt(s2) : 0;
    double term = w * inverse;
    sums[0] += term;
    sums[1] = fma(term, inverse, sums[1]);
    sums[2] = fma(term * inverse, inverse, sums[2]);
}

#include "truth.cuh"
