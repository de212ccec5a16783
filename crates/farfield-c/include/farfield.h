/* farfield: fast sums of long-range interactions, from C. Generated from crates/farfield-c by cbindgen: do not edit.
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
 * Points are x, y, z of one point after the other, or x, y in the plane. Nothing here ends the process or throws: every
 * call returns a status, and farfield_message says what was wrong with which argument. All functions may be called from
 * several threads; calls that use the same plan wait for each other. */

#ifndef FARFIELD_H
#define FARFIELD_H

#include <stddef.h>
#include <stdint.h>

// How a call ended. After anything but FARFIELD_OK, `farfield_message` has the reason.
typedef enum {
  // It worked.
  FARFIELD_OK = 0,
  // An argument is wrong: the message names it, and where in an array the wrong number is.
  FARFIELD_ARGUMENT = 1,
  // There is not enough memory; the message has the forecast.
  FARFIELD_MEMORY = 2,
  // A graphics processor, a thread or the instruction set could not be used.
  FARFIELD_DEVICE = 3,
  // A defect of farfield, please report it. The process can go on.
  FARFIELD_DEFECT = 4,
} farfield_status;

// A planned sum. Made by farfield_plan_f64 or farfield_plan_f32, given back by farfield_plan_free.
typedef struct farfield_plan farfield_plan;

// What to sum and how. Made by farfield_sum_new, set by farfield_set_text and farfield_set_number, given back by
// farfield_sum_free. One thread at a time may set; any number of plans may be made of it.
typedef struct farfield_sum farfield_sum;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The potential of charges, `sum q/|r|`, and its gradient (3 numbers for each target; NULL where it is not wanted). With
// `targets` NULL and `target_count` 0 at the sources. `tolerance` 0 stands for 1e-6.
//
// # Safety
// The arrays have the lengths said: 3 numbers for each point, 1 for each charge.
farfield_status farfield_coulomb_f64(size_t source_count,
                                     const double *sources,
                                     const double *charges,
                                     size_t target_count,
                                     const double *targets,
                                     double tolerance,
                                     double *potential,
                                     double *gradient);

// The potential `-G sum m/|r|` of masses and the acceleration (3 numbers for each target), softened as Plummer's spheres.
// NULL where a result is not wanted. With `targets` NULL and `target_count` 0 at the sources. `tolerance` 0 stands for 1e-6.
//
// # Safety
// The arrays have the lengths said: 3 numbers for each point, 1 for each mass.
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

// The velocity `1/(4 pi) sum gamma x r K(|r|)` of vortex elements (3 numbers for each target) and its gradient (9, row by
// row). `core` is "singular" (or NULL), "winckelmans-leonard" or "gaussian", of size `core_size`. NULL where a result is
// not wanted. With `targets` NULL and `target_count` 0 at the sources. `tolerance` 0 stands for 1e-6.
//
// # Safety
// The arrays have the lengths said: 3 numbers for each point and each strength. `core` is NULL or ends with a zero.
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

// Plans a sum between points in double precision: checks every number, builds the tree, chooses method and order. With
// `targets` NULL and `target_count` 0 it is evaluated at the sources, and the pair of a source with itself is left out.
// The points are copied.
//
// # Safety
// `sum` comes from farfield_sum_new. There are 3 numbers at `sources` and `targets` for each point, in the plane 2.
// `plan` points to a pointer.
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

// Gives a plan back. NULL is allowed.
//
// # Safety
// `plan` is NULL, or comes from farfield_plan_f64 or farfield_plan_f32 and is not used again.
void farfield_plan_free(farfield_plan *plan);

// Sums for these strengths: vector by vector, source by source, one number each; 3 of Biot-Savart, 4 (the charge, then the
// moment) of coulomb-dipoles, 2 where they are complex. `results` are `result_count` arrays, one for each output in the
// order asked for, of farfield_output_length numbers: vector by vector, target by target, component by component.
// An array that is NULL is left out.
//
// # Safety
// `plan` comes from farfield_plan_f64; the arrays have the lengths said.
farfield_status farfield_evaluate_f64(const farfield_plan *plan,
                                      const double *strengths,
                                      size_t strength_count,
                                      double *const *results,
                                      size_t result_count);

// As farfield_evaluate_f64, of a plan in single precision.
//
// # Safety
// As farfield_evaluate_f64.
farfield_status farfield_evaluate_f32(const farfield_plan *plan,
                                      const float *strengths,
                                      size_t strength_count,
                                      float *const *results,
                                      size_t result_count);

// Sums, and measures the relative L2 error of each output at `samples` random targets by a direct sum in double precision.
// `errors` has room for one number for each output.
//
// # Safety
// As farfield_evaluate_f64.
farfield_status farfield_verify_f64(const farfield_plan *plan,
                                    const double *strengths,
                                    size_t strength_count,
                                    size_t samples,
                                    uint64_t seed,
                                    double *errors);

// As farfield_verify_f64, of a plan in single precision.
//
// # Safety
// As farfield_verify_f64.
farfield_status farfield_verify_f32(const farfield_plan *plan,
                                    const float *strengths,
                                    size_t strength_count,
                                    size_t samples,
                                    uint64_t seed,
                                    double *errors);

// How many outputs a plan has; 0 if it is NULL.
//
// # Safety
// `plan` is NULL or a plan.
size_t farfield_output_count(const farfield_plan *plan);

// How many numbers an output has, from 0; 0 for one that the plan does not have.
//
// # Safety
// `plan` is NULL or a plan.
size_t farfield_output_length(const farfield_plan *plan, size_t output);

// Writes what the plan settled on and where the time of the last evaluation went as JSON: at most `size` bytes with the
// zero at the end, cut off where there is no room. `needed` (NULL is allowed) is set to the bytes that all of it takes.
//
// # Safety
// `plan` is a plan; there is room for `size` bytes at `buffer`, which may be NULL if `size` is 0.
farfield_status farfield_report(const farfield_plan *plan, char *buffer, size_t size, size_t *needed);

// What the last call of this thread that failed complained about; an empty text if none did. It is valid until the
// thread's next call fails or the thread ends.
const char *farfield_message(void);

// The version of the library: "0.1.0".
const char *farfield_version(void);

// A sum of the kernel "coulomb", "coulomb-dipoles", "gravity" or "biot-savart" in space, or "harmonic2d" or "log2d" in the
// plane. It is never NULL, unless `kernel` is: a kernel that does not exist is found when the sum is planned.
//
// # Safety
// `kernel` is NULL or a text that ends with a zero.
farfield_sum *farfield_sum_new(const char *kernel);

// Gives a sum back. NULL is allowed.
//
// # Safety
// `sum` is NULL, or comes from farfield_sum_new and is not used again.
void farfield_sum_free(farfield_sum *sum);

// Sets "outputs" (names with commas between: "potential,gradient"), "core", "softening_kernel", "method" ("auto", "direct",
// "treecode", "fmm") or "device" ("cpu", "cuda", "cuda:1", "auto").
//
// Outputs are "potential", "gradient" and "hessian" (xx, xy, xz, yy, yz, zz) of Coulomb, "potential" and "acceleration" of
// gravity, "velocity" and "velocity-gradient" of Biot-Savart, "potential", "derivative" and "second-derivative" in the plane.
//
// # Safety
// `sum` comes from farfield_sum_new; `key` and `value` are texts that end with a zero.
farfield_status farfield_set_text(farfield_sum *sum,
                                  const char *key,
                                  const char *value);

// Sets "tolerance", "core_size", "softening", "gravitational_constant", "theta", "order", "leaf_capacity", "memory_limit" (in
// bytes), "threads", "vectors" (of strengths, summed at once), "complex" (1: strengths in the plane are complex) or
// "allow_unbounded_gradient" (1: accept that of the core hu-polynomial).
//
// # Safety
// `sum` comes from farfield_sum_new; `key` is a text that ends with a zero.
farfield_status farfield_set_number(farfield_sum *sum,
                                    const char *key,
                                    double value);

// Sets a core size or softening length for each source. They are copied.
//
// # Safety
// `sum` comes from farfield_sum_new; `sizes` points to `count` numbers.
farfield_status farfield_set_sizes(farfield_sum *sum, const double *sizes, size_t count);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FARFIELD_H */
