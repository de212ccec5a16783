"""Tests of runs, of stepping by hand, and of the Poisson problem."""

import numpy as np
import pytest
from conftest import relative

import farfield as ff

SMALL = {"time.end": 0.2, "output.views": [], "vortex.around": 48, "vortex.layers": 1, "tracers.count": 50}


def test_a_resumed_run_ends_with_the_same_diagnostics(tmp_path):
    seen = []
    whole = ff.run("leapfrog", set=SMALL, folder=tmp_path / "whole", progress=lambda *now: seen.append(now))
    part = ff.run("leapfrog", set=SMALL, folder=tmp_path / "part", steps=2, progress=False)
    assert whole.finished and not part.finished and part.steps == 2
    rest = part.resume(progress=False)
    assert rest.finished and rest.steps == whole.steps
    a, b = whole.diagnostics, rest.diagnostics
    for name in set(a) - {"wall_seconds", "wall", "seconds"}:
        assert name in b and (np.array_equal(a[name], b[name], equal_nan=a[name].dtype.kind == "f") or "wall" in name), name


def test_fields_are_arrays(tmp_path):
    result = ff.run("leapfrog", set=SMALL, folder=tmp_path / "run", progress=False)
    fields = list(result.fields)
    assert fields and all(isinstance(array, np.ndarray) for field in fields for array in field.values())


def test_an_exception_in_the_progress_callback_ends_the_run(tmp_path):
    def stop(*_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ff.run("leapfrog", set={"output.views": [], "time.end": 50.0}, folder=tmp_path / "run", progress=stop)


def test_stepping_by_hand_gives_the_same_as_a_run(tmp_path):
    settings = {"output.views": [], "time.end": 0.25, "time.step": 0.0625, "time.adaptive": False}
    result = ff.run("kepler", set=settings, folder=tmp_path / "run", progress=False)
    sim, times = ff.Simulation("kepler", set=settings), []
    sim.step(result.steps, callback=lambda sim: times.append(sim.time))
    assert len(times) == result.steps and sim.time == pytest.approx(result.time)
    energy = result.diagnostics["energy"]
    assert sim.measure()["energy"] == pytest.approx(energy[-1], rel=1e-12)


def test_tracers_move_and_clouds_have_points():
    sim = ff.Simulation("leapfrog", set=SMALL)
    before = sim.tracers
    sim.step()
    assert before.shape[1] == 3 and not np.array_equal(before, sim.tracers)
    assert all("points" in arrays for arrays in sim.clouds.values())


def test_own_bodies_orbit():
    # A light body on a circular orbit around a heavy one.
    sim = ff.Simulation.of_bodies([[0.0, 0, 0], [1, 0, 0]], [[0.0, 0, 0], [0, 1, 0]], [1.0, 1e-12], dt=2 * np.pi / 400)
    sim.step(400)
    assert np.linalg.norm(sim.positions[1] - [1, 0, 0]) < 1e-3
    with pytest.raises(ValueError, match="state"):
        sim.state = {"position": np.ones((2, 3))}
    with pytest.raises(ValueError, match=r"positions\[1\]"):
        sim.state = {"positions": np.array([[0, 0, 0], [np.nan, 0, 0]])}


def test_own_vortices_move_with_the_induced_velocity(rng):
    x, gamma, y = rng.random((30, 3)), rng.normal(size=(30, 3)), rng.random((5, 3))
    core = {"core": "gaussian", "core_size": 0.3}
    sim = ff.Simulation.of_vortices(x, gamma, tracers=y, dt=1e-3, tolerance=1e-10, scheme="euler", **core)
    sim.step()
    assert relative((sim.positions - x) / 1e-3, ff.biot_savart(x, gamma, tolerance=1e-10, **core)) < 1e-8
    assert relative((sim.tracers - y) / 1e-3, ff.biot_savart(x, gamma, targets=y, tolerance=1e-10, **core)) < 1e-8
    gradient = ff.biot_savart(x, gamma, outputs="velocity_gradient", tolerance=1e-10, **core)
    stretching = np.einsum("nij,ni->nj", gradient, gamma)
    assert relative((sim.state["strengths"] - gamma) / 1e-3, stretching) < 1e-6
    with pytest.raises(ValueError, match="strengths"):
        ff.Simulation.of_vortices(x, gamma[:5], dt=0.1, core_size=0.1)
    with pytest.raises(ValueError, match="core_size"):
        ff.Simulation.of_vortices(x, gamma, dt=0.1, core_size=0.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_poisson_of_a_gaussian(dtype):
    from math import erf

    h, width = 1 / 48, 0.1
    x = (np.arange(48) + 0.5) * h - 0.5
    z = (np.arange(32) + 0.5) * h - 1 / 3
    r = np.sqrt(x[:, None, None] ** 2 + x[None, :, None] ** 2 + z[None, None, :] ** 2)
    omega = np.exp(-((r / width) ** 2)) / (width * np.sqrt(np.pi)) ** 3
    expected = np.vectorize(erf)(r / width) / (4 * np.pi * r)
    psi = ff.poisson(omega.astype(dtype), h, tolerance=1e-5)
    assert psi.dtype == dtype and relative(psi, expected) < 1e-3
    assert relative(ff.poisson(np.asfortranarray(omega.astype(dtype)), h, tolerance=1e-5), psi) < 1e-6
    assert relative(ff.poisson(omega, h, tolerance=1e-5, adapt=(1e-3, 1e-5)), expected) < 1e-2
    vector = np.stack([0 * omega, 0 * omega, omega], axis=-1)
    solved = ff.poisson(vector, h, tolerance=1e-5)
    assert solved.shape == vector.shape and relative(solved[..., 2], expected) < 1e-3
    u = ff.poisson(vector, h, output="velocity", tolerance=1e-5)
    assert u.shape == vector.shape and np.abs(u[..., 2]).max() < 1e-6


@pytest.mark.parametrize("case, clouds", [("point-vortices", 1), ("vortex-sheet", 1), ("kepler", 1), ("rings-viscous", 0)])
def test_cases_of_every_kind_can_be_stepped_by_hand(case, clouds):
    sim = ff.Simulation(case)
    seen = []
    sim.step(1, callback=lambda sim: seen.append(sim.time))
    assert seen == [sim.time] and sim.time > 0.0
    assert len(sim.clouds) == clouds and all(np.isfinite(cloud["points"]).all() for cloud in sim.clouds.values())
