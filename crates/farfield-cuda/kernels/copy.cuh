// Asynchronous copies from global to shared memory.
#pragma once
#include "real.cuh"

// Copies 16 bytes, or clears them if not `there`.
__device__ __forceinline__ void copy_16_bytes(void *to, const void *from, bool there) {
    uint address = (uint)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(there ? 16 : 0));
}

// Waits for the copies of this thread.
__device__ __forceinline__ void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// Whether the device has bulk copies (Hopper and later).
#define BULK_COPIES (__CUDA_ARCH__ >= 900)

#if BULK_COPIES
// Bulk copies of any length, in rounds: a few threads start them, and all threads wait.
struct Arrivals {
    ulong64 barrier;

    __device__ __forceinline__ uint address() const { return (uint)__cvta_generic_to_shared(&barrier); }

    // Called by one thread, before any other thread uses it.
    __device__ __forceinline__ void prepare() {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address()) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }

    // Called by one thread: begins a round of `bytes` bytes.
    __device__ __forceinline__ void expect(uint bytes) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address()), "r"(bytes) : "memory");
    }

    // Copies `bytes` bytes of the round; addresses and length must be multiples of 16.
    __device__ __forceinline__ void copy(void *to, const void *from, uint bytes) {
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                         (uint)__cvta_generic_to_shared(to)),
                     "l"(from), "r"(bytes), "r"(address())
                     : "memory");
    }

    // Waits until all bytes of a round have arrived; rounds are counted from zero.
    __device__ __forceinline__ void wait(uint round) const {
        uint done;
        do {
            asm volatile("{\n"
                         ".reg .pred there;\n"
                         "mbarrier.try_wait.parity.shared::cta.b64 there, [%1], %2;\n"
                         "selp.u32 %0, 1, 0, there;\n"
                         "}"
                         : "=r"(done)
                         : "r"(address()), "r"(round & 1)
                         : "memory");
        } while (!done);
    }
};
#endif
