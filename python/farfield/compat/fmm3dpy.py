"""The Laplace interface of FMM3D, implemented by farfield.

>>> import numpy as np
>>> from farfield.compat.fmm3dpy import lfmm3d
>>> out = lfmm3d(eps=1e-6, sources=np.array([[0.0, 2], [0, 0], [0, 0]]), charges=np.array([1.0, 3.0]), pg=1)
>>> (4 * np.pi * out.pot).round(6)
array([1.5, 0.5])
"""

from __future__ import annotations

from typing import Any, List, Optional

import numpy as np

import farfield

from ._shared import Output, densities, finished, flags, places, tolerance

__all__ = ["Output", "lfmm3d"]

_OUTPUTS = ["potential", "gradient", "hessian"]


def lfmm3d(
    *,
    eps: float,
    sources: Any,
    charges: Any = None,
    dipvec: Any = None,
    targets: Any = None,
    pg: int = 0,
    pgt: int = 0,
    nd: int = 1,
) -> Output:
    r"""Computes the potential :math:`\frac{1}{4\pi}\sum_j c_j/|r| + v_j\cdot r/|r|^3`, its gradient and Hessian.

    The interface is that of fmm3dpy 2.1. `sources` and `targets` are (3, n), `charges` (n,) or (nd, n), `dipvec` (3, n) or
    (nd, 3, n). `pg` and `pgt` select the results at the sources and at the targets: 1 the potential, 2 also the gradient
    (3, n), 3 also the Hessian (6, n) as xx, yy, zz, xy, xz, yz. Unlike in fmm3dpy, `pg` and `pgt` may differ.
    """
    out = Output()
    if pg == 0 and pgt == 0:
        print("Nothing to compute, set either pg or pgt to non-zero")
        return out
    flags(pg, pgt, targets)
    points = places("sources", sources, 3)
    if charges is None and dipvec is None:
        raise ValueError("charges: missing, and so are dipoles (dipvec)")
    q = None if charges is None else densities("charges", charges, nd, (len(points),), float)
    p = None if dipvec is None else densities("dipvec", dipvec, nd, (3, len(points)), float).transpose(0, 2, 1)
    if pg:
        out.pot, out.grad, out.hess = _at(points, None, q, p, pg, eps, nd)
    if pgt:
        out.pottarg, out.gradtarg, out.hesstarg = _at(points, places("targets", targets, 3), q, p, pgt, eps, nd)
    return out


def _at(
    points: np.ndarray,
    targets: Optional[np.ndarray],
    q: Optional[np.ndarray],
    p: Optional[np.ndarray],
    level: int,
    eps: float,
    nd: int,
) -> List[Optional[np.ndarray]]:
    found = farfield.coulomb(
        points, q, dipoles=p, targets=targets, outputs=_OUTPUTS[:level], tolerance=tolerance(eps)
    )
    results: List[Optional[np.ndarray]] = [None, None, None]
    for k, values in enumerate(found):
        values = values / (4 * np.pi)
        if k == 1:
            values = values.transpose(0, 2, 1)
        if k == 2:
            values = values[..., [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]].transpose(0, 2, 1)
        results[k] = finished(values, nd)
    return results
