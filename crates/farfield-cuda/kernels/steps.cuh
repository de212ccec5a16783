// The shifts and tasks of translations.
#pragma once
#include "tree.cuh"

#define MAX_STEPS 189

// One shift: the location of the source, the matrix and its mirroring.
struct Step {
    unsigned short matrix;
    unsigned char neighbour; // M2L: index among the parent's 27 neighbours
    unsigned char child;     // M2L, M2M: octant of the source in its parent
    unsigned char mirror;    // mirrored axes as bits x, y, z
    unsigned char shift_class;
    unsigned char unused[2];
};

// The target boxes of one block: `count` boxes of one column from `first` on.
struct Task {
    uint first, count, level, octant;
};

// The partial sums of the gridDim.z blocks that divide the shifts of M2L among them: those of the first block are in
// the locals, the others one after another in `sums`, `length` values each.
struct Slices {
    real *sums;
    ulong64 length;
};

enum Kind { M2M, M2L, L2L };

// The source of `step` for target box `box`, or -1.
template <Kind KIND>
__device__ __forceinline__ int source_of(const Boxes &boxes, const Step &step, uint box) {
    if (KIND == L2L) return boxes.parent[box];
    if (KIND == M2M) return boxes.children[8 * (ulong64)box + step.child];
    int neighbour = boxes.neighbours[27 * (ulong64)boxes.parent[box] + step.neighbour];
    return neighbour < 0 ? -1 : boxes.children[8 * (ulong64)neighbour + step.child];
}
