"""Helpers that both interfaces share."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np


class Output:
    """Results, with the names of FMM3D and fmm2d; None for results that were not requested."""

    pot: Optional[np.ndarray] = None
    grad: Optional[np.ndarray] = None
    hess: Optional[np.ndarray] = None
    pottarg: Optional[np.ndarray] = None
    gradtarg: Optional[np.ndarray] = None
    hesstarg: Optional[np.ndarray] = None
    ier: int = 0


def tolerance(eps: float) -> float:
    """Returns the supported tolerance nearest to `eps`."""
    return min(max(float(eps), 1e-12), 1e-2)


def places(name: str, value: Any, rows: int) -> np.ndarray:
    """Returns points of shape (rows, n) transposed to (n, rows)."""
    points = np.asarray(value)
    if points.ndim == 1 and points.shape == (rows,):
        points = points[:, None]
    if points.ndim != 2 or points.shape[0] != rows:
        raise ValueError(f"{name}: expected the shape ({rows}, n), found {points.shape}")
    return points.T


def densities(name: str, value: Any, nd: int, tail: tuple, dtype: type) -> np.ndarray:
    """Returns densities of shape (nd, ...); for nd = 1 the caller may leave out the first axis."""
    numbers: np.ndarray = np.asarray(value, dtype=dtype)
    expected = tail if nd == 1 else (nd,) + tail
    if numbers.shape != expected and not (nd == 1 and numbers.shape == (1,) + tail):
        raise ValueError(f"{name}: expected the shape {expected}, found {numbers.shape}")
    return numbers.reshape((nd,) + tail)


def flags(pg: int, pgt: int, targets: Any) -> None:
    """Checks the flags that select the results."""
    for name, flag in (("pg", pg), ("pgt", pgt)):
        if flag not in (0, 1, 2, 3):
            raise ValueError(f"{name} = {flag}: must be 0, 1, 2 or 3")
    if pgt and targets is None:
        raise ValueError("targets: missing, but pgt requests results at targets")


def finished(values: np.ndarray, nd: int) -> np.ndarray:
    """Returns the values in Fortran order, without the first axis for a single density."""
    return np.asfortranarray(values[0] if nd == 1 else values)
