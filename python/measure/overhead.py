"""Measures the overhead of a call from Python over the same call from Rust: python/measure/overhead.py

Both do the whole sum, planning included, alternately; the minimum time of each is printed.
"""

import time

import numpy as np

import farfield as ff
from farfield import _farfield


def request(x, tolerance):
    return {
        "kernel": "coulomb", "dimension": 3, "sources": x, "targets": None, "outputs": ["potential"], "vectors": 1,
        "complex": False, "core": None, "size": None, "sizes": None, "constant": 1.0, "allow_unbounded_gradient": False,
        "tolerance": tolerance, "method": "auto", "device": "cpu", "order": None, "theta": None, "leaf_capacity": None,
        "memory_limit": None, "threads": None, "strengths_name": "charges", "sizes_name": "core_size",
    }  # fmt: skip


def compare(n, tolerance, rounds):
    """Returns the minimum seconds of both. Calls alternate, so that both find threads and caches in the same state."""
    rng = np.random.default_rng(1)
    x, q = rng.random((n, 3)), rng.normal(size=n)
    asked = request(x, tolerance)
    python, rust = [], []
    for _ in range(rounds):
        start = time.perf_counter()
        ff.coulomb(x, q, tolerance=tolerance)
        python.append(time.perf_counter() - start)
        rust += _farfield.seconds_on_host(asked, q, 1)
    return min(python), min(rust)


def main():
    python, rust = compare(1_000, 1e-6, 4_000)
    print(f"1 000 points: {1e6 * python:.1f} us from Python, {1e6 * rust:.1f} us from Rust, {1e6 * (python - rust):.1f} us more")
    python, rust = compare(1_000_000, 1e-6, 6)
    print(f"1 000 000 points: {python:.4f} s from Python, {rust:.4f} s from Rust, {100 * (python / rust - 1):.2f} % more")


if __name__ == "__main__":
    main()
