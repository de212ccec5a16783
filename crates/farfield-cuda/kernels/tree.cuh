// The octree in kernels. Boxes are numbered level by level, within a level octant by octant (the octant of the
// parent), within an octant along the Morton curve. All boxes of one level and octant, a *column*, are consecutive:
// they share every shift of M2L.
#pragma once
#include "real.cuh"

// The largest number of levels in a key, three bits each.
#define LEVELS 21
#define COLUMNS ((LEVELS + 1) * 8)

// The root and the columns; the host reads it once per tree.
struct Tree {
    // Bounds of the points: the largest coordinate and the largest negated coordinate, as sort keys.
    ulong64 high[3], low[3];
    double corner[3], side;
    // The deepest level; its boxes are not cut.
    uint max_level;
    // Whether a box at the last level of the keys exceeds the capacity, and the largest number of points in such a
    // box.
    uint overfull, most_points;
    uint finished;
    // Boxes above this level are always cut.
    uint min_level;
    // The levels (one bit each) at which some box that is cut touches a leaf.
    uint mixed;
    // The number of occupied boxes of each level if all boxes were cut.
    uint occupied[LEVELS + 1];
    uint column_start[COLUMNS + 1];
};

struct Range {
    uint start, end;
};

// The properties of all boxes, one array each.
struct Boxes {
    const ulong64 *key;     // the cell's Morton key at its level
    const Range *sources;   // in tree order
    const Range *targets;
    const int *parent;      // -1 for the root
    const int *children;    // 8 each, -1 if there is no child or it has no sources
    const unsigned char *is_leaf;
    const int *neighbours;  // 27 each: the boxes of its level that touch it, itself in the middle; -1 if there is no box
};

__device__ __forceinline__ ulong64 spread(ulong64 v) {
    v &= 0x1fffff;
    v = (v | v << 32) & 0x1f00000000ffffull;
    v = (v | v << 16) & 0x1f0000ff0000ffull;
    v = (v | v << 8) & 0x100f00f00f00f00full;
    v = (v | v << 4) & 0x10c30c30c30c30c3ull;
    return (v | v << 2) & 0x1249249249249249ull;
}

__device__ __forceinline__ uint gather(ulong64 v) {
    v &= 0x1249249249249249ull;
    v = (v | v >> 2) & 0x10c30c30c30c30c3ull;
    v = (v | v >> 4) & 0x100f00f00f00f00full;
    v = (v | v >> 8) & 0x1f0000ff0000ffull;
    v = (v | v >> 16) & 0x1f00000000ffffull;
    return (uint)((v | v >> 32) & 0x1fffff);
}

// x in bit 0 of each group of three, y in bit 1, z in bit 2.
__device__ __forceinline__ ulong64 key_of_cell(uint x, uint y, uint z) {
    return spread(x) | spread(y) << 1 | spread(z) << 2;
}

__device__ __forceinline__ uint level_of(const Tree *tree, uint box) {
    uint level = 0;
    while (box >= tree->column_start[8 * (level + 1)]) ++level;
    return level;
}

// The centre of a box and the inverse of its side.
__device__ __forceinline__ void frame_of(const Tree *tree, ulong64 key, uint level, double centre[3], double &inverse_side) {
    double side = ldexp(tree->side, -(int)level);
    centre[0] = tree->corner[0] + (gather(key) + 0.5) * side;
    centre[1] = tree->corner[1] + (gather(key >> 1) + 0.5) * side;
    centre[2] = tree->corner[2] + (gather(key >> 2) + 0.5) * side;
    inverse_side = 1.0 / side;
}
