// What is translated into what: shifts and tasks.
#pragma once
#include "tree.cuh"

#define MAX_STEPS 189

// One shift: where the source is, which matrix, mirrored how.
struct Step {
    unsigned short matrix;
    unsigned char neighbour; // M2L: which of the parent's 27 neighbours
    unsigned char child;     // M2L, M2M: which of its children
    unsigned char mirror;    // bits x, y, z
    unsigned char shift_class;
    unsigned char unused[2];
};

// Target boxes of one block: `count` of them from `first` on, of one column.
struct Task {
    uint first, count, level, octant;
};

// Where blocks that share the shifts of M2L (gridDim.z of them) leave their sums: the first one in the locals, the others
// one after the other in `sums`, `length` numbers each.
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
