/* Plans: options, invalid arguments, several threads, verification. Each call of `expect` is a test. */
#include <farfield.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

static void expect(int true_, const char *what) {
  if (!true_) {
    failures++;
    fprintf(stderr, "failed: %s (last message: %s)\n", what, farfield_message());
  }
}

static int complains_of(farfield_status status, farfield_status wanted, const char *word) {
  return status == wanted && strstr(farfield_message(), word) != NULL;
}

enum { N = 3000 };
static double x[3 * N], m[N];

struct job {
  const farfield_plan *plan;
  double a[3 * N];
  farfield_status status;
};

static void *sum_up(void *pointer) {
  struct job *job = pointer;
  double *results[] = {job->a};
  job->status = farfield_evaluate_f64(job->plan, m, N, results, 1);
  return NULL;
}

int main(void) {
  for (size_t i = 0; i < 3 * N; i++) x[i] = rand() / (double)RAND_MAX;
  for (size_t i = 0; i < N; i++) m[i] = rand() / (double)RAND_MAX;

  /* One plan, used by several threads at once. */
  farfield_sum *sum = farfield_sum_new("gravity");
  expect(sum != NULL, "make a sum");
  expect(farfield_set_text(sum, "outputs", "acceleration") == FARFIELD_OK, "set outputs");
  expect(farfield_set_text(sum, "method", "fmm") == FARFIELD_OK, "set method");
  expect(farfield_set_number(sum, "softening", 0.01) == FARFIELD_OK, "set softening");
  expect(farfield_set_number(sum, "tolerance", 1e-5) == FARFIELD_OK, "set tolerance");
  expect(farfield_set_number(sum, "threads", 2) == FARFIELD_OK, "set threads");
  farfield_plan *plan = NULL;
  expect(farfield_plan_f64(sum, N, x, 0, NULL, &plan) == FARFIELD_OK && plan, "make a plan");
  expect(farfield_output_count(plan) == 1 && farfield_output_length(plan, 0) == 3 * N, "number and length of outputs");
  double error = 1;
  expect(farfield_verify_f64(plan, m, N, 200, 1, &error) == FARFIELD_OK && error < 1e-5, "error within the tolerance");
  static struct job jobs[4];
  pthread_t threads[4];
  for (int k = 0; k < 4; k++) {
    jobs[k].plan = plan;
    pthread_create(&threads[k], NULL, sum_up, &jobs[k]);
  }
  for (int k = 0; k < 4; k++) pthread_join(threads[k], NULL);
  for (int k = 0; k < 4; k++)
    expect(jobs[k].status == FARFIELD_OK && memcmp(jobs[k].a, jobs[0].a, sizeof jobs[0].a) == 0, "bitwise equal results from all threads");
  size_t needed = 0;
  char report[8192];
  expect(farfield_report(plan, report, sizeof report, &needed) == FARFIELD_OK, "report");
  expect(needed == strlen(report) + 1 && strstr(report, "\"method\":\"fmm\""), "length and method of the report");
  char cut[5];
  expect(farfield_report(plan, cut, sizeof cut, NULL) == FARFIELD_OK && strlen(cut) == 4, "truncated report");

  /* An invalid argument gives a status and a message that names it; the sum and the plan stay usable. */
  double *results[] = {jobs[0].a, NULL};
  expect(complains_of(farfield_evaluate_f64(plan, m, N - 1, results, 1), FARFIELD_ARGUMENT, "strengths"), "too few masses");
  expect(complains_of(farfield_evaluate_f64(plan, m, N, results, 2), FARFIELD_ARGUMENT, "results"), "too many results");
  expect(complains_of(farfield_evaluate_f64(plan, NULL, N, results, 1), FARFIELD_ARGUMENT, "strengths"), "NULL masses");
  expect(complains_of(farfield_evaluate_f64(NULL, m, N, results, 1), FARFIELD_ARGUMENT, "plan"), "NULL plan");
  expect(complains_of(farfield_evaluate_f32(plan, NULL, 0, NULL, 0), FARFIELD_ARGUMENT, "results"), "NULL results");
  float single = 0, *singles[] = {&single};
  expect(complains_of(farfield_evaluate_f32(plan, &single, 1, singles, 1), FARFIELD_ARGUMENT, "f64"), "evaluation in another precision");
  expect(complains_of(farfield_set_text(sum, "colour", "red"), FARFIELD_ARGUMENT, "colour"), "unknown key");
  expect(complains_of(farfield_set_number(sum, "order", 2.5), FARFIELD_ARGUMENT, "order"), "fractional order");
  expect(complains_of(farfield_set_text(NULL, "core", "gaussian"), FARFIELD_ARGUMENT, "sum"), "NULL sum");
  m[17] = NAN;
  expect(complains_of(farfield_evaluate_f64(plan, m, N, results, 1), FARFIELD_ARGUMENT, "strengths[17]"), "NaN mass");
  m[17] = 1;
  farfield_plan *none = NULL;
  x[3 * 5 + 1] = INFINITY;
  expect(complains_of(farfield_plan_f64(sum, N, x, 0, NULL, &none), FARFIELD_ARGUMENT, "sources[5]") && !none, "infinite coordinate");
  x[3 * 5 + 1] = 0.5;
  expect(complains_of(farfield_plan_f64(sum, SIZE_MAX, x, 0, NULL, &none), FARFIELD_ARGUMENT, "source_count"), "too many points");
  expect(complains_of(farfield_plan_f64(sum, N, x, 4, NULL, &none), FARFIELD_ARGUMENT, "targets"), "NULL targets");
  expect(complains_of(farfield_plan_f64(sum, N, x, 0, NULL, NULL), FARFIELD_ARGUMENT, "plan"), "NULL pointer to the plan");
  farfield_set_number(sum, "memory_limit", 1000);
  expect(complains_of(farfield_plan_f64(sum, N, x, 0, NULL, &none), FARFIELD_MEMORY, "GiB"), "memory limit too low");
  farfield_sum *magic = farfield_sum_new("magic");
  expect(complains_of(farfield_plan_f64(magic, N, x, 0, NULL, &none), FARFIELD_ARGUMENT, "magic"), "unknown kernel");
  farfield_set_text(sum, "device", "cuda:99");
  farfield_set_number(sum, "memory_limit", 1e12);
  expect(farfield_plan_f64(sum, N, x, 0, NULL, &none) == FARFIELD_DEVICE && !none, "missing GPU");
  farfield_sum_free(magic);
  farfield_sum_free(sum);
  farfield_plan_free(plan);
  farfield_sum_free(NULL);
  farfield_plan_free(NULL);

  /* The plane in single precision with complex strengths: two sources at a distance of 2. */
  sum = farfield_sum_new("harmonic2d");
  farfield_set_number(sum, "complex", 1);
  float z[] = {0, 0, 2, 0}, s[] = {1, 0, 0, 1}, w[4], *places[] = {w};
  expect(farfield_plan_f32(sum, 2, z, 0, NULL, &plan) == FARFIELD_OK, "make a plan in the plane");
  expect(farfield_output_length(plan, 0) == 4, "length of complex results");
  expect(farfield_evaluate_f32(plan, s, 4, places, 1) == FARFIELD_OK, "evaluate in the plane");
  /* s/(source - target): i/(2 - 0) at the first point, 1/(0 - 2) at the second. */
  expect(fabsf(w[0]) < 1e-5f && fabsf(w[1] - 0.5f) < 1e-5f && fabsf(w[2] + 0.5f) < 1e-5f && fabsf(w[3]) < 1e-5f, "i/2 and -1/2");
  farfield_plan_free(plan);
  farfield_sum_free(sum);

  printf("%s\n", failures ? "failed" : "every expectation met");
  return failures != 0;
}
