"""Invalid calls raise Python's own exceptions that name the argument; the interpreter never crashes."""

import os
import random
import warnings

import numpy as np
import pytest

import farfield as ff

X = np.random.default_rng(3).random((20, 3))
Q = np.ones(20)


def changed(array, at, value):
    array = np.array(array, dtype=float)
    array[at] = value
    return array


WRONG = {
    "nan coordinate": (lambda: ff.coulomb(changed(X, (4, 1), np.nan), Q), ValueError, r"sources\[4, 1\]"),
    "infinite target": (lambda: ff.coulomb(X, Q, targets=changed(X, (2, 0), np.inf)), ValueError, r"targets\[2, 0\]"),
    "nan charge": (lambda: ff.coulomb(X, changed(Q, 7, np.nan)), ValueError, r"charges\[7\]"),
    "nan mass": (lambda: ff.gravity(X, changed(Q, 7, np.nan)), ValueError, r"masses\[7\]"),
    "nan of a vector": (lambda: ff.coulomb(X, changed([Q, Q], (1, 3), np.nan)), ValueError, r"charges\[1, 3\]"),
    "nan dipole": (lambda: ff.coulomb(X, Q, dipoles=changed(X, (5, 2), np.nan)), ValueError, r"dipoles\[5\]"),
    "negative softening": (lambda: ff.gravity(X, Q, softening=changed(Q, 2, -1)), ValueError, r"softening\[2\]"),
    "nan core": (lambda: ff.biot_savart(X, X, core="gaussian", core_size=changed(Q, 9, np.nan)), ValueError, r"core_size\[9\]"),
    "too few charges": (lambda: ff.coulomb(X, Q[:5]), ValueError, r"charges.*\(20,\).*\(5,\)"),
    "too many sizes": (lambda: ff.gravity(X, Q, softening=np.ones(21)), ValueError, "softening has 21"),
    "four coordinates": (lambda: ff.coulomb(np.ones((5, 4)), 1.0), ValueError, r"sources.*\(5, 4\)"),
    "one axis": (lambda: ff.coulomb(np.ones(5), 1.0), ValueError, "sources"),
    "ragged": (lambda: ff.coulomb([[1.0, 2, 3], [1]], 1.0), ValueError, "sources"),
    "other dimension": (lambda: ff.coulomb(X, Q, targets=X[:, :2]), ValueError, "targets"),
    "tolerance": (lambda: ff.coulomb(X, Q, tolerance=1.0), ValueError, "tolerance"),
    "tolerance of a type": (lambda: ff.coulomb(X, Q, tolerance="1e-3"), TypeError, "tolerance"),
    "method": (lambda: ff.coulomb(X, Q, method="magic"), ValueError, "method.*magic.*fmm"),
    "device": (lambda: ff.coulomb(X, Q, device="gpu"), ValueError, "device.*gpu.*cuda"),
    "threads": (lambda: ff.coulomb(X, Q, threads=0), ValueError, "threads"),
    "too many threads": (lambda: ff.coulomb(X, Q, threads=10**6), ValueError, "threads"),
    "output": (lambda: ff.coulomb(X, Q, outputs="velocity"), ValueError, "outputs.*velocity.*gradient"),
    "output twice": (lambda: ff.coulomb(X, Q, outputs=["potential", "potential"]), ValueError, "outputs.*twice"),
    "no output": (lambda: ff.coulomb(X, Q, outputs=[]), ValueError, "outputs"),
    "core": (lambda: ff.biot_savart(X, X, core="apple", core_size=1.0), ValueError, "core.*apple.*gaussian"),
    "core without size": (lambda: ff.biot_savart(X, X, core="gaussian"), ValueError, "core_size"),
    "not analytic": (
        lambda: ff.log(X[:, :2], Q, core="gaussian", core_size=0.1, outputs="second_derivative"),
        ValueError,
        "outputs.*gaussian.*no second-derivative.*potential, derivative",
    ),
    "size without core": (lambda: ff.biot_savart(X, X, core_size=0.1), ValueError, "core_size"),
    "kernel": (lambda: ff.Plan("magic", X), ValueError, "kernel.*magic.*coulomb"),
    "kernel of the plane": (lambda: ff.Plan("log", X), ValueError, "kernel.*log"),
    "strengths missing": (lambda: ff.Plan("coulomb", X)(), TypeError, "charges"),
    "not a plan": (lambda: ff.verify(3, Q), TypeError, "plan"),
    "overflow": (lambda: ff.coulomb(X, Q * 1e308), ValueError, "charges"),
    "huge view": (lambda: ff.coulomb(np.broadcast_to(0.5, (10**12, 3)), 1.0), MemoryError, "sources.*GiB"),
    "huge strengths": (lambda: ff.coulomb(X, np.broadcast_to(0.5, (10**12, 20))), MemoryError, "charges.*GiB"),
    "masked": (lambda: ff.coulomb(np.ma.masked_less(X, 0.5), Q), ValueError, "sources"),
    "case": (lambda: ff.run("leapfrogs", progress=False), ValueError, "case.*leapfrog"),
    "setting": (lambda: ff.Simulation("kepler", set={"time.ende": 2}), ValueError, "set.*time.ende"),
    "field": (lambda: ff.poisson(np.ones((16, 16, 17)), 0.1), ValueError, "field.*17"),
}


@pytest.mark.parametrize("name", WRONG)
def test_the_error_of_an_invalid_call_names_the_argument(name):
    call, exception, message = WRONG[name]
    with pytest.raises(exception, match=message):
        call()


def any_array(choose):
    shape = choose.choice([(), (0,), (3,), (5,), (0, 3), (5, 3), (5, 2), (2, 5), (2, 5, 3), (5, 4), (1, 1, 1, 1)])
    kind = choose.choice(["f8", "f8", "f8", "f4", "i4", "u8", "c16", "f2", "?", "O", "U2", ">f8"])
    if choose.random() < 0.02:
        return np.broadcast_to(np.float64(0.5), choose.choice([(2**40, 3), (2**40,), (2, 2**40), (2**40, 5, 3), (5, 2**40)]))
    array = np.random.default_rng(choose.randrange(2**32)).normal(size=shape)
    if choose.random() < 0.3 and array.size:
        array.flat[choose.randrange(array.size)] = choose.choice([np.nan, np.inf, 1e300, -1e300, 1e-320, 0.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        array = array.astype(kind)
    return array[::-1] if choose.random() < 0.2 and array.ndim else array


def anything(choose):
    return choose.choice(
        [
            None, True, 0, -1, 1, 2**70, 1.5, -0.0, float("nan"), float("inf"), 1e-300, "", "cpu", "cuda", "gaussian",
            "potential", "fmm", [], {}, (), object(), b"x", "\0", "\N{SNOWMAN}", [[]], [None], np.nan, np.float32(3), 10**400,
        ]
    )  # fmt: skip


NAMES = [
    "charges", "masses", "strengths", "sources", "targets", "dipoles", "core", "core_size", "softening", "kernel", "outputs",
    "softening_kernel", "gravitational_constant", "tolerance", "method", "device", "threads", "order", "theta",
    "leaf_capacity", "memory_limit", "vectors", "seed", "complex", "case", "set", "field", "spacing", "dt", "state",
    "positions", "argument", "sum needs", "GPU", "NVIDIA", "instruction set",
]  # fmt: skip


def test_random_invalid_calls_do_not_crash_the_interpreter():
    """FARFIELD_WRONG_CALLS sets the number of calls; every message names an argument."""
    choose = random.Random(int(os.environ.get("FARFIELD_SEED", "1")))
    refused = 0
    for _ in range(int(os.environ.get("FARFIELD_WRONG_CALLS", "10000"))):
        value = lambda: any_array(choose) if choose.random() < 0.7 else anything(choose)  # noqa: E731
        options = {}
        for name in ("targets", "outputs", "tolerance", "method", "device", "threads", "order", "theta", "leaf_capacity", "memory_limit"):
            if choose.random() < 0.12:
                options[name] = value() if name == "targets" else anything(choose)
        kernel = choose.choice(["coulomb", "gravity", "biot_savart", "harmonic", "log"])
        own = {"coulomb": ["dipoles"], "gravity": ["softening", "softening_kernel", "gravitational_constant"]}
        for name in own.get(kernel, ["core", "core_size"]):
            if choose.random() < 0.3:
                options[name] = value()
        points = X[:5] if choose.random() < 0.5 else value()
        try:
            if choose.random() < 0.7:
                getattr(ff, kernel)(points, value(), **options)
            else:
                ff.Plan(kernel, points, vectors=choose.choice([1, 2, anything(choose)]), **options)(value())
        except (ValueError, TypeError, MemoryError, RuntimeError) as error:
            refused += 1
            assert any(name in str(error) for name in NAMES), (type(error), str(error))
            assert "bug in farfield" not in str(error), str(error)
    assert refused > 0
