// Pairs of points by lists made elsewhere: tasks of targets that follow one another, each with its ranges of sources. In space and
// in the plane.
#pragma once
#include "meet.cuh"

struct Task {
    uint first, count;       // targets
    uint from, to;           // ranges; the first holds the sources that may be the targets themselves
};

// sums[((first + i) * vectors + vector) * SUMS + k], vector = blockIdx.y.
extern "C" __global__ void __launch_bounds__(THREADS, FARFIELD_BLOCKS)
    near_p2p(const Task *__restrict__ tasks, const Range *__restrict__ lists, const real *__restrict__ targets,
             const Source *__restrict__ sources, uint source_count, real global_size2, real *__restrict__ sums) {
    __shared__ Memory memory;
    __shared__ Ranges ranges;
    Task task = tasks[blockIdx.x];
    if (threadIdx.x == 0) memory.prepare();
    Targets met;
    met.load(targets, task.first, task.count);
    sources += (ulong64)blockIdx.y * source_count;
    const uint most = MAX_RANGES / 32 * 32;
    for (uint from = task.from; from < task.to; from += most) {
        if (threadIdx.x < 32) {
            uint found = 0, total = 0, to = min(from + most, task.to), lane = threadIdx.x;
            if (lane == 0) ranges.own_start = NOT_HERE;
            __syncwarp();
            for (uint r = from; r < to; r += 32) {
                bool there = r + lane < to;
                add_ranges(ranges, found, total, there, r + lane == task.from, there ? lists[r + lane] : Range{0, 0});
            }
            if (lane == 0) {
                ranges.starts[found] = total;
                ranges.count = found;
            }
        }
        met.meet<true>(memory, ranges, sources, nullptr, task.first - lists[task.from].start, global_size2);
        __syncthreads();
    }
    met.share(memory);
    ulong64 rows = (ulong64)gridDim.y * SUMS;
    real *mine = sums + task.first * rows + (ulong64)blockIdx.y * SUMS;
    for (uint at = threadIdx.x; at < SUMS * task.count; at += THREADS) {
        uint k = quotient(at, task.count), i = at - k * task.count;
        mine[i * rows + k] = met.add_slices(memory, at, real(0));
    }
}
