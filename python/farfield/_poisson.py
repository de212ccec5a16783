"""The free-space Poisson problem on a uniform grid."""

from __future__ import annotations

from typing import Any, Optional, Tuple

import numpy as np

from . import _arrays, _farfield


def poisson(
    field: Any,
    spacing: float,
    *,
    output: str = "potential",
    tolerance: float = 1e-6,
    adapt: Optional[Tuple[float, float]] = None,
    device: str = "cpu",
    threads: Optional[int] = None,
) -> np.ndarray:
    r"""Solves :math:`\nabla^2\psi = -\omega` in free space for a field :math:`\omega` on a uniform grid.

    .. math:: \psi(x) = \sum_j \omega_j h^3 \frac{1}{4\pi|x - x_j|}

    over the grid points. The term :math:`x = x_j` is replaced by a self term that makes the sum a quadrature of the integral.

    Parameters
    ----------
    field : array_like, (nx, ny, nz) or (nx, ny, nz, 3)
        A scalar or a vector at every point; nx, ny and nz must be multiples of 16.
    spacing : float
        The distance h between neighbouring points.
    output : str
        ``"potential"``: the solution, with the shape of the field. ``"velocity"``: the velocity (nx, ny, nz, 3), which is
        the curl of the solution if the field is a vorticity.
    tolerance : float
        The relative error allowed in the sum; the discretisation error of the grid is added to it.
    adapt : (float, float), optional
        Solve on an adapted grid: refined where wavelet details exceed the first number and coarsened where they are below
        the second. By default the grid is uniform.

    >>> import numpy as np, farfield as ff
    >>> x = (np.arange(32) + 0.5) / 32 - 0.5
    >>> r2 = x[:, None, None] ** 2 + x[None, :, None] ** 2 + x[None, None, :] ** 2
    >>> omega = np.exp(-r2 / 0.01) / (0.01 * np.pi) ** 1.5  # the integral is one
    >>> psi = ff.poisson(omega, 1 / 32)
    >>> bool(abs(psi[0, 0, 0] * 4 * np.pi * np.sqrt(r2[0, 0, 0]) - 1) < 1e-4)
    True
    """
    given = _arrays.array("field", field)
    if given.ndim not in (3, 4) or (given.ndim == 4 and given.shape[3] != 3):
        raise ValueError(f"field: expected the shape (nx, ny, nz) or (nx, ny, nz, 3), found {given.shape}")
    if output not in ("potential", "velocity"):
        raise ValueError(f"output: unknown output `{output}`; known: potential, velocity")
    if output == "velocity" and given.ndim != 4:
        raise ValueError("field: the velocity needs a vorticity with the shape (nx, ny, nz, 3)")
    dtype = _arrays.precision((field, given))
    step = _arrays.real("spacing", spacing)
    if step <= 0.0:
        raise ValueError(f"spacing = {step}: must be positive")
    if adapt is not None:
        try:
            refine, join = adapt
        except (TypeError, ValueError):
            raise ValueError("adapt: expected two numbers, the thresholds for refining and for coarsening") from None
        adapt = (_arrays.real("adapt", refine), _arrays.real("adapt", join))
    shape = given.shape[:3]
    components = 1 if given.ndim == 3 else 3
    # The engine's order: component by component, x fastest.
    numbers = _arrays.plain(given.T, dtype)
    flat = _farfield.poisson(
        {
            "numbers": numbers,
            "shape": list(shape),
            "components": components,
            "spacing": step,
            "tolerance": _arrays.real("tolerance", tolerance),
            "velocity": output == "velocity",
            "adapt": adapt,
            "device": _arrays.text("device", device),
            "threads": None if threads is None else _arrays.count("threads", threads),
        }
    )
    results = [values.reshape(shape[::-1]).T for values in flat]
    return results[0] if len(results) == 1 else np.stack(results, axis=-1)
