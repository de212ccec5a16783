"""Tests of numpy inputs: precisions, memory layouts, scalars."""

import re

import numpy as np
import pytest
from conftest import relative
from hypothesis import given, settings
from hypothesis import strategies as st

import farfield as ff


def layouts(a):
    """Returns the same numbers in several memory layouts."""
    padded = np.zeros(tuple(3 * s + 1 for s in a.shape), a.dtype)
    strided = padded[tuple(slice(1, None, 3) for _ in a.shape)]
    strided[...] = a
    backwards = a[::-1].copy()[::-1]
    bytes_ = np.zeros(a.nbytes + 1, np.uint8)
    unaligned = bytes_[1:].view(a.dtype).reshape(a.shape)
    unaligned[...] = a
    return {
        "C": a,
        "F": np.asfortranarray(a),
        "strided": strided,
        "backwards": backwards,
        "unaligned": unaligned,
        "swapped": a.astype(a.dtype.newbyteorder()),
        "read only": np.broadcast_to(a, a.shape),
        "list": a.tolist() if a.dtype == np.float64 else a,
    }


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_layout_gives_the_same_bits(rng, dtype):
    x, q = rng.random((300, 3)).astype(dtype), rng.normal(size=300).astype(dtype)
    y = rng.random((40, 3)).astype(dtype)
    expected = ff.coulomb(x, q, targets=y, outputs=("potential", "gradient"))
    assert expected[0].dtype == dtype
    for name, other in layouts(x).items():
        for values, truth in zip(ff.coulomb(other, q, targets=y, outputs=("potential", "gradient")), expected):
            assert values.dtype == dtype and np.array_equal(values, truth), name
    expected = ff.coulomb(x, q, targets=y)
    for name, other in layouts(q).items():
        assert np.array_equal(ff.coulomb(x, other, targets=y), expected), name
    for name, other in layouts(y).items():
        assert np.array_equal(ff.coulomb(x, q, targets=other), expected), name


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 40),
    stride=st.sampled_from([-3, -2, -1, 1, 2, 5]),
    columns=st.sampled_from([-1, 1, 2]),
    fortran=st.booleans(),
    single=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_strided_views_give_the_same_as_their_copies(n, stride, columns, fortran, single, seed):
    rng = np.random.default_rng(seed)
    dtype = np.float32 if single else np.float64
    whole = np.array(rng.random((n * abs(stride), 3 * abs(columns))), dtype, order="F" if fortran else "C")
    view = whole[::stride, ::columns]
    q = rng.normal(size=2 * n).astype(dtype)[::2]
    assert view.shape == (n, 3)
    found = ff.coulomb(view, q)
    assert found.dtype == dtype
    assert np.array_equal(found, ff.coulomb(np.ascontiguousarray(view), q.copy()))


def test_input_arrays_are_never_written(rng):
    x, q, s = rng.random((100, 3)), rng.normal(size=100), rng.random(100)
    for array in (x, q, s):
        array.flags.writeable = False
    ff.coulomb(x, q)
    ff.gravity(x, q, softening=s)
    ff.Plan("gravity", x, softening=s)(q)


def test_integers_are_converted_and_follow_the_precision(rng):
    x, q = rng.integers(0, 50, (60, 3)), rng.integers(-3, 3, 60)
    expected = ff.coulomb(x.astype(float), q.astype(float))
    assert np.array_equal(ff.coulomb(x, q), expected)
    assert np.array_equal(ff.coulomb(x.astype(np.uint8), q.astype(np.int16)), expected)
    single = ff.coulomb(x.astype(np.float32), q)
    assert single.dtype == np.float32 and relative(single, expected) < 1e-4


def test_precisions_mix_as_in_numpy(rng):
    x, q = rng.random((60, 3)).astype(np.float32), rng.normal(size=60)
    assert ff.coulomb(x, q).dtype == np.float64
    assert ff.coulomb(x, q.astype(np.float32)).dtype == np.float32
    assert ff.coulomb(x, q.tolist()).dtype == np.float32
    assert ff.coulomb(x, 1.0).dtype == np.float32
    assert ff.gravity(x, 1.0, softening=0.1).dtype == np.float32
    assert ff.harmonic(x[:, 0] + 1j * x[:, 1], 1).dtype == np.complex64
    assert ff.Plan("coulomb", x)(q).dtype == np.float32


@pytest.mark.parametrize("dtype", [np.float16, np.longdouble, bool, object, "U3", "datetime64[s]"])
def test_other_types_are_refused_by_name(rng, dtype):
    x = np.ones((5, 3))
    with pytest.raises(TypeError, match=f"charges.*{re.escape(str(np.dtype(dtype)))}"):
        ff.coulomb(x, np.ones(5).astype(dtype))
    with pytest.raises(TypeError, match="sources"):
        ff.coulomb(x.astype(dtype), np.ones(5))


def test_complex_strengths_are_refused_by_real_sums(rng):
    with pytest.raises(TypeError, match="charges.*complex"):
        ff.coulomb(rng.random((5, 3)), np.ones(5) * 1j)
    with pytest.raises(TypeError, match="strengths.*complex=True"):
        ff.Plan("log", rng.random((5, 2)))(np.ones(5) * 1j)


def test_scalars_apply_to_every_source(rng):
    x = rng.random((200, 3))
    assert np.array_equal(ff.coulomb(x, 2), ff.coulomb(x, np.full(200, 2.0)))
    assert np.array_equal(ff.coulomb(x, np.float64(2.0)), ff.coulomb(x, np.full(200, 2.0)))
    assert np.array_equal(
        ff.gravity(x, 1.0, softening=0.1), ff.gravity(x, np.ones(200), softening=np.full(200, 0.1))
    ) or relative(ff.gravity(x, 1.0, softening=0.1), ff.gravity(x, 1.0, softening=np.full(200, 0.1))) < 1e-6
    assert np.array_equal(ff.biot_savart(x, [0, 0, 1.0]), ff.biot_savart(x, np.tile([0, 0, 1.0], (200, 1))))


def test_results_are_in_the_order_of_the_targets(rng):
    x, q, y = rng.random((400, 3)), rng.normal(size=400), rng.random((50, 3))
    order = rng.permutation(50)
    assert np.allclose(ff.coulomb(x, q, targets=y)[order], ff.coulomb(x, q, targets=y[order]), rtol=1e-12)


def test_fortran_points_give_fortran_results(rng):
    x = np.asfortranarray(rng.random((50, 3)))
    assert ff.gravity(x, 1.0).flags.f_contiguous
    assert ff.gravity(x.copy("C"), 1.0).flags.c_contiguous


def test_one_name_gives_an_array_and_several_a_tuple(rng):
    x = rng.random((5, 3))
    assert isinstance(ff.coulomb(x, 1.0), np.ndarray)
    assert isinstance(ff.coulomb(x, 1.0, outputs="gradient"), np.ndarray)
    (phi,) = ff.coulomb(x, 1.0, outputs=["potential"])
    grad, also = ff.coulomb(x, 1.0, outputs=("gradient", "potential"))
    assert np.array_equal(phi, also) and grad.shape == (5, 3)


def test_objects_with_an_array_method_are_accepted(rng):
    class Holder:
        def __init__(self, values):
            self.values = values

        def __array__(self, dtype=None, copy=None):
            return self.values if dtype is None else self.values.astype(dtype)

    x, q = rng.random((30, 3)), rng.normal(size=30)
    assert np.array_equal(ff.coulomb(Holder(x), Holder(q)), ff.coulomb(x, q))
