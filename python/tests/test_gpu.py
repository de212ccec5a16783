"""Arrays on a GPU: what can be tested without one. python/device-check.py tests the rest where there is one."""

import numpy as np
import pytest

import farfield as ff
from farfield import _farfield, _gpu


class Pretending:
    """An array that says it is on a GPU."""

    __module__ = "somewhere"

    def __init__(self, shape, dtype="float32", gpu=0):
        self.shape, self.dtype, self.gpu = shape, dtype, gpu

    def __dlpack_device__(self):
        return 2, self.gpu

    def __dlpack__(self, stream=None):
        raise AssertionError("without a GPU nothing may be taken")


def test_capsules_carry_address_shape_and_precision_and_are_taken_once():
    assert _farfield.round_trip(4096, [5, 3], True) == (4096, [5, 3], True)
    assert _farfield.round_trip(64, [], False) == (64, [], False)
    assert _farfield.round_trip(64, [2, 0, 3], False) == (64, [2, 0, 3], False)


def test_arrays_of_the_host_are_not_taken_for_a_gpus(rng):
    for value in (rng.random((3, 3)), 1.0, None, [1.0], object()):
        assert not _gpu.on_gpu(value)
    assert _gpu.on_gpu(Pretending((3, 3)))


@pytest.mark.parametrize(
    "call, exception, message",
    [
        (lambda: ff.coulomb(Pretending((5, 2)), Pretending((5,))), ValueError, r"sources.*\(5, 2\).*host"),
        (lambda: ff.coulomb(Pretending((5, 3), "int32"), Pretending((5,))), TypeError, "sources.*int32"),
        (lambda: ff.coulomb(Pretending((5, 3)), Pretending((4,))), ValueError, r"charges.*\(5,\).*\(4,\)"),
        (lambda: ff.coulomb(Pretending((5, 3)), Pretending((5,), "float64")), TypeError, "charges.*float64"),
        (lambda: ff.coulomb(Pretending((5, 3)), 1.0, targets=Pretending((5, 4))), ValueError, "targets"),
        (lambda: ff.gravity(Pretending((5, 3)), None), TypeError, "masses"),
        (lambda: ff.gravity(Pretending((5, 3)), 1.0, softening=np.array([1, 1, 1, 1, -1.0])), ValueError, "softening.*-1"),
        (lambda: ff.gravity(Pretending((5, 3)), 1.0, softening=np.ones(4)), ValueError, "softening"),
        (lambda: ff.coulomb(Pretending((5, 3)), None, dipoles=Pretending((5, 3))), ValueError, "dipoles"),
        (lambda: ff.coulomb(Pretending((5, 3)), 1.0, outputs="velocity"), ValueError, "outputs"),
        (lambda: ff.coulomb(Pretending((5, 3)), 1.0, device="hybrid"), ValueError, "device"),
        (lambda: ff.Plan("coulomb", Pretending((5, 3))), TypeError, "sources"),
        (lambda: ff.coulomb(np.ones((5, 3)), Pretending((5,))), (TypeError, ValueError), "charges"),
    ],
)
def test_wrong_arrays_are_refused_by_name(call, exception, message):
    with pytest.raises(exception, match=message):
        call()


@pytest.mark.skipif(bool(ff.gpus()), reason="there is a GPU")
def test_without_a_gpu_it_is_a_runtime_error():
    with pytest.raises(RuntimeError):
        ff.coulomb(Pretending((5, 3)), Pretending((5,)))
