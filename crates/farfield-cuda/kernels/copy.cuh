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

// Whether the device copies whole ranges by itself (Hopper and later).
#define BULK_COPIES (__CUDA_ARCH__ >= 900)

#if BULK_COPIES
// Copies of any length that a few threads start and all wait for, round after round.
struct Arrivals {
    ulong64 barrier;

    __device__ __forceinline__ uint address() const { return (uint)__cvta_generic_to_shared(&barrier); }

    // One thread, before any other knows of it.
    __device__ __forceinline__ void prepare() {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address()) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }

    // One thread: a round of so many bytes begins.
    __device__ __forceinline__ void expect(uint bytes) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address()), "r"(bytes) : "memory");
    }

    // Copies bytes of the round, a multiple of 16 of them between addresses that are multiples of 16.
    __device__ __forceinline__ void copy(void *to, const void *from, uint bytes) {
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                         (uint)__cvta_generic_to_shared(to)),
                     "l"(from), "r"(bytes), "r"(address())
                     : "memory");
    }

    // Waits until all bytes of a round are there; rounds are counted from zero.
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
