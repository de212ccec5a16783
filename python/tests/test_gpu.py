"""Tests of arrays on a GPU that need no GPU. python/device-check.py tests the rest on a machine with a GPU."""

import numpy as np
import pytest

import farfield as ff
from farfield import _farfield, _gpu, _libraries


class Pretending:
    """An array without data that claims to be on a GPU."""

    __module__ = "somewhere"

    def __init__(self, shape, dtype="float32", gpu=0):
        self.shape, self.dtype, self.gpu = shape, dtype, gpu

    def __dlpack_device__(self):
        return 2, self.gpu

    def __dlpack__(self, stream=None):
        raise AssertionError("__dlpack__ must not be called without a GPU")


def test_capsules_carry_address_shape_and_precision_and_are_consumed_once():
    assert _farfield.round_trip(4096, [5, 3], True) == (4096, [5, 3], True)
    assert _farfield.round_trip(64, [], False) == (64, [], False)
    assert _farfield.round_trip(64, [2, 0, 3], False) == (64, [2, 0, 3], False)


def test_host_arrays_are_not_mistaken_for_gpu_arrays(rng):
    for value in (rng.random((3, 3)), 1.0, None, [1.0], object()):
        assert not _gpu.on_gpu(value)
    assert _gpu.on_gpu(Pretending((3, 3)))


@pytest.mark.parametrize(
    "call, exception, message",
    [
        (lambda: ff.coulomb(Pretending((5, 4)), Pretending((5,))), ValueError, r"sources.*\(5, 4\)"),
        (lambda: ff.coulomb(Pretending((5, 2)), 1.0, targets=Pretending((5, 3))), ValueError, r"targets.*\(m, 2\)"),
        (lambda: ff.log(Pretending((5, 3)), 1.0), ValueError, "kernel.*log"),
        (lambda: ff.coulomb(Pretending((5, 2)), Pretending((5,), "complex64")), TypeError, "charges.*complex64"),
        (lambda: ff.log(Pretending((5, 2)), Pretending((5,), "complex128")), TypeError, "strengths.*float64"),
        (lambda: ff.coulomb(Pretending((5, 3), "int32"), Pretending((5,))), TypeError, "sources.*int32"),
        (lambda: ff.coulomb(Pretending((5, 3)), Pretending((4,))), ValueError, r"charges.*\(5,\).*\(4,\)"),
        (lambda: ff.coulomb(Pretending((5, 3)), Pretending((5,), "float64")), TypeError, "charges.*float64"),
        (lambda: ff.coulomb(Pretending((5, 3)), 1.0, targets=Pretending((5, 4))), ValueError, "targets"),
        (lambda: ff.gravity(Pretending((5, 3)), None), TypeError, "masses"),
        (lambda: ff.gravity(Pretending((5, 3)), 1.0, softening=np.array([1, 1, 1, 1, -1.0])), ValueError, "softening.*-1"),
        (lambda: ff.gravity(Pretending((5, 3)), 1.0, softening=np.ones(4)), ValueError, "softening"),
        (lambda: ff.coulomb(Pretending((5, 3)), None, dipoles=Pretending((5, 4))), ValueError, "dipoles"),
        (lambda: ff.coulomb(Pretending((5, 2)), 1.0, dipoles=Pretending((5, 2))), ValueError, "dipoles"),
        (lambda: ff.coulomb(Pretending((5, 3)), 1.0, outputs="velocity"), ValueError, "outputs"),
        (lambda: ff.coulomb(Pretending((5, 3)), 1.0, device="tpu"), ValueError, "device"),
        (lambda: ff.Plan("coulomb", Pretending((5, 3)), device="tpu"), ValueError, "device"),
        (lambda: ff.Plan("coulomb", Pretending((5, 3)), outputs="velocity"), ValueError, "outputs"),
        (lambda: ff.Plan("coulomb", Pretending((5, 3)), complex=True), TypeError, "charges.*complex"),
        (lambda: ff.coulomb(np.ones((5, 3)), Pretending((5,))), (TypeError, ValueError), "charges"),
    ],
)
def test_invalid_arrays_are_refused_by_name(call, exception, message):
    with pytest.raises(exception, match=message):
        call()


@pytest.mark.skipif(bool(ff.gpus()), reason="there is a GPU")
def test_gpu_arrays_without_a_gpu_are_a_runtime_error():
    with pytest.raises(RuntimeError):
        ff.coulomb(Pretending((5, 3)), Pretending((5,)))
    with pytest.raises(RuntimeError):
        ff.Plan("coulomb", Pretending((5, 3)))


class There:
    """An array of a mock library: it claims to be on a GPU but keeps its numbers on the host."""

    def __init__(self, values):
        self.values = np.asarray(values)
        self.shape, self.dtype = self.values.shape, self.values.dtype

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, stream=None):
        return np.ascontiguousarray(self.values)

    def __getitem__(self, key):
        return There(self.values[key])

    def __mul__(self, other):
        return There(self.values * other)

    def reshape(self, shape):
        return There(self.values.reshape(shape))

    def min(self):
        return self.values.min()


class Library(_libraries.Library):
    def take(self, sample, result):
        return There(result.values)

    def beside(self, what, first, second):
        return There(np.concatenate([first.values, second.values], axis=1))

    def parts(self, what, array):
        return There(np.stack([array.values.real, array.values.imag], axis=-1))

    def complex(self, what, parts):
        return There(parts.values[..., 0] + 1j * parts.values[..., 1])

    def times(self, what, array, factors):
        return array * factors


class Engine:
    """A mock of the GPU plan that sums on the host."""

    def __init__(self, request, gpu, points):
        assert request["device"] == f"cuda:{gpu}" and request["sources"].size == 0
        self.request = dict(request, device="cpu", **points)

    def evaluate(self, strengths, shapes):
        arrays = _farfield.sum_on_host(self.request, strengths)
        return [There(array.reshape(shape)) for array, shape in zip(arrays, shapes)]


@pytest.fixture
def pretended(monkeypatch):
    monkeypatch.setitem(_libraries._MET, There.__module__.partition(".")[0], Library("pretended"))
    monkeypatch.setattr(_farfield, "stream", lambda gpu, double: 7)
    monkeypatch.setattr(_farfield, "GpuPlan", Engine)
    once = lambda request, gpu, points, strengths, shapes: (Engine(request, gpu, points).evaluate(strengths, shapes), 0.0)  # noqa: E731
    monkeypatch.setattr(_farfield, "sum_on_gpu", once)


SUMS = {
    "charges": ("coulomb", 3, {"outputs": ["potential", "gradient", "hessian"]}),
    "masses": ("gravity", 3, {"softening": 0.1, "gravitational_constant": 3.0, "outputs": ["acceleration", "potential"]}),
    "vortices": ("biot_savart", 3, {"outputs": ["velocity", "velocity_gradient"], "core": "gaussian", "core_size": 0.1}),
    "charges of the plane": ("coulomb", 2, {"outputs": ["gradient", "potential"]}),
    "masses of the plane": ("gravity", 2, {"gravitational_constant": 3.0, "outputs": ["potential", "acceleration"]}),
    "vortices of the plane": ("biot_savart", 2, {}),
    "harmonic": ("harmonic", 2, {"outputs": ["potential", "derivative"]}),
    "logarithm": ("log", 2, {"outputs": ["potential", "derivative"]}),
    "harmonic, second derivative": ("harmonic", 2, {"outputs": ["second_derivative", "potential", "derivative"]}),
    "logarithm, second derivative": ("log", 2, {"outputs": ["potential", "second_derivative"]}),
}


def arguments(rng, kernel, dimension, dtype, strengths):
    x, y = rng.random((50, dimension)).astype(dtype), rng.random((20, dimension)).astype(dtype)
    tail = (3,) if (kernel, dimension) == ("biot_savart", 3) else ()
    lead = (2,) if strengths == "two vectors" else ()
    s = rng.normal(size=lead + (50,) + tail).astype(dtype)
    return x, y, (s + 1j * s[..., ::-1] if strengths == "complex" else s).astype(np.result_type(dtype, 1j) if strengths == "complex" else dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("strengths", ["one vector", "two vectors", "complex"])
@pytest.mark.parametrize("name", SUMS)
@pytest.mark.usefixtures("pretended")
def test_gpu_results_have_the_shapes_and_signs_of_host_results(rng, name, strengths, dtype):
    kernel, dimension, options = SUMS[name]
    if strengths == "complex" and kernel not in ("harmonic", "log"):
        pytest.skip("this kernel takes only real strengths")
    x, y, s = arguments(rng, kernel, dimension, dtype, strengths)
    function = getattr(ff, kernel)
    how = {"vectors": 2 if strengths == "two vectors" else 1, "complex": strengths == "complex"}
    for targets in (None, y):
        expected = function(x, s, targets=targets, **options)
        there = None if targets is None else There(targets)
        plan = ff.Plan(kernel, There(x), targets=there, **how, **options)
        for found in (function(There(x), There(s), targets=there, **options), plan(There(s))):
            pairs = zip(found, expected) if isinstance(expected, tuple) else [(found, expected)]
            for array, truth in pairs:
                assert array.values.dtype == truth.dtype and np.array_equal(array.values, truth)


@pytest.mark.usefixtures("pretended")
def test_gpu_sums_with_dipoles_sizes_and_scalars(rng):
    x, q, p, sizes = rng.random((30, 3)), rng.normal(size=30), rng.normal(size=(30, 3)), rng.random(30)
    assert np.array_equal(ff.coulomb(There(x), There(q), dipoles=There(p)).values, ff.coulomb(x, q, dipoles=p))
    assert np.array_equal(ff.coulomb(There(x), None, dipoles=There(p)).values, ff.coulomb(x, None, dipoles=p))
    plan = ff.Plan("coulomb", There(x), dipoles=True)
    assert np.array_equal(plan(There(q), dipoles=There(p)).values, ff.coulomb(x, q, dipoles=p))
    assert np.array_equal(ff.gravity(There(x), 2.0, softening=There(sizes)).values, ff.gravity(x, 2.0, softening=sizes))
    assert np.array_equal(ff.gravity(There(x), q, softening=sizes).values, ff.gravity(x, q, softening=sizes))
    with pytest.raises(ValueError, match="charges.*vectors"):
        ff.Plan("coulomb", There(x))(There(np.stack([q, q])))
    with pytest.raises(TypeError, match="dipoles.*missing"):
        plan(There(q))
    with pytest.raises(TypeError, match="strengths.*complex"):
        ff.Plan("log", There(x[:, :2]), complex=True)(There(q))
