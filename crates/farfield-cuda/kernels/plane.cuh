// Common definitions of the plane's programs: boxes, the coupling criterion, complex numbers.
//
// Level l of the pyramid has 4^l boxes. Boxes of all levels are numbered level by level; the children of box b are
// 4b + 1 .. 4b + 4.
#pragma once
#include "real.cuh"

#if FARFIELD_DOUBLE
struct __align__(16) complex { real re, im; };
#else
struct __align__(8) complex { real re, im; };
#endif

__device__ __forceinline__ complex operator+(complex a, complex b) { return {a.re + b.re, a.im + b.im}; }
__device__ __forceinline__ complex operator*(complex a, complex b) {
    return {fma(-a.im, b.im, a.re * b.re), fma(a.im, b.re, a.re * b.im)};
}
__device__ __forceinline__ complex operator*(real a, complex b) { return {a * b.re, a * b.im}; }
// a * b + c
__device__ __forceinline__ complex times_plus(complex a, complex b, complex c) {
    return {fma(-a.im, b.im, fma(a.re, b.re, c.re)), fma(a.im, b.re, fma(a.re, b.im, c.im))};
}
__device__ __forceinline__ real norm2(complex a) { return fma(a.re, a.re, a.im * a.im); }
__device__ __forceinline__ complex inverse(complex a) {
    real factor = real(1) / norm2(a);
    return {a.re * factor, -a.im * factor};
}

__device__ __forceinline__ uint first_of_level(uint level) { return ((1u << 2 * level) - 1) / 3; }

// A box's circle, and the unit of length of its expansions.
struct __align__(16) Box {
    real x, y, radius, scale;
};

// A row of a list: its start and its length.
struct __align__(8) Row {
    uint start, count;
};

// The coupling criterion. Boxes whose circles are closer than `reach`, the range of the cores, are strongly coupled.
// If the smaller box has more than `shortcut` points, its expansion is cheaper than its points.
struct Criterion {
    double inverse_theta, reach;
    uint shortcut, unused;
};

// theta d >= R + theta r and d >= R + r + reach for the larger radius R and the smaller r, or with the radii swapped.
__device__ __forceinline__ bool passes(const Criterion &criterion, const Box &a, const Box &b, bool swapped) {
    double dx = (double)a.x - (double)b.x, dy = (double)a.y - (double)b.y, ra = a.radius, rb = b.radius;
    bool a_counts = (ra > rb) != swapped;
    double large = a_counts ? ra : rb, small = a_counts ? rb : ra;
    double least = max(large * criterion.inverse_theta + small, large + small + criterion.reach);
    double d2 = dx * dx + dy * dy;
    return d2 >= least * least && d2 > 0;
}

// The interaction of strongly coupled leaves.
#define IN_PAIRS 0  // P2P
#define BY_LOCAL 1  // P2L: the other leaf's sources act on this leaf's local expansion
#define BY_MULTIPOLE 2  // M2P: the other leaf's multipole acts on this leaf's targets

// The interaction of leaf `a`, which has `here` targets, with leaf `b`, which has `there` sources. A smaller box whose
// points are all at one place could touch the larger one.
__device__ __forceinline__ int meeting(const Criterion &criterion, const Box &a, const Box &b, uint here, uint there) {
    bool larger = a.radius > b.radius;
    if ((larger ? there : here) <= criterion.shortcut || min(a.radius, b.radius) == 0) return IN_PAIRS;
    if (!passes(criterion, a, b, true)) return IN_PAIRS;
    return larger ? BY_MULTIPOLE : BY_LOCAL;
}
