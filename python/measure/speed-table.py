"""Times farfield, fmm3dpy, fmm2dpy and direct sums by numba and numpy, and prints one table: python/measure/speed-table.py [--quick] [--most N] [--cpu-time]

Needs the packages to be compared: pip install farfield fmm3dpy fmm2dpy numba 'numpy<2' (fmm2dpy 0.0.5 breaks under numpy 2). A
package that cannot be imported is reported and left out. Every time is the best of three after one warm-up call. All packages
use OMP_NUM_THREADS threads, or all cores. Errors are relative L2 errors at 200 points, against a direct sum in double precision.
"""

import argparse
import os
import platform
import time

import numpy as np

import farfield as ff

THREADS = int(os.environ.get("OMP_NUM_THREADS", os.cpu_count() or 1))
#: Direct sums over more pairs than this are skipped.
MOST_PAIRS = {"numba": 2e11, "numpy": 2e9}


def best(function, repeats, clock):
    function()
    times = []
    for _ in range(repeats):
        start = clock()
        result = function()
        times.append(clock() - start)
    return min(times), result


def truth_in_space(x, q, at):
    r = np.sqrt(((x[at][:, None, :] - x[None, :, :]) ** 2).sum(-1))
    return (np.divide(1.0, r, out=np.zeros_like(r), where=r > 0) * q).sum(1)


def truth_in_plane(x, q, at):
    r = np.sqrt(((x[at][:, None, :] - x[None, :, :]) ** 2).sum(-1))
    return (np.log(r, out=np.zeros_like(r), where=r > 0) * q).sum(1)


def numpy_direct(x, q, chunk=512):
    phi = np.empty(len(x))
    for start in range(0, len(x), chunk):
        r2 = ((x[start : start + chunk, None, :] - x[None, :, :]) ** 2).sum(-1)
        phi[start : start + chunk] = np.divide(1.0, np.sqrt(r2), out=np.zeros_like(r2), where=r2 > 0) @ q
    return phi


def numba_direct():
    import numba

    @numba.njit(parallel=True, fastmath=True)
    def direct(x, q):
        phi = np.zeros(len(x))
        for i in numba.prange(len(x)):
            total = 0.0
            for j in range(len(x)):
                r2 = (x[i, 0] - x[j, 0]) ** 2 + (x[i, 1] - x[j, 1]) ** 2 + (x[i, 2] - x[j, 2]) ** 2
                total += q[j] / np.sqrt(r2) if r2 > 0 else 0.0
            phi[i] = total
        return phi

    numba.set_num_threads(min(THREADS, numba.config.NUMBA_NUM_THREADS))
    return direct


def contestants(name):
    """Returns the packages that can be imported, by name."""
    found = {}
    if name == "space":
        found["farfield"] = lambda x, q, eps: ff.coulomb(x, q, tolerance=eps, threads=THREADS)
        try:
            import fmm3dpy

            found["fmm3dpy"] = lambda x, q, eps: 4 * np.pi * fmm3dpy.lfmm3d(eps=eps, sources=np.asfortranarray(x.T), charges=q, pg=1).pot
        except ImportError as error:
            print(f"fmm3dpy is left out: {error}")
        try:
            direct = numba_direct()
            found["numba"] = lambda x, q, eps: direct(x, q)
        except ImportError as error:
            print(f"numba is left out: {error}")
        found["numpy"] = lambda x, q, eps: numpy_direct(x, q)
    else:
        found["farfield"] = lambda x, q, eps: ff.log(x, q, tolerance=eps, threads=THREADS)
        try:
            import fmm2dpy

            found["fmm2dpy"] = lambda x, q, eps: fmm2dpy.rfmm2d(eps=eps, sources=np.asfortranarray(x.T), charges=q, pg=1).pot
        except ImportError as error:
            print(f"fmm2dpy is left out: {error}")
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="few points and one repeat, to check that the script works")
    parser.add_argument("--most", type=int, default=1_000_000, help="leave out sizes above this, of 10 000, 100 000 and 1 000 000 points")
    parser.add_argument("--cpu-time", action="store_true", help="measure CPU time of all threads instead of wall time; for a busy machine and one thread")
    arguments = parser.parse_args()
    clock = time.process_time if arguments.cpu_time else time.perf_counter
    quick = arguments.quick
    sizes = (2_000,) if quick else [n for n in (10_000, 100_000, 1_000_000) if n <= arguments.most]
    times = "CPU" if arguments.cpu_time else "wall"
    print(f"\n{platform.machine()}, {THREADS} threads, {ff.simd()}, {times} time; numpy {np.__version__}, farfield {ff.__version__}\n")
    print("| sum of charges | points | tolerance | package | seconds | relative to farfield | relative error |")
    print("|---|---|---|---|---|---|---|")
    for name, dimension, truth in (("space", 3, truth_in_space), ("plane", 2, truth_in_plane)):
        calls = contestants(name)
        for n in sizes:
            rng = np.random.default_rng(1)
            x, q = rng.random((n, dimension)), rng.normal(size=n)
            at = rng.choice(n, 200, replace=False)
            exact = truth(x, q, at)
            for eps in (1e-3, 1e-6, 1e-9):
                ours = 0.0
                for who, call in calls.items():
                    if n * n > MOST_PAIRS.get(who, np.inf) or (who in MOST_PAIRS and eps != 1e-6):
                        continue
                    seconds, phi = best(lambda: call(x, q, eps), 1 if quick else 3, clock)  # noqa: B023
                    error = np.linalg.norm(phi[at] - exact) / np.linalg.norm(exact)
                    ours = seconds if who == "farfield" else ours
                    row = f"| {name} | {n:,} | {eps:.0e} | {who} | {seconds:.4f} | {seconds / ours:.1f} | {error:.1e} |"
                    print(row.replace(",", " "), flush=True)


if __name__ == "__main__":
    main()
