/* C interface of farfield: fast sums of long-range interactions. Generated from crates/farfield-c by cbindgen; do not edit.
 *
 *   farfield_sum *sum = farfield_sum_new("gravity");
 *   farfield_set_text(sum, "outputs", "acceleration");
 *   farfield_set_number(sum, "softening", 0.01);
 *   farfield_plan *plan = NULL;
 *   if (farfield_plan_f64(sum, n, points, 0, NULL, &plan) != FARFIELD_OK) puts(farfield_message());
 *   double *results[] = {accelerations};
 *   farfield_evaluate_f64(plan, masses, n, results, 1);
 *   farfield_plan_free(plan);
 *   farfield_sum_free(sum);
 *
 * Points are stored as x, y, z of one point after the other; in the plane as x, y. No function ends the process or throws.
 * Functions that can fail return a status, and farfield_message names the argument and the reason. All functions may be
 * called from several threads; calls that use the same plan wait for each other. */

#ifndef FARFIELD_H
#define FARFIELD_H

#include <stddef.h>
#include <stdint.h>

// The result of a call. After anything but FARFIELD_OK, `farfield_message` returns the reason.
typedef enum {
  // The call succeeded.
  FARFIELD_OK = 0,
  // An argument is invalid. The message names it and, in an array, the index of the invalid number.
  FARFIELD_ARGUMENT = 1,
  // There is not enough memory. The message states how much is needed.
  FARFIELD_MEMORY = 2,
  // A GPU, a thread or the SIMD instruction set could not be used.
  FARFIELD_DEVICE = 3,
  // A bug in farfield; please report it. The process can continue.
  FARFIELD_DEFECT = 4,
} farfield_status;

// A planned sum. Made by farfield_plan_f64 or farfield_plan_f32, freed by farfield_plan_free.
typedef struct farfield_plan farfield_plan;

// Describes a sum. Made by farfield_sum_new, changed by farfield_set_text, farfield_set_number and farfield_set_sizes,
// freed by farfield_sum_free. One thread at a time may change it. Any number of plans can be made from it.
typedef struct farfield_sum farfield_sum;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Computes the potential of charges, `sum q/|r|`, and its gradient (3 numbers for each target). Pass NULL for a
// result that is not wanted. With `targets` NULL and `target_count` 0, the sources are the targets. `tolerance` 0
// stands for 1e-6.
//
// # Safety
// `sources` and `targets` have 3 numbers for each point, `charges` has 1 for each source. Each result that is not
// NULL has room for all targets.
farfield_status farfield_coulomb_f64(size_t source_count,
                                     const double *sources,
                                     const double *charges,
                                     size_t target_count,
                                     const double *targets,
                                     double tolerance,
                                     double *potential,
                                     double *gradient);

// Computes the potential `-G sum m/|r|` of masses and the acceleration (3 numbers for each target), with Plummer
// softening. Pass NULL for a result that is not wanted. With `targets` NULL and `target_count` 0, the sources are
// the targets. `tolerance` 0 stands for 1e-6.
//
// # Safety
// `sources` and `targets` have 3 numbers for each point, `masses` has 1 for each source. Each result that is not
// NULL has room for all targets.
farfield_status farfield_gravity_f64(size_t source_count,
                                     const double *sources,
                                     const double *masses,
                                     size_t target_count,
                                     const double *targets,
                                     double gravitational_constant,
                                     double softening,
                                     double tolerance,
                                     double *potential,
                                     double *acceleration);

// Computes the velocity `1/(4 pi) sum gamma x r K(|r|)` of vortex elements (3 numbers for each target) and its
// gradient (9, row by row). `core` is "singular" (or NULL), "winckelmans-leonard" or "gaussian", of size
// `core_size`. Pass NULL for a result that is not wanted. With `targets` NULL and `target_count` 0, the sources are
// the targets. `tolerance` 0 stands for 1e-6.
//
// # Safety
// `sources` and `targets` have 3 numbers for each point, `strengths` has 3 for each source. Each result that is not
// NULL has room for all targets. `core` is NULL or a NUL-terminated string.
farfield_status farfield_biot_savart_f64(size_t source_count,
                                         const double *sources,
                                         const double *strengths,
                                         size_t target_count,
                                         const double *targets,
                                         const char *core,
                                         double core_size,
                                         double tolerance,
                                         double *velocity,
                                         double *velocity_gradient);

// Plans a sum in double precision: checks every number, builds the tree, chooses method and order. With `targets`
// NULL and `target_count` 0, the sources are the targets, and the pair of a source with itself is left out. The
// points are copied. `*plan` is set to the new plan, or to NULL if planning fails.
//
// # Safety
// `sum` comes from farfield_sum_new. `sources` and `targets` have 3 numbers for each point, 2 in the plane. `plan` is
// NULL or points to a pointer.
farfield_status farfield_plan_f64(const farfield_sum *sum,
                                  size_t source_count,
                                  const double *sources,
                                  size_t target_count,
                                  const double *targets,
                                  farfield_plan **plan);

// As farfield_plan_f64, in single precision.
//
// # Safety
// As farfield_plan_f64.
farfield_status farfield_plan_f32(const farfield_sum *sum,
                                  size_t source_count,
                                  const float *sources,
                                  size_t target_count,
                                  const float *targets,
                                  farfield_plan **plan);

// Frees a plan. NULL is allowed.
//
// # Safety
// `plan` is NULL, or comes from farfield_plan_f64 or farfield_plan_f32 and is not used again.
void farfield_plan_free(farfield_plan *plan);

// Evaluates a plan for the given strengths. `strengths` has `strength_count` numbers, vector by vector and source by
// source: one for each source, 3 for Biot-Savart, 4 (the charge, then the moment) for coulomb-dipoles, 2 for complex
// strengths. `results` has `result_count` arrays, one for each output in the order of "outputs". Output `k` has
// farfield_output_length(plan, k) numbers: vector by vector, target by target, component by component. An output whose
// array is NULL is not written.
//
// # Safety
// `plan` comes from farfield_plan_f64; the arrays have the lengths given above.
farfield_status farfield_evaluate_f64(const farfield_plan *plan,
                                      const double *strengths,
                                      size_t strength_count,
                                      double *const *results,
                                      size_t result_count);

// As farfield_evaluate_f64, for a plan in single precision.
//
// # Safety
// As farfield_evaluate_f64.
farfield_status farfield_evaluate_f32(const farfield_plan *plan,
                                      const float *strengths,
                                      size_t strength_count,
                                      float *const *results,
                                      size_t result_count);

// Evaluates a plan and measures the relative L2 error of each output at `samples` random targets, against a direct
// sum in double precision. `errors` receives one number per output.
//
// # Safety
// As farfield_evaluate_f64.
farfield_status farfield_verify_f64(const farfield_plan *plan,
                                    const double *strengths,
                                    size_t strength_count,
                                    size_t samples,
                                    uint64_t seed,
                                    double *errors);

// As farfield_verify_f64, for a plan in single precision.
//
// # Safety
// As farfield_verify_f64.
farfield_status farfield_verify_f32(const farfield_plan *plan,
                                    const float *strengths,
                                    size_t strength_count,
                                    size_t samples,
                                    uint64_t seed,
                                    double *errors);

// Returns the number of outputs of a plan; 0 if `plan` is NULL.
//
// # Safety
// `plan` is NULL or a plan.
size_t farfield_output_count(const farfield_plan *plan);

// Returns how many numbers an output has. `output` counts from 0; for an output that the plan lacks the result is 0.
//
// # Safety
// `plan` is NULL or a plan.
size_t farfield_output_length(const farfield_plan *plan, size_t output);

// Writes the plan's report as JSON: its method and parameters, and the times of the last evaluation. At most `size`
// bytes are written, including the terminating NUL; a longer report is truncated. `needed` (NULL is allowed) is set
// to the size of the whole report in bytes, including the NUL.
//
// # Safety
// `plan` is NULL or a plan; `buffer` has room for `size` bytes, and may be NULL if `size` is 0.
farfield_status farfield_report(const farfield_plan *plan, char *buffer, size_t size, size_t *needed);

// Returns the message of the last failed call of this thread, or an empty string if none failed. The pointer is valid
// until the thread's next call fails or the thread ends.
const char *farfield_message(void);

// Returns the version of the library, such as "0.1.0".
const char *farfield_version(void);

// Makes a sum with the kernel "coulomb", "coulomb-dipoles", "gravity" or "biot-savart" in space, or "harmonic2d" or
// "log2d" in the plane. Returns NULL only if `kernel` is NULL or not UTF-8: an unknown kernel is reported when the
// sum is planned.
//
// # Safety
// `kernel` is NULL or a NUL-terminated string.
farfield_sum *farfield_sum_new(const char *kernel);

// Frees a sum. NULL is allowed.
//
// # Safety
// `sum` is NULL, or comes from farfield_sum_new and is not used again.
void farfield_sum_free(farfield_sum *sum);

// Sets "outputs" (comma-separated names: "potential,gradient"), "core", "softening_kernel", "method" ("auto",
// "direct", "treecode", "fmm") or "device" ("cpu", "cuda", "cuda:1", "auto").
//
// Outputs of Coulomb are "potential", "gradient" and "hessian" (xx, xy, xz, yy, yz, zz), of gravity "potential" and
// "acceleration", of Biot-Savart "velocity" and "velocity-gradient", in the plane "potential", "derivative" and
// "second-derivative".
//
// # Safety
// `sum` comes from farfield_sum_new; `key` and `value` are NUL-terminated strings.
farfield_status farfield_set_text(farfield_sum *sum, const char *key, const char *value);

// Sets "tolerance", "core_size", "softening", "gravitational_constant", "theta", "order", "leaf_capacity",
// "memory_limit" (in bytes), "threads", "vectors" (the number of strength vectors that one call evaluates),
// "complex" (1: strengths in the plane are complex) or "allow_unbounded_gradient" (1: accept the unbounded velocity
// gradient of the hu-polynomial core).
//
// # Safety
// `sum` comes from farfield_sum_new; `key` is a NUL-terminated string.
farfield_status farfield_set_number(farfield_sum *sum, const char *key, double value);

// Sets a core size or softening length for each source. The numbers are copied.
//
// # Safety
// `sum` comes from farfield_sum_new; `sizes` points to `count` numbers.
farfield_status farfield_set_sizes(farfield_sum *sum, const double *sizes, size_t count);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FARFIELD_H */
