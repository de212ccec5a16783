"""Checks sums of JAX arrays on an NVIDIA GPU: python/device-check.py. Needs JAX with CUDA and the installed farfield wheel.

Every line is a check or a measurement; the last line gives the result.
"""

import os
import sys
import time

# Import the installed wheel, not the package beside this script. JAX must leave GPU memory for farfield.
sys.path = [place for place in sys.path if os.path.abspath(place or ".") != os.path.dirname(os.path.abspath(__file__))]
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax
import numpy as np

import farfield as ff
import farfield.jax as ffj
from farfield import _farfield

jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp

failures = []


def check(true, what):
    print(("ok      " if true else "FAILED  ") + what, flush=True)
    if not true:
        failures.append(what)


def relative(found, expected):
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    return np.linalg.norm((found - expected).ravel()) / np.linalg.norm(expected.ravel())


class InterfaceOnly:
    """An array that has only __cuda_array_interface__."""

    def __init__(self, array):
        self.array = jax.block_until_ready(array)
        self.shape = array.shape
        self.dtype = array.dtype

    @property
    def __cuda_array_interface__(self):
        return self.array.__cuda_array_interface__


def sums(gpu, rng):
    for dtype, tolerance in ((np.float32, 1e-4), (np.float64, 1e-6)):
        name = np.dtype(dtype).name
        x, y = rng.random((20_000, 3)).astype(dtype), rng.random((3_000, 3)).astype(dtype)
        q, g = rng.normal(size=20_000).astype(dtype), rng.normal(size=(20_000, 3)).astype(dtype)
        several, moments = rng.normal(size=(3, 20_000)).astype(dtype), rng.normal(size=(20_000, 3)).astype(dtype)
        there = {key: jax.device_put(value, gpu) for key, value in dict(x=x, y=y, q=q, g=g, k=several, p=moments).items()}
        cases = {
            "coulomb": (ff.coulomb, ("x", "q"), {"outputs": ["potential", "gradient", "hessian"]}),
            "coulomb at targets": (ff.coulomb, ("x", "q"), {"targets": "y", "outputs": ["potential", "gradient"]}),
            "coulomb with several vectors": (ff.coulomb, ("x", "k"), {"outputs": ["potential", "gradient"]}),
            "dipoles": (ff.coulomb, ("x", "q"), {"dipoles": "p", "outputs": ["potential", "gradient"]}),
            "gravity": (ff.gravity, ("x", "q"), {"softening": 0.01, "outputs": ["potential", "acceleration"]}),
            "biot_savart": (
                ff.biot_savart,
                ("x", "g"),
                {"core": "gaussian", "core_size": 0.01, "outputs": ["velocity", "velocity_gradient"]},
            ),
        }
        host = dict(x=x, y=y, q=q, g=g, k=several, p=moments)
        for title, (function, arguments, options) in cases.items():
            place = lambda where: {k: where.get(v, v) if isinstance(v, str) else v for k, v in options.items()}  # noqa: B023, E731
            found = function(*(there[key] for key in arguments), **place(there), tolerance=tolerance)
            exact = {k: v.astype(float) for k, v in host.items()}
            truth = function(*(exact[key] for key in arguments), **place(exact), method="direct")
            errors = [relative(a, b) for a, b in zip(found, truth)]
            same = all(isinstance(a, jax.Array) and a.dtype == dtype and a.devices() == {gpu} for a in found)
            shapes = all(a.shape == b.shape for a, b in zip(found, truth))
            check(same and shapes and max(errors) < 2 * tolerance, f"{title}, {name}: errors {', '.join(f'{e:.1e}' for e in errors)}")
        found = ff.coulomb(InterfaceOnly(there["x"]), InterfaceOnly(there["q"]), tolerance=tolerance)
        back = jax.dlpack.from_dlpack(found)
        check(relative(back, ff.coulomb(x, q, tolerance=tolerance)) < 4 * tolerance, f"only __cuda_array_interface__, {name}")
        check(relative(ff.coulomb(there["x"], 1.0), ff.coulomb(x, 1.0)) < 4e-4, f"one number for all charges, {name}")


def plane(gpu, rng):
    """Sums in the plane, with real and complex strengths, in one call and by a plan."""
    for dtype, tolerance in ((np.float32, 1e-4), (np.float64, 1e-6)):
        name = np.dtype(dtype).name
        x, y = rng.random((20_000, 2)).astype(dtype), rng.random((3_000, 2)).astype(dtype)
        s = rng.normal(size=20_000).astype(dtype)
        z = (s + 1j * s[::-1]).astype(np.result_type(dtype, 1j))
        cases = {
            "coulomb": (s, {"outputs": ["potential", "gradient"]}),
            "gravity": (s, {"outputs": ["potential", "acceleration"], "gravitational_constant": 2.0, "softening": 0.01}),
            "biot_savart": (s, {"outputs": ["velocity"], "core": "gaussian", "core_size": 0.01}),
            "harmonic": (z, {"outputs": ["potential", "derivative", "second_derivative"]}),
            "log": (z, {"outputs": ["potential", "derivative", "second_derivative"]}),
        }
        for kernel, (strengths, options) in cases.items():
            function = getattr(ff, kernel)
            for targets in (None, y):
                wide = lambda a: None if a is None else a.astype(np.result_type(a.dtype, np.float64))  # noqa: E731
                truth = function(wide(x), wide(strengths), targets=wide(targets), method="direct", **options)
                there = None if targets is None else jax.device_put(targets, gpu)
                points, put = jax.device_put(x, gpu), jax.device_put(strengths, gpu)
                plan = ff.Plan(kernel, points, targets=there, complex=strengths is z, tolerance=tolerance, **options)
                once = function(points, put, targets=there, tolerance=tolerance, **options)
                for how, found in (("one call", once), ("plan", plan(put)), ("plan, second call", plan(put))):
                    errors = [difference(a, b) for a, b in zip(found, truth)]
                    same = all(isinstance(a, jax.Array) and a.shape == b.shape and a.devices() == {gpu} for a, b in zip(found, truth))
                    where = "at targets" if targets is not None else "at the sources"
                    check(
                        same and max(errors) < 4 * tolerance,
                        f"{kernel} in the plane {where}, {how}, {name}: errors {', '.join(f'{e:.1e}' for e in errors)}",
                    )


def difference(found, expected):
    """Returns the relative L2 error of real or complex numbers."""
    found = np.asarray(found)
    return np.linalg.norm((found - expected).ravel()) / np.linalg.norm(expected.ravel())


def plans(gpu, rng):
    """Plans of points on the GPU: agreement with one call, other strengths, reports, measured errors."""
    x, y = rng.random((50_000, 3)), rng.random((5_000, 3))
    m, size = rng.random((2, 50_000)), 0.02 * rng.random(50_000)
    for dtype, tolerance in ((np.float32, 1e-4), (np.float64, 1e-6)):
        name = np.dtype(dtype).name
        put = lambda a: jax.device_put(a.astype(dtype), gpu)  # noqa: B023, E731
        for title, options in (
            ("at the sources", {"softening": 0.01}),
            ("at targets", {"softening": 0.01, "targets": put(y)}),
            ("with a softening per source", {"softening": put(size)}),
        ):
            plan = ff.Plan("gravity", put(x), tolerance=tolerance, outputs=["potential", "acceleration"], **options)
            same = True
            for masses in m:
                one = ff.gravity(put(x), put(masses), tolerance=tolerance, outputs=["potential", "acceleration"], **options)
                same = same and all(difference(a, np.asarray(b)) < 1e-3 * tolerance for a, b in zip(plan(put(masses)), one))
            error = ff.verify(plan, put(m[0]))
            check(same, f"plan of masses {title}, {name}: agrees with one call")
            check(max(error.values()) < 2 * tolerance, f"measured errors of the plan: {error}")
        report = plan.report
        check(report["device"].startswith("cuda") and report["seconds"]["total"] > 0, f"report of the plan: {report['method']}, {report['device']}")
        both = ff.Plan("coulomb", put(x), vectors=2)(put(m))
        check(both.shape == (2, 50_000), f"two vectors at once, {name}")


def where_time_goes(gpu, rng):
    """Times of the parts of a call from JAX; measurements without checks."""
    n = 1_000_000
    x, q = rng.random((n, 3)).astype(np.float32), rng.normal(size=n).astype(np.float32)
    x, q = jax.device_put(x, gpu), jax.device_put(q, gpu)
    outputs = ["potential", "gradient"]
    best = {}

    def note(what, start):
        now = time.perf_counter()
        best[what] = min(best.get(what, 1e9), now - start)
        return now

    from farfield import _gpu
    from farfield._plan import OPTIONS

    about = dict(strengths_name="charges", sizes_name="core_size", constant=1.0, core=None, kernel="coulomb", allow_unbounded_gradient=False)
    for _ in range(30):
        start = time.perf_counter()
        points = _gpu.Points("coulomb", x, None, None)
        given = _gpu.strengths(points, q, None, False)
        request = {**about, **OPTIONS, "device": "cuda:0", "tolerance": 1e-3}
        summing = _gpu.Sum(points, outputs, request, 1, False)
        operands = points.operands()
        now = note("checking arguments, exporting the inputs", start)
        arrays, seconds = _farfield.sum_on_gpu(summing.request, 0, operands, given.operand, summing._shapes(True))
        now = note("call of the extension", now)
        best["sum within that call"] = min(best.get("sum within that call", 1e9), seconds)
        results = summing._results(arrays)
        now = note("importing the results into JAX", now)
        jax.block_until_ready(results)
        now = note("waiting for the results", now)
        del results, arrays, operands
        note("freeing the results", now)
    for what, seconds in best.items():
        print(f"        {1e6 * seconds:8.1f} us  {what}")


def order_of_streams(gpu, rng):
    """Points are written just before the sum and results read just after it: without synchronisation both would be stale."""
    x = jax.device_put(rng.random((200_000, 3)).astype(np.float32), gpu)
    q = jax.device_put(np.ones(200_000, np.float32), gpu)
    move = jax.jit(lambda x, k: jnp.sin(jnp.cos(jnp.sin(x * 3.0 + k)) * 5.0) + 0 * (x @ jnp.ones((3, 3), x.dtype)))
    same = True
    for k in range(40):
        moved = move(x, k * 0.1)
        mean = ff.coulomb(moved, q).mean()
        again = ff.coulomb(jax.block_until_ready(moved), q)
        same = same and float(mean) == float(jax.block_until_ready(again).mean())
    check(same, "40 sums between a kernel that writes the points and one that reads the results")


def refusals(gpu, rng):
    x = jax.device_put(rng.random((1000, 3)).astype(np.float32), gpu)
    q = jnp.ones(1000, jnp.float32)
    for call, message in (
        (lambda: ff.coulomb(x.at[4, 1].set(jnp.nan), q), "sources[4, 1]"),
        (lambda: ff.coulomb(x, q.at[7].set(jnp.inf)), "charges[7]"),
        (lambda: ff.coulomb(x, q[:5]), "charges"),
        (lambda: ff.coulomb(x, q.astype(jnp.float64)), "charges"),
    ):
        try:
            call()
            check(False, f"{message} was not refused")
        except (ValueError, TypeError) as error:
            check(message in str(error), f"refused: {error}")


def memory_and_traffic(gpu, rng):
    n = 1_000_000
    x = jax.device_put(rng.random((n, 3)).astype(np.float32), gpu)
    q = jax.device_put(rng.normal(size=n).astype(np.float32), gpu)
    ff.coulomb(x, q)
    before = _farfield.traffic(0)
    for _ in range(10):
        ff.coulomb(x, q)
    sent, fetched = (after - start for after, start in zip(_farfield.traffic(0), before))
    check(
        sent < 10 * n and fetched < 10 * n,
        f"10 sums of {16 * n} bytes sent {sent} and fetched {fetched} bytes: the arrays did not pass through the host",
    )


def speed(gpu, rng):
    n = 1_000_000
    x, q = rng.random((n, 3)).astype(np.float32), rng.normal(size=n).astype(np.float32)
    there = jax.device_put(x, gpu), jax.device_put(q, gpu)
    for tolerance in (1e-3, 1e-4):
        for outputs in (["potential"], ["potential", "gradient"]):
            def once():
                start = time.perf_counter()
                jax.block_until_ready(ff.coulomb(*there, tolerance=tolerance, outputs=outputs))  # noqa: B023
                return time.perf_counter() - start

            once()
            request = {
                "kernel": "coulomb", "dimension": 3, "sources": np.zeros((0, 3), np.float32), "targets": None, "outputs": outputs,
                "vectors": 1, "complex": False, "core": None, "size": None, "sizes": None, "constant": 1.0,
                "allow_unbounded_gradient": False, "tolerance": tolerance, "method": "auto", "device": "cuda", "order": None,
                "theta": None, "leaf_capacity": None, "memory_limit": None, "threads": None, "strengths_name": "charges",
                "sizes_name": "core_size",
            }  # fmt: skip
            python, rust = [], []
            for _ in range(8):
                python += [once() for _ in range(6)]
                rust += _farfield.seconds_on_gpu(request, 0, x, q, 6)
            python, rust = min(python), min(rust)
            check(
                python <= 1.1 * rust,
                f"1M points, float32, tolerance {tolerance:g}, {'+'.join(outputs)}: {1e3 * python:.3f} ms from JAX, "
                f"{1e3 * rust:.3f} ms from Rust, ratio {python / rust:.3f}",
            )


def gradients(gpu, rng):
    x = jax.device_put(rng.random((3000, 3)), gpu)
    q, w = jax.device_put(rng.normal(size=3000), gpu), jax.device_put(rng.normal(size=3000), gpu)
    v = jax.device_put(rng.normal(size=(3000, 3)), gpu)

    def of_charges(x, q):
        phi, grad = ffj.coulomb(x, q, outputs=["potential", "gradient"], tolerance=1e-12)
        return (w * phi).sum() + 1e-3 * (v * grad).sum()

    def of_vortices(x, g):
        return (v * ffj.biot_savart(x, g, core="gaussian", core_size=0.1, tolerance=1e-12)).sum()

    for name, function, s in (("coulomb", of_charges, q), ("biot_savart", of_vortices, v)):
        found = jax.grad(function, argnums=(0, 1))(x, s)
        check(all(value.devices() == {gpu} for value in found), f"derivatives of {name} are on the GPU")
        for which, derivative in enumerate(found):
            arguments = [x, s]
            direction = rng.normal(size=arguments[which].shape)
            step = 1e-6 if which == 0 else 1e-3
            ends = []
            for sign in (1, -1):
                moved = list(arguments)
                moved[which] = arguments[which] + sign * step * direction
                ends.append(float(function(*moved)))
            expected = (ends[0] - ends[1]) / (2 * step)
            along = float((derivative * direction).sum())
            error = abs(along - expected) / abs(expected)
            check(error < 1e-3, f"derivative of {name} with respect to {('points', 'strengths')[which]}: relative difference {error:.1e}")
        compiled = jax.jit(jax.grad(function, argnums=(0, 1)))(x, s)
        check(all(relative(a, b) < 1e-6 for a, b in zip(compiled, found)), f"derivatives of {name} under jit")


def main():
    gpus = [device for device in jax.devices() if device.platform in ("gpu", "cuda")]
    print(f"jax {jax.__version__}, farfield {ff.__version__}, {gpus}, {ff.gpus()}")
    check(bool(gpus) and bool(ff.gpus()), "a GPU is available to JAX and to farfield")
    if not failures:
        for part in (sums, plane, plans, refusals, order_of_streams, memory_and_traffic, gradients, where_time_goes, speed):
            try:
                part(gpus[0], np.random.default_rng(1))
            except Exception as error:  # the other parts still run
                check(False, f"{part.__name__}: {type(error).__name__}: {error}")
    print("all checks passed" if not failures else f"{len(failures)} checks FAILED")
    return len(failures)


if __name__ == "__main__":
    raise SystemExit(min(main(), 1))
