"""Fast sums of long-range interactions: direct, treecode and FMM, on the CPU and on NVIDIA GPUs.

>>> import numpy as np, farfield as ff
>>> x = np.random.default_rng(1).random((1000, 3))
>>> phi, grad = ff.coulomb(x, 1.0, tolerance=1e-6, outputs=("potential", "gradient"))
>>> phi.shape, grad.shape
((1000,), (1000, 3))

One call: `coulomb`, `gravity`, `biot_savart` in space and in the plane, `harmonic` and `log` in the plane. `Plan` fixes
the points for many sums with other strengths. `verify` measures the true error. `poisson` solves the Poisson equation on a
uniform grid. `run` and `Simulation` move vortices and bodies.

Aligned arrays in C order are read in place, without the GIL. Until the call has returned (after Ctrl-C: until the sum has ended
in the background), no thread may write to them or resize them with ``refcheck=False``. Otherwise pass a copy.
"""

from __future__ import annotations

from typing import Any, Dict, List

from . import _farfield
from ._plan import Plan
from ._poisson import poisson
from ._simulation import RunResult, Simulation, cases, resume, run
from ._sums import biot_savart, coulomb, gravity, harmonic, log

__version__: str = _farfield.__version__

__all__ = [
    "Plan",
    "RunResult",
    "Simulation",
    "biot_savart",
    "cases",
    "coulomb",
    "gpus",
    "gravity",
    "harmonic",
    "log",
    "poisson",
    "resume",
    "run",
    "simd",
    "verify",
]


def verify(plan: Plan, strengths: Any = None, *, dipoles: Any = None, targets: int = 200, seed: int = 1) -> Dict[str, float]:
    """Measures the true error of a plan's sum.

    Returns the relative L2 error of each output at random targets, against a direct sum in double precision.

    >>> import numpy as np, farfield as ff
    >>> plan = ff.Plan("coulomb", np.random.default_rng(1).random((5000, 3)), tolerance=1e-6)
    >>> ff.verify(plan, 1.0)["potential"] < 1e-6
    True
    """
    if not isinstance(plan, Plan):
        raise TypeError(f"plan: expected a farfield.Plan, not {type(plan).__name__}")
    return plan.verify(strengths, dipoles=dipoles, targets=targets, seed=seed)


def gpus() -> List[str]:
    """Returns the names of the NVIDIA GPUs that sums can use."""
    return _farfield.gpus()


def simd() -> str:
    """Returns the SIMD instruction set of sums on the CPU: ``"avx512"``, ``"avx2"``, ``"neon"`` or ``"scalar"``."""
    return _farfield.simd()
