// Operations of simulation steps other than sums, on arrays that stay on the device.
#include "sortable.cuh"

// values += h rates
extern "C" __global__ void add_scaled(real *__restrict__ values, real h, const real *__restrict__ rates, uint count) {
    uint i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) values[i] = fma(h, rates[i], values[i]);
}

// turned = factor (y, x) for every (x, y)
extern "C" __global__ void turn(const real *__restrict__ values, real factor, uint count, real *__restrict__ turned) {
    uint i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    real x = values[2 * (ulong64)i], y = values[2 * (ulong64)i + 1];
    turned[2 * (ulong64)i] = factor * y;
    turned[2 * (ulong64)i + 1] = factor * x;
}

// The rate of change of vortex strengths: (classical G + transpose G^T) s, with G the velocity gradient, and
// relaxation towards the vorticity, which includes the element's own part (own_vorticity / size^3) s.
struct StrengthLaw {
    real classical, transpose, relaxation, own_vorticity, size;
};

extern "C" __global__ void strength_rates(const real *__restrict__ strengths, const real *__restrict__ gradients,
                                          const real *__restrict__ sizes, uint has_sizes, StrengthLaw law, uint count,
                                          real *__restrict__ rates) {
    uint i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const real *g = gradients + 9 * (ulong64)i, *s = strengths + 3 * (ulong64)i;
    real rate[3];
    for (int k = 0; k < 3; ++k) {
        real along = g[3 * k] * s[0] + g[3 * k + 1] * s[1] + g[3 * k + 2] * s[2];
        real across = g[k] * s[0] + g[3 + k] * s[1] + g[6 + k] * s[2];
        rate[k] = law.classical * along + law.transpose * across;
    }
    if (law.relaxation != 0) {
        real size = has_sizes ? sizes[i] : law.size, own = law.own_vorticity / (size * size * size);
        real w[3] = {g[7] - g[5] + own * s[0], g[2] - g[6] + own * s[1], g[3] - g[1] + own * s[2]};
        real vorticity = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
        real strength = sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2]);
        if (vorticity > 0)
            for (int k = 0; k < 3; ++k) rate[k] += law.relaxation * (w[k] * (strength / vorticity) - s[k]);
    }
    for (int k = 0; k < 3; ++k) rates[3 * (ulong64)i + k] = rate[k];
}

// The result of a survey of an array of vectors; initially zero.
struct Survey {
    // The largest component and the largest negated component along each axis, as sort keys.
    ulong64 high[3], low[3];
    // The complement of the first index whose value is not finite.
    ulong64 not_finite;
};

extern "C" __global__ void survey(const real *__restrict__ values, uint count, Survey *found) {
    Bounds bounds = {};
    ulong64 not_finite = 0;
    for (ulong64 point = blockIdx.x * blockDim.x + threadIdx.x; 3 * point < count; point += gridDim.x * blockDim.x) {
        for (int axis = 0; axis < 3; ++axis) {
            ulong64 i = 3 * point + axis;
            if (i >= count) break;
            double c = values[i];
            if (isfinite(c)) {
                bounds.include(axis, c);
            } else {
                not_finite = max(not_finite, ~i);
            }
        }
    }
    bounds.widen(found->high, found->low);
    for (int lane = 16; lane > 0; lane /= 2) not_finite = max(not_finite, __shfl_xor_sync(~0u, not_finite, lane));
    if (threadIdx.x % 32 == 0 && not_finite) atomicMax(&found->not_finite, not_finite);
}

// The squared length of a vector, with the same bits in every kernel.
__device__ double square(const real *__restrict__ values, uint components, uint i) {
    double sum = 0;
    for (uint k = 0; k < components; ++k) {
        double x = values[components * (ulong64)i + k];
        sum = fma(x, x, sum);
    }
    return sum;
}

// The longest vector: its square, then the last index that has it. Both initially zero.
struct Longest {
    ulong64 square, index;
};

extern "C" __global__ void longest_square(const real *__restrict__ values, uint components, uint count, Longest *longest) {
    ulong64 most = 0;
    for (uint i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        most = max(most, sort_key(square(values, components, i)));
    for (int lane = 16; lane > 0; lane /= 2) most = max(most, __shfl_xor_sync(~0u, most, lane));
    if (threadIdx.x % 32 == 0) atomicMax(&longest->square, most);
}

extern "C" __global__ void longest_index(const real *__restrict__ values, uint components, uint count, Longest *longest) {
    ulong64 wanted = longest->square;
    for (uint i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        if (sort_key(square(values, components, i)) == wanted) atomicMax(&longest->index, (ulong64)i);
}

// The box in which points are quantised, and the number of steps per unit of length along each axis.
struct CountedBox {
    double low[3], steps[3];
};

// Quantises points to numbers of steps from the lower corner.
extern "C" __global__ void shrink_points(const real *__restrict__ points, CountedBox counted, uint count,
                                         unsigned short *__restrict__ numbers) {
    uint i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    for (int axis = 0; axis < 3; ++axis) {
        ulong64 at = 3 * (ulong64)i + axis;
        double number = ((double)points[at] - counted.low[axis]) * counted.steps[axis] + 0.5;
        numbers[at] = (unsigned short)fmin(fmax(number, 0.0), 65535.0);
    }
}

// Quantises lengths of vectors to numbers of steps.
extern "C" __global__ void shrink_lengths(const real *__restrict__ vectors, double steps, uint count,
                                          unsigned char *__restrict__ numbers) {
    uint i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const real *v = vectors + 3 * (ulong64)i;
    double length = sqrt((double)v[0] * v[0] + (double)v[1] * v[1] + (double)v[2] * v[2]);
    numbers[i] = (unsigned char)fmin(length * steps + 0.5, 255.0);
}
