"""The Laplace and Cauchy interface of fmm2d, implemented by farfield."""

from __future__ import annotations

from typing import Any, List, Optional

import numpy as np

import farfield

from ._shared import Output, densities, finished, flags, places, tolerance

__all__ = ["Output", "cfmm2d", "lfmm2d", "rfmm2d"]

Results = List[Optional[np.ndarray]]

#: The outputs that the levels 1, 2 and 3 of `pg` and `pgt` add.
_OUTPUTS = ["potential", "derivative", "second_derivative"]


def rfmm2d(
    *,
    eps: float,
    sources: Any,
    charges: Any = None,
    dipstr: Any = None,
    dipvec: Any = None,
    targets: Any = None,
    pg: int = 0,
    pgt: int = 0,
    nd: int = 1,
) -> Output:
    r"""Computes the potential :math:`\sum_j c_j\log|r| - d_j\,v_j\cdot r/|r|^2` of real densities, its gradient and Hessian.

    `sources` and `targets` are (2, n), densities (n,) or (nd, n), `dipvec` (2, n) or (nd, 2, n). The gradient is (2, n), the
    Hessian (3, n) as xx, xy, yy.
    """
    return _laplace(float, eps, sources, charges, dipstr, dipvec, targets, pg, pgt, nd)


def lfmm2d(
    *,
    eps: float,
    sources: Any,
    charges: Any = None,
    dipstr: Any = None,
    dipvec: Any = None,
    targets: Any = None,
    pg: int = 0,
    pgt: int = 0,
    nd: int = 1,
) -> Output:
    """As `rfmm2d`, for complex densities."""
    return _laplace(complex, eps, sources, charges, dipstr, dipvec, targets, pg, pgt, nd)


def cfmm2d(
    *,
    eps: float,
    sources: Any,
    charges: Any = None,
    dipstr: Any = None,
    targets: Any = None,
    pg: int = 0,
    pgt: int = 0,
    nd: int = 1,
) -> Output:
    r"""Computes the sum :math:`\sum_j c_j\log|z-z_j| + d_j/(z-z_j)` of complex densities and its complex derivatives.

    The potential of charges is exactly this sum. fmm2d itself uses :math:`c_j\log(z-z_j)` for distant charges, so that its
    potential differs in the imaginary part and, for complex charges, in the real part.

    The "gradient" is :math:`d/dz` and the "Hessian" :math:`d^2/dz^2`, one complex number for each point.
    """
    out = Output()
    if _nothing(pg, pgt):
        return out
    flags(pg, pgt, targets)
    points = places("sources", sources, 2)
    n = len(points)
    c = None if charges is None else densities("charges", charges, nd, (n,), complex)
    d = None if dipstr is None else densities("dipstr", dipstr, nd, (n,), complex)
    _check(c, d)

    def at(where: Optional[np.ndarray], level: int) -> Results:
        parts: List[Any] = [0] * level
        if c is not None:
            parts = [a + b for a, b in zip(parts, _log(points, where, c, level, eps))]
        if d is not None:
            parts = [a - b for a, b in zip(parts, _harmonic(points, where, d, level, eps))]
        return [finished(values, nd) for values in parts] + [None] * (3 - level)

    if pg:
        out.pot, out.grad, out.hess = at(None, pg)
    if pgt:
        out.pottarg, out.gradtarg, out.hesstarg = at(places("targets", targets, 2), pgt)
    return out


def _nothing(pg: int, pgt: int) -> bool:
    if pg == 0 and pgt == 0:
        print("Nothing to compute, set either pg or pgt to non-zero")
        return True
    return False


def _check(c: Any, d: Any) -> None:
    if c is None and d is None:
        raise ValueError("charges: missing, and so are dipoles (dipstr)")


def _log(points: np.ndarray, where: Optional[np.ndarray], s: np.ndarray, level: int, eps: float) -> List[Any]:
    return list(farfield.log(points, s, targets=where, outputs=_OUTPUTS[:level], tolerance=tolerance(eps)))


def _harmonic(points: np.ndarray, where: Optional[np.ndarray], s: np.ndarray, level: int, eps: float) -> List[Any]:
    return list(farfield.harmonic(points, s, targets=where, outputs=_OUTPUTS[:level], tolerance=tolerance(eps)))


def _laplace(
    kind: type,
    eps: float,
    sources: Any,
    charges: Any,
    dipstr: Any,
    dipvec: Any,
    targets: Any,
    pg: int,
    pgt: int,
    nd: int,
) -> Output:
    out = Output()
    if _nothing(pg, pgt):
        return out
    flags(pg, pgt, targets)
    points = places("sources", sources, 2)
    n = len(points)
    c = None if charges is None else densities("charges", charges, nd, (n,), kind)
    d = None if dipstr is None else densities("dipstr", dipstr, nd, (n,), kind)
    _check(c, d)
    v = None
    if d is not None:
        if dipvec is None:
            raise ValueError("dipvec: missing, but there are dipoles (dipstr)")
        v = densities("dipvec", dipvec, nd, (2, n), float)

    def at(where: Optional[np.ndarray], level: int) -> Results:
        # Real and imaginary parts are summed as separate vectors, because the gradient of complex densities is not a
        # single complex derivative.
        parts: List[Any] = [0] * level
        if c is not None:
            found = _log(points, where, _apart(c), level, eps)
            parts = [a + _together(b, kind, nd) for a, b in zip(parts, _real(found))]
        if d is not None and v is not None:
            moments = _apart(d) * np.tile(v[:, 0] + 1j * v[:, 1], (len(_apart(d)) // nd, 1))
            found = _harmonic(points, where, moments, level, eps)
            parts = [a + _together(b, kind, nd) for a, b in zip(parts, _real(found))]
        return [finished(values, nd) for values in parts] + [None] * (3 - level)

    if pg:
        out.pot, out.grad, out.hess = at(None, pg)
    if pgt:
        out.pottarg, out.gradtarg, out.hesstarg = at(places("targets", targets, 2), pgt)
    return out


def _apart(s: np.ndarray) -> np.ndarray:
    """Returns real and imaginary parts as separate vectors: (nd, n) for real and (2 nd, n) for complex densities."""
    return np.concatenate([s.real, s.imag]) if s.dtype.kind == "c" else s


def _together(values: np.ndarray, kind: type, nd: int) -> np.ndarray:
    """Joins real and imaginary parts to complex numbers again."""
    return values[:nd] + 1j * values[nd:] if kind is complex else values


def _real(found: List[np.ndarray]) -> List[np.ndarray]:
    """Returns the real part u of an analytic function F, its gradient and its Hessian, from F and its derivatives.

    F' = u_x - i u_y and F'' = u_xx - i u_xy = -u_yy - i u_xy.
    """
    made = [found[0].real]
    made += [np.stack([first.real, -first.imag], axis=1) for first in found[1:2]]
    made += [np.stack([second.real, -second.imag, -second.real], axis=1) for second in found[2:]]
    return made
