"""Compares every kernel, output, core and option with its definition."""

import direct
import numpy as np
import pytest
from conftest import relative

import farfield as ff

N, M = 700, 90
METHODS = ["auto", "direct", "treecode", "fmm"]


@pytest.mark.parametrize("method", METHODS)
def test_coulomb_in_space(rng, method):
    x, y, q = rng.random((N, 3)), rng.random((M, 3)), rng.normal(size=N)
    for targets in (None, y):
        found = ff.coulomb(x, q, targets=targets, outputs=("potential", "gradient", "hessian"), tolerance=1e-8, method=method)
        for values, expected in zip(found, direct.coulomb(x, q, targets=targets)):
            assert relative(values, expected) < 1e-8


def test_dipoles_with_and_without_charges(rng):
    x, q, p = rng.random((N, 3)), rng.normal(size=N), rng.normal(size=(N, 3))
    outputs = ["potential", "gradient", "hessian"]
    for charges in (q, None):
        found = ff.coulomb(x, charges, dipoles=p, outputs=outputs, tolerance=1e-8)
        expected = direct.coulomb(x, np.zeros(N) if charges is None else charges, p)
        for values, truth in zip(found, expected):
            assert relative(values, truth) < 1e-8


def test_gravity_in_space(rng):
    x, y, m = rng.random((N, 3)), rng.random((M, 3)), rng.random(N)
    for softening in (None, 0.02, rng.random(N) * 0.03):
        for targets in (None, y):
            found = ff.gravity(
                x,
                m,
                softening=softening,
                gravitational_constant=2.5,
                targets=targets,
                outputs=("potential", "acceleration"),
                tolerance=1e-8,
            )
            expected = direct.gravity(x, m, 0.0 if softening is None else softening, 2.5, targets)
            for values, truth in zip(found, expected):
                assert relative(values, truth) < 1e-8


@pytest.mark.parametrize("softening_kernel", ["spline", "wendland_c2"])
def test_compact_softening_is_newtonian_at_a_distance(rng, softening_kernel):
    x, m = rng.random((N, 3)), rng.random(N)
    far = np.array([[5.0, 5.0, 5.0]])
    a = ff.gravity(x, m, softening=0.1, softening_kernel=softening_kernel, targets=far, tolerance=1e-10)
    assert relative(a, direct.gravity(x, m, targets=far)[1]) < 1e-10


def test_biot_savart_in_space(rng):
    x, g = rng.random((N, 3)), rng.normal(size=(N, 3))
    assert relative(ff.biot_savart(x, g, tolerance=1e-8), direct.biot_savart(x, g)) < 1e-8
    found = ff.biot_savart(x, g, core="winckelmans_leonard", core_size=0.05, tolerance=1e-8)
    assert relative(found, direct.winckelmans_leonard(x, g, 0.05)) < 1e-8
    # Far from the Gaussian cores the velocity is that of singular vortices.
    y = rng.random((M, 3)) + 2.0
    found = ff.biot_savart(x, g, core="gaussian", core_size=0.01, targets=y, tolerance=1e-8)
    assert relative(found, direct.biot_savart(x, g, y)) < 1e-8


def test_velocity_gradient_is_the_derivative_of_the_velocity(rng):
    x, g, y = rng.random((200, 3)), rng.normal(size=(200, 3)), rng.random((20, 3))
    core = {"core": "gaussian", "core_size": 0.2, "tolerance": 1e-12}
    gradient = ff.biot_savart(x, g, targets=y, outputs="velocity_gradient", **core)
    h = 1e-5
    for k in range(3):
        step = h * np.eye(3)[k]
        difference = (ff.biot_savart(x, g, targets=y + step, **core) - ff.biot_savart(x, g, targets=y - step, **core)) / (2 * h)
        assert relative(gradient[:, :, k], difference) < 1e-6


def test_an_unbounded_gradient_must_be_accepted(rng):
    x, g = rng.random((50, 3)), rng.normal(size=(50, 3))
    ask = {"core": "hu_polynomial", "core_size": 0.1, "outputs": "velocity_gradient"}
    with pytest.raises(ValueError, match="allow_unbounded_gradient"):
        ff.biot_savart(x, g, **ask)
    assert ff.biot_savart(x, g, allow_unbounded_gradient=True, **ask).shape == (50, 3, 3)


@pytest.mark.parametrize("strengths", ["real", "complex"])
@pytest.mark.parametrize("kernel", ["harmonic", "log"])
def test_kernels_in_the_plane(rng, kernel, strengths):
    z, y = rng.normal(size=N) + 1j * rng.normal(size=N), rng.normal(size=M) + 1j * rng.normal(size=M)
    s = rng.normal(size=N) + (1j * rng.normal(size=N) if strengths == "complex" else 0)
    s = s if strengths == "complex" else s.real
    for method in ("direct", "fmm"):
        for targets in (None, y):
            found = getattr(ff, kernel)(
                z,
                s,
                targets=targets,
                outputs=("potential", "derivative", "second_derivative"),
                tolerance=1e-8,
                method=method,
            )
            expected = getattr(direct, kernel)(z, s, targets)
            assert len(found) == len(expected)
            for values, truth in zip(found, expected):
                assert values.dtype == truth.dtype
                assert relative(values, truth) < 1e-8


def test_points_in_the_plane_are_complex_or_pairs(rng):
    z, s = rng.normal(size=N) + 1j * rng.normal(size=N), rng.normal(size=N)
    pairs = np.stack([z.real, z.imag], axis=1)
    assert np.array_equal(ff.harmonic(z, s), ff.harmonic(pairs, s))


def test_charges_masses_and_vortices_in_the_plane(rng):
    x, s = rng.random((N, 2)), rng.normal(size=N)
    r = x[:, None, :] - x[None, :, :]
    r2 = (r * r).sum(-1) + np.eye(N)
    weight = (1 - np.eye(N)) / r2
    phi, grad = ff.coulomb(x, s, outputs=("potential", "gradient"), tolerance=1e-8)
    assert relative(phi, -0.5 * np.log(r2) @ s) < 1e-8
    assert relative(grad, -np.einsum("ij,ijk,j->ik", weight, r, s)) < 1e-8
    potential, a = ff.gravity(x, s, gravitational_constant=3.0, outputs=("potential", "acceleration"), tolerance=1e-8)
    assert relative(potential, 1.5 * np.log(r2) @ s) < 1e-8
    assert relative(a, -3 * np.einsum("ij,ijk,j->ik", weight, r, s)) < 1e-8
    u = ff.biot_savart(x, s, tolerance=1e-8)
    turned = np.stack([-r[..., 1], r[..., 0]], axis=-1)
    assert relative(u, np.einsum("ij,ijk,j->ik", weight, turned, s) / (2 * np.pi)) < 1e-8
    soft = ff.gravity(x, s, softening=0.1, tolerance=1e-8)
    expected = -np.einsum("ij,ijk,j->ik", (1 - np.eye(N)) / ((r * r).sum(-1) + 0.01), r, s)
    assert relative(soft, expected) < 1e-8


def test_lamb_oseen_vortex():
    u = ff.biot_savart([[0.0, 0.0], [0.3, 0.0]], [1.0, 0.0], core="gaussian", core_size=0.2, tolerance=1e-10)
    assert np.allclose(u[1], [0, (1 - np.exp(-(0.3**2) / 0.2**2)) / (2 * np.pi * 0.3)], atol=1e-9)


def test_several_vectors_are_summed_at_once(rng):
    x, q = rng.random((N, 3)), rng.normal(size=(3, N))
    phi, grad = ff.coulomb(x, q, outputs=("potential", "gradient"), tolerance=1e-8)
    assert phi.shape == (3, N) and grad.shape == (3, N, 3)
    for k in range(3):
        expected = direct.coulomb(x, q[k])
        assert relative(phi[k], expected[0]) < 1e-8
        assert relative(grad[k], expected[1]) < 1e-8
    g = rng.normal(size=(2, N, 3))
    u = ff.biot_savart(x, g, tolerance=1e-8)
    for k in range(2):
        assert relative(u[k], direct.biot_savart(x, g[k])) < 1e-8
    z = x[:, 0] + 1j * x[:, 1]
    both = ff.harmonic(z, q[:2] + 1j * q[1:], tolerance=1e-8)
    for k in range(2):
        assert relative(both[k], direct.harmonic(z, q[k] + 1j * q[k + 1])[0]) < 1e-8
    p = rng.normal(size=(2, N, 3))
    phi = ff.coulomb(x, q[:2], dipoles=p, tolerance=1e-8)
    for k in range(2):
        assert relative(phi[k], direct.coulomb(x, q[k], p[k])[0]) < 1e-8


def test_expert_parameters_and_threads_reach_the_engine(rng):
    x, q = rng.random((20_000, 3)), rng.normal(size=20_000)
    plan = ff.Plan("coulomb", x, method="fmm", order=7, leaf_capacity=50, threads=1)
    phi = plan(q)
    assert plan.report["order"] == 7 and plan.report["leaf_capacity"] == 50 and plan.report["method"] == "fmm"
    more = ff.Plan("coulomb", x, method="fmm", order=7, leaf_capacity=50, threads=3)
    assert np.array_equal(phi, more(q))
    assert ff.Plan("coulomb", x, method="treecode", order=5, theta=0.4).report["theta"] == pytest.approx(0.4)


@pytest.mark.parametrize("tolerance", [1e-3, 1e-6, 1e-9])
def test_the_tolerance_is_kept_and_verify_measures_it(rng, tolerance):
    x, q = rng.random((20_000, 3)), rng.normal(size=20_000)
    plan = ff.Plan("coulomb", x, outputs=("potential", "gradient"), tolerance=tolerance, method="fmm")
    error = ff.verify(plan, q, targets=200)
    assert set(error) == {"potential", "gradient"}
    assert all(0 < value < tolerance for value in error.values())
    assert plan.report["error"] == error


def test_a_plan_gives_the_same_as_one_call(rng):
    x, m = rng.random((5000, 3)), rng.random((2, 5000))
    plan = ff.Plan("gravity", x, softening=0.01, tolerance=1e-4)
    for masses in m:
        assert np.array_equal(plan(masses), ff.gravity(x, masses, softening=0.01, tolerance=1e-4))
    report = plan.report
    assert report["seconds"]["total"] > 0 and report["memory_bytes"] > 0 and report["kernel"] == "gravity"


def test_a_plan_keeps_its_own_points(rng):
    x, q = rng.random((2000, 3)), rng.normal(size=2000)
    plan = ff.Plan("coulomb", x)
    x[:] = 0.0
    assert ff.verify(plan, q)["potential"] < 1e-6


def test_a_missing_gpu_is_a_runtime_error_and_auto_uses_the_cpu(rng):
    x, q = rng.random((100, 3)), rng.normal(size=100)
    assert np.array_equal(ff.coulomb(x, q, device="auto"), ff.coulomb(x, q)) or ff.gpus()
    if not ff.gpus():
        with pytest.raises(RuntimeError, match='device="cpu"'):
            ff.coulomb(x, q, device="cuda")


def test_a_sum_that_does_not_fit_raises_memory_error_with_the_forecast(rng):
    with pytest.raises(MemoryError, match="GiB"):
        ff.coulomb(rng.random((10_000, 3)), 1.0, memory_limit=1000)
