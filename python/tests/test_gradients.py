"""Compares derivatives from `farfield.jax` and `farfield.torch` with finite differences of the sums."""

import numpy as np
import pytest
from conftest import relative

import farfield as ff
from farfield import _adjoint

CASES = {
    "coulomb": ("coulomb", 3, ["potential", "gradient"], {}),
    "coulomb, potential": ("coulomb", 3, "potential", {}),
    "coulomb in the plane": ("coulomb", 2, ["potential", "gradient"], {}),
    "gravity": ("gravity", 3, ["potential", "acceleration"], {"gravitational_constant": 2.5}),
    "gravity in the plane": ("gravity", 2, "acceleration", {}),
    "softened potential": ("gravity", 3, "potential", {"softening": 0.2}),
    "softened potential in the plane": ("gravity", 2, "potential", {"softening": 0.2}),
    "biot_savart": ("biot_savart", 3, "velocity", {}),
    "biot_savart, gaussian": ("biot_savart", 3, None, {"core": "gaussian", "core_size": 0.3}),
    "biot_savart in the plane": ("biot_savart", 2, "velocity", {}),
}
#: Vector outputs with a core: they can be differentiated only with respect to strengths.
OF_STRENGTHS = {
    "softened acceleration": ("gravity", 3, "acceleration", {"softening": 0.2}),
    "softened both": ("gravity", 3, ["potential", "acceleration"], {"softening": 0.2}),
    "softened acceleration in the plane": ("gravity", 2, "acceleration", {"softening": 0.2}),
    "gaussian vortices in the plane": ("biot_savart", 2, "velocity", {"core": "gaussian", "core_size": 0.2}),
}
EXACT = {"method": "direct", "tolerance": 1e-12}


def problem(name, rng, apart):
    kernel, dimension, outputs, options = {**CASES, **OF_STRENGTHS}[name]
    x, y = rng.random((25, dimension)), rng.random((11, dimension)) if apart else None
    s = rng.normal(size=(25, 3) if kernel == "biot_savart" and dimension == 3 else 25)
    return kernel, x, y, s, outputs, {**options, **EXACT}


def scalar(kernel, weights, outputs, options):
    """Returns a function that computes the weighted sum of all outputs with numpy."""

    def function(x, y, s):
        values = getattr(ff, kernel)(x, s, targets=y, outputs=outputs, **options)
        values = values if isinstance(values, tuple) else (values,)
        return sum((weight * value).sum() for weight, value in zip(weights, values))

    return function


def weights_of(kernel, x, y, s, outputs, options, rng):
    values = getattr(ff, kernel)(x, s, targets=y, outputs=outputs, **options)
    values = values if isinstance(values, tuple) else (values,)
    return [rng.normal(size=value.shape) for value in values]


def differences(function, arguments, which, rng):
    """Returns a random direction and the derivative along it by central differences."""
    direction = rng.normal(size=arguments[which].shape)
    step = 1e-5
    ends = []
    for sign in (1, -1):
        moved = list(arguments)
        moved[which] = arguments[which] + sign * step * direction
        ends.append(function(*moved))
    return direction, (ends[0] - ends[1]) / (2 * step)


def check(found, function, arguments, rng, only_strengths=False):
    for which, derivative in enumerate(found):
        if arguments[which] is None or (only_strengths and which != 2):
            continue
        direction, expected = differences(function, arguments, which, rng)
        assert (np.asarray(derivative) * direction).sum() == pytest.approx(expected, rel=1e-6, abs=1e-6), which


@pytest.mark.parametrize("apart", [False, True], ids=["at the sources", "at targets"])
@pytest.mark.parametrize("name", CASES)
def test_the_adjoint_sums_are_the_derivatives(rng, name, apart):
    kernel, x, y, s, outputs, options = problem(name, rng, apart)
    weights = weights_of(kernel, x, y, s, outputs, options, rng)
    about = _adjoint.describe(kernel, x.shape[1], outputs, options)
    found = _adjoint.pull_back(about, x, y, s, weights, (True, apart, True))
    assert (found[1] is None) == (not apart)
    check(found, scalar(kernel, weights, outputs, options), (x, y, s), rng)


@pytest.mark.parametrize("apart", [False, True], ids=["at the sources", "at targets"])
@pytest.mark.parametrize("name", OF_STRENGTHS)
def test_vectors_with_a_core_have_derivatives_with_respect_to_strengths(rng, name, apart):
    kernel, x, y, s, outputs, options = problem(name, rng, apart)
    weights = weights_of(kernel, x, y, s, outputs, options, rng)
    about = _adjoint.describe(kernel, x.shape[1], outputs, options)
    found = _adjoint.pull_back(about, x, y, s, weights, (False, False, True))
    check(found, scalar(kernel, weights, outputs, options), (x, y, s), rng, only_strengths=True)
    with pytest.raises(NotImplementedError, match="second derivatives"):
        _adjoint.pull_back(about, x, y, s, weights, (True, False, True))


def test_outputs_without_derivatives_are_refused_by_name():
    with pytest.raises(ValueError, match="outputs.*hessian"):
        _adjoint.describe("coulomb", 3, "hessian", {})
    with pytest.raises(TypeError, match="softening"):
        _adjoint.describe("gravity", 3, None, {"softening": np.ones(3)})
    with pytest.raises(ValueError, match="charges"):
        _adjoint.check_arrays("coulomb", np.ones((4, 3)), None, np.ones(3))


@pytest.fixture
def jax():
    jax = pytest.importorskip("jax", reason="jax is not installed")
    jax.config.update("jax_enable_x64", True)
    yield jax
    jax.config.update("jax_enable_x64", False)


@pytest.mark.parametrize("apart", [False, True], ids=["at the sources", "at targets"])
@pytest.mark.parametrize("jit", [False, True], ids=["without jit", "under jit"])
@pytest.mark.parametrize("name", CASES)
def test_jax(jax, rng, name, jit, apart):
    import farfield.jax as ffj

    kernel, x, y, s, outputs, options = problem(name, rng, apart)
    weights = weights_of(kernel, x, y, s, outputs, options, rng)

    def function(x, y, s):
        values = getattr(ffj, kernel)(x, s, targets=y, outputs=outputs, **options)
        values = values if isinstance(values, tuple) else (values,)
        return sum((weight * value).sum() for weight, value in zip(weights, values))

    derivative = jax.grad(function, argnums=(0, 1, 2) if apart else (0, 2))
    found = (jax.jit(derivative) if jit else derivative)(x, y, s)
    found = found if apart else (found[0], None, found[1])
    assert all(value is None or isinstance(value, jax.Array) for value in found)
    plain = scalar(kernel, weights, outputs, options)
    assert float(function(x, y, s)) == pytest.approx(plain(x, y, s), rel=1e-12)
    check([None if value is None else np.asarray(value) for value in found], plain, (x, y, s), rng)


def test_jax_differentiates_an_fmm_of_many_points(jax, rng):
    import farfield.jax as ffj

    x, q = rng.random((20_000, 3)), rng.normal(size=20_000)
    energy = lambda q: 0.5 * (q * ffj.coulomb(x, q, tolerance=1e-6)).sum()  # noqa: E731
    assert relative(np.asarray(jax.grad(energy)(q)), ff.coulomb(x, q, tolerance=1e-9)) < 1e-6
    batch = jax.vmap(lambda q: ffj.coulomb(x[:50], q))(q[:200].reshape(4, 50))
    assert relative(np.asarray(batch), ff.coulomb(x[:50], q[:200].reshape(4, 50))) < 1e-6
    single = ffj.coulomb(x[:50].astype(np.float32), q[:50].astype(np.float32))
    assert single.dtype == np.float32


def test_jax_gives_nan_for_missing_derivatives(jax, rng):
    import farfield.jax as ffj

    x, m = rng.random((20, 3)), rng.random(20)
    function = lambda x, m: ffj.gravity(x, m, softening=0.1).sum()  # noqa: E731
    of_points, of_masses = jax.grad(function, argnums=(0, 1))(x, m)
    assert np.isnan(np.asarray(of_points)).all() and np.isfinite(np.asarray(of_masses)).all()


@pytest.mark.parametrize("apart", [False, True], ids=["at the sources", "at targets"])
@pytest.mark.parametrize("name", CASES)
def test_torch(rng, name, apart):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    import farfield.torch as fft

    kernel, x, y, s, outputs, options = problem(name, rng, apart)
    weights = weights_of(kernel, x, y, s, outputs, options, rng)
    tensors = [None if array is None else torch.tensor(array, requires_grad=True) for array in (x, y, s)]
    values = getattr(fft, kernel)(tensors[0], tensors[2], targets=tensors[1], outputs=outputs, **options)
    values = values if isinstance(values, tuple) else (values,)
    sum((torch.tensor(weight) * value).sum() for weight, value in zip(weights, values)).backward()
    found = [None if tensor is None else tensor.grad.numpy() for tensor in tensors]
    check(found, scalar(kernel, weights, outputs, options), (x, y, s), rng)


@pytest.mark.parametrize("name", ["coulomb", "coulomb in the plane", "biot_savart, gaussian"])
def test_torch_passes_gradcheck(rng, name):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    import farfield.torch as fft

    kernel, x, y, s, outputs, options = problem(name, rng, True)
    x, y, s = (torch.tensor(array[:8], requires_grad=True) for array in (x, y, s))
    function = lambda x, y, s: getattr(fft, kernel)(x, s, targets=y, outputs=outputs, **options)  # noqa: E731
    assert torch.autograd.gradcheck(function, (x, y, s), eps=1e-6, atol=1e-4, rtol=1e-4)


def test_torch_computes_only_the_derivatives_that_are_needed(rng):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    import farfield.torch as fft

    x, m = torch.tensor(rng.random((20, 3))), torch.tensor(rng.random(20), requires_grad=True)
    fft.gravity(x, m, softening=0.1).sum().backward()
    assert m.grad.shape == (20,)
    x.requires_grad_()
    with pytest.raises(NotImplementedError, match="softened"):
        fft.gravity(x, m, softening=0.1).sum().backward()
    with pytest.raises(TypeError, match="sources.*ndarray"):
        fft.coulomb(np.ones((3, 3)), m)
