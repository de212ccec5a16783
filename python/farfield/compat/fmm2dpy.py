"""fmm2d's Laplace and Cauchy interface, by farfield.

The third derivatives of dipoles (`pg=3` with `dipstr`) are not there: they raise NotImplementedError.
"""

from __future__ import annotations

from typing import Any, List, Optional

import numpy as np

import farfield

from ._shared import Output, densities, finished, flags, places, tolerance

__all__ = ["Output", "cfmm2d", "lfmm2d", "rfmm2d"]

Results = List[Optional[np.ndarray]]


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
    r"""The potential :math:`\sum_j c_j\log|r| - d_j\,v_j\cdot r/|r|^2` of real densities, its gradient and Hessian.

    `sources` and `targets` are (2, n), densities (n,) or (nd, n), `dipvec` (2, n) or (nd, 2, n); the gradient is (2, n), the
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
    """As `rfmm2d`, of complex densities."""
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
    r"""The sum :math:`\sum_j c_j\log|z-z_j| + d_j/(z-z_j)` of complex densities and its complex derivatives.

    The potential of charges is as written; fmm2d's own has another imaginary part (and, of complex charges, real part) where
    charges are far away, because there it is :math:`c_j\log(z-z_j)`.

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
    _check(c, d, pg, pgt)

    def at(where: Optional[np.ndarray], level: int) -> Results:
        parts: List[Any] = [0, 0, 0]
        if c is not None:
            found = _log(points, where, c, min(level, 2), eps)
            if level == 3:
                found.append(-_harmonic(points, where, c, "derivative", eps)[0])
            parts = [a + b for a, b in zip(parts, found + [0] * 3)]
        if d is not None:
            found = [-values for values in _harmonic(points, where, d, ["potential", "derivative"][:level], eps)]
            parts = [a + b for a, b in zip(parts, found + [0] * 3)]
        return [finished(values, nd) if k < level else None for k, values in enumerate(parts)]

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


def _check(c: Any, d: Any, pg: int, pgt: int) -> None:
    if c is None and d is None:
        raise ValueError("charges: missing, and so are dipoles (dipstr)")
    if d is not None and 3 in (pg, pgt):
        raise NotImplementedError("dipstr: farfield has no third derivatives of the logarithm; use pg and pgt up to 2")


def _log(points: np.ndarray, where: Optional[np.ndarray], s: np.ndarray, level: int, eps: float) -> List[Any]:
    outputs = ["potential", "derivative"][:level]
    return list(farfield.log(points, s, targets=where, outputs=outputs, tolerance=tolerance(eps)))


def _harmonic(points: np.ndarray, where: Optional[np.ndarray], s: np.ndarray, outputs: Any, eps: float) -> List[Any]:
    outputs = [outputs] if isinstance(outputs, str) else outputs
    return list(farfield.harmonic(points, s, targets=where, outputs=outputs, tolerance=tolerance(eps)))


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
    _check(c, d, pg, pgt)
    v = None
    if d is not None:
        if dipvec is None:
            raise ValueError("dipvec: missing, but there are dipoles (dipstr)")
        v = densities("dipvec", dipvec, nd, (2, n), float)

    def at(where: Optional[np.ndarray], level: int) -> Results:
        # Real and imaginary parts are summed as vectors of their own: gradients of complex densities are not one
        # complex derivative.
        parts: List[Any] = [0, 0, 0]
        if c is not None:
            found = _log(points, where, _apart(c), min(level, 2), eps)
            real = [found[0]] + [_vector(values) for values in found[1:]]
            if level == 3:
                second = -_harmonic(points, where, _apart(c), "derivative", eps)[0]
                real.append(np.stack([second.real, -second.imag, -second.real], axis=1))
            parts = [a + _together(b, kind, nd) for a, b in zip(parts, real)] + [0] * (3 - level)
        if d is not None and v is not None:
            moments = _apart(d) * np.tile(v[:, 0] + 1j * v[:, 1], (len(_apart(d)) // nd, 1))
            found = _harmonic(points, where, moments, ["potential", "derivative"][:level], eps)
            real = [found[0].real] + [_vector(values) for values in found[1:]]
            parts = [a + _together(b, kind, nd) for a, b in zip(parts, real)] + [0] * (3 - level)
        return [finished(values, nd) if k < level else None for k, values in enumerate(parts)]

    if pg:
        out.pot, out.grad, out.hess = at(None, pg)
    if pgt:
        out.pottarg, out.gradtarg, out.hesstarg = at(places("targets", targets, 2), pgt)
    return out


def _apart(s: np.ndarray) -> np.ndarray:
    """Real and imaginary parts as vectors: (nd, n) or (2 nd, n)."""
    return np.concatenate([s.real, s.imag]) if s.dtype.kind == "c" else s


def _together(values: np.ndarray, kind: type, nd: int) -> np.ndarray:
    """The parts as complex numbers again."""
    return values[:nd] + 1j * values[nd:] if kind is complex else values


def _vector(derivative: np.ndarray) -> np.ndarray:
    """The gradient from d/dz = d/dx - i d/dy."""
    return np.stack([derivative.real, -derivative.imag], axis=1)
