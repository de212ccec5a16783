/* Potential of random charges in one call, compared with the direct sum at some of the points. */
#include <farfield.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double uniform(void) { return rand() / (double)RAND_MAX; }

int main(void) {
  const size_t n = 20000;
  double *x = malloc(3 * n * sizeof *x), *q = malloc(n * sizeof *q), *phi = malloc(n * sizeof *phi);
  if (!x || !q || !phi) return 1;
  for (size_t i = 0; i < 3 * n; i++) x[i] = uniform();
  for (size_t i = 0; i < n; i++) q[i] = uniform() - 0.5;

  if (farfield_coulomb_f64(n, x, q, 0, NULL, 1e-6, phi, NULL) != FARFIELD_OK) {
    fprintf(stderr, "%s\n", farfield_message());
    return 1;
  }

  double wrong = 0, all = 0;
  for (size_t i = 0; i < n; i += 97) {
    double sum = 0;
    for (size_t j = 0; j < n; j++) {
      double r = sqrt(pow(x[3 * i] - x[3 * j], 2) + pow(x[3 * i + 1] - x[3 * j + 1], 2) + pow(x[3 * i + 2] - x[3 * j + 2], 2));
      if (j != i) sum += q[j] / r;
    }
    wrong += pow(phi[i] - sum, 2);
    all += sum * sum;
  }
  printf("%zu charges, relative error %.1e\n", n, sqrt(wrong / all));
  free(x), free(q), free(phi);
  return sqrt(wrong / all) < 1e-6 ? 0 : 1;
}
