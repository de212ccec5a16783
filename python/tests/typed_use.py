"""Typical user code for the type checker; it is not run."""

from typing import Dict, Tuple

import numpy as np

import farfield as ff


def one_name_gives_an_array(x: np.ndarray) -> np.ndarray:
    print(ff.coulomb(x, 1.0).shape)
    return ff.gravity(x, 1.0, outputs="potential", softening=0.1)


def several_names_give_a_tuple(x: np.ndarray) -> Tuple[np.ndarray, ...]:
    u, gradient = ff.biot_savart(x, x, outputs=["velocity", "velocity_gradient"], core="gaussian", core_size=0.1)
    return u.T, gradient


def a_plan_is_called(x: np.ndarray) -> Dict[str, float]:
    plan = ff.Plan("coulomb", x, tolerance=1e-6)
    plan(np.ones(len(x)))
    return ff.verify(plan, 1.0)


def a_simulation_is_stepped() -> float:
    sim = ff.Simulation("kepler", set={"time.step": 0.01})
    sim.step(3, callback=lambda sim: print(sim.time))
    return sim.measure()["energy"]


def a_run_has_columns() -> np.ndarray:
    return ff.run("kepler", progress=False).diagnostics["energy"]
