// Copies from global to shared memory that no thread waits for.
#pragma once
#include "real.cuh"

// Copies 16 bytes, or clears them if they are not there.
__device__ __forceinline__ void copy_16_bytes(void *to, const void *from, bool there) {
    uint address = (uint)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(there ? 16 : 0));
}

// Waits for the thread's own copies.
__device__ __forceinline__ void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }
