r"""Derivatives of sums, computed by other sums.

A sum :math:`f_i = \sum_j K(x_i - y_j)\,s_j` is linear in the strengths, and its kernel depends only on differences of
points. For cotangents :math:`v_i` of the results, the scalar :math:`J = \sum_i v_i \cdot f_i` is therefore also a sum over
the sources: each strength times an adjoint field :math:`A`, which targets with strengths :math:`v_i` induce at the source:

* :math:`\partial J/\partial s_j = A(y_j)`,
* :math:`\partial J/\partial y_j = s_j \cdot \nabla A(y_j)`,
* :math:`\partial J/\partial x_i = v_i \cdot \nabla f(x_i)`.

The functions below compute them for every kernel; `farfield.jax` and `farfield.torch` call these functions. The arithmetic
uses only operators, so that it works for arrays of any library.
"""

from __future__ import annotations

from typing import Any, Dict, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _arrays, _kernels, _sums

_NAMES = {"coulomb": "charges", "gravity": "masses", "biot_savart": "strengths"}


class Sum(NamedTuple):
    """A sum that can be differentiated. Equal values describe the same function."""

    kernel: str
    outputs: Tuple[str, ...]
    #: Whether the caller gave a single output name and gets an array, not a tuple.
    one: bool
    #: The options of the function `farfield.<kernel>`, sorted by name.
    options: Tuple[Tuple[str, Any], ...]

    @property
    def all_options(self) -> Dict[str, Any]:
        """The options as keyword arguments."""
        return dict(self.options)

    @property
    def softened(self) -> bool:
        """Whether the kernel has a core or a softening."""
        options = self.all_options
        return options.get("softening") is not None or options.get("core") not in (None, "singular")

    @property
    def how(self) -> Dict[str, Any]:
        """The options that all kernels share."""
        own = ("softening", "softening_kernel", "gravitational_constant", "core", "core_size")
        return {name: value for name, value in self.options if name not in own}


def describe(kernel: str, dimension: int, outputs: Union[None, str, Sequence[str]], options: Dict[str, Any]) -> Sum:
    """Returns the sum; an error if its derivatives are not implemented."""
    known = {
        "coulomb": ("potential", "gradient"),
        "gravity": ("potential", "acceleration"),
        "biot_savart": ("velocity",),
    }[kernel]
    about = _kernels.find(kernel, dimension)
    names = [about.default] if outputs is None else [outputs] if isinstance(outputs, str) else list(outputs)
    for name in names:
        if name not in known:
            raise ValueError(f"outputs: `{name}` cannot be differentiated; outputs of {kernel} that can: {', '.join(known)}")
    options = {name: value for name, value in options.items() if value is not None}
    for name in ("softening", "core_size"):
        if name in options:
            options[name] = _arrays.real(name, options[name])
    one = outputs is None or isinstance(outputs, str)
    return Sum(kernel, tuple(names), one, tuple(sorted(options.items())))


def evaluate(about: Sum, x: Any, y: Optional[Any], s: Any) -> Tuple[Any, ...]:
    """Returns the outputs at the targets `y`, or at the sources `x` if `y` is None."""
    function = getattr(_sums, about.kernel)
    results: Tuple[Any, ...] = function(x, s, targets=y, outputs=list(about.outputs), **about.all_options)
    return results


def pull_back(
    about: Sum, x: Any, y: Optional[Any], s: Any, cotangents: Sequence[Any], wanted: Tuple[bool, bool, bool]
) -> Tuple[Optional[Any], Optional[Any], Optional[Any]]:
    """Returns the cotangents of sources, targets and strengths from those of the outputs; None if not `wanted`."""
    at = dict(zip(about.outputs, cotangents))
    points = wanted[0] or (y is not None and wanted[1])
    if about.kernel == "biot_savart" and x.shape[1] == 3:
        parts = _vortices(about, x, y, s, at["velocity"], points)
    elif about.softened:
        parts = _softened(about, x, y, s, at, points)
    elif x.shape[1] == 3:
        w, v = _as_charges(about, at)
        parts = _charges_in_space(about, x, y, s, w, v, points)
    else:
        w, v = _as_charges(about, at)
        parts = _charges_in_plane(about, x, y, s, w, v, points)
    of_strengths, of_sources, of_targets = parts
    if y is None and points:
        of_sources = of_sources + of_targets
        of_targets = None
    return of_sources if wanted[0] else None, of_targets if wanted[1] else None, of_strengths if wanted[2] else None


#: Cotangents of strengths, sources and targets.
_Parts = Tuple[Any, Any, Any]


def _as_charges(about: Sum, at: Dict[str, Any]) -> Tuple[Optional[Any], Optional[Any]]:
    """Converts cotangents of a singular kernel's outputs to cotangents of the potential and the gradient of charges."""
    if about.kernel == "gravity":
        # The potential is -G times the potential of charges, the acceleration G times the gradient of charges.
        constant = about.all_options.get("gravitational_constant", 1.0)
        w, v = at.get("potential"), at.get("acceleration")
        return (None if w is None else -constant * w), (None if v is None else constant * v)
    if about.kernel == "biot_savart":
        # In the plane the velocity is the gradient rotated by a right angle and divided by -2 pi; rotate back.
        v = np.asarray(at["velocity"])
        return None, np.stack([v[:, 1], -v[:, 0]], axis=1) * v.dtype.type(-0.5 / np.pi)
    return at.get("potential"), at.get("gradient")


def _charges_in_space(
    about: Sum, x: Any, y: Optional[Any], s: Any, w: Optional[Any], v: Optional[Any], points: bool
) -> _Parts:
    targets, back = (x, None) if y is None else (y, x)
    # A cotangent of the potential acts as a charge, a cotangent of the gradient as a dipole.
    outputs = ["potential", "gradient"] if points else ["potential"]
    adjoint = _sums.coulomb(targets, w, dipoles=v, targets=back, outputs=outputs, **about.how)
    if not points:
        return adjoint[0], None, None
    needed = (["gradient"] if w is not None else []) + (["hessian"] if v is not None else [])
    field = dict(zip(needed, _sums.coulomb(x, s, targets=y, outputs=needed, **about.how)))
    of_targets = 0.0
    if w is not None:
        of_targets = of_targets + w[:, None] * field["gradient"]
    if v is not None:
        of_targets = of_targets + (field["hessian"] * v[:, None, :]).sum(-1)
    return adjoint[0], s[:, None] * adjoint[1], of_targets


def _charges_in_plane(
    about: Sum, x: Any, y: Optional[Any], s: Any, w: Optional[Any], v: Optional[Any], points: bool
) -> _Parts:
    x, s = np.asarray(x), np.asarray(s)
    targets, back = (x, None) if y is None else (np.asarray(y), x)
    potential: Any = 0.0
    gradient: Any = 0.0
    of_targets: Any = 0.0
    if w is not None:
        w = np.asarray(w)
        found = _sums.coulomb(targets, w, targets=back, outputs=["potential", "gradient"], **about.how)
        potential, gradient = potential + found[0], gradient + found[1]
        if points:
            of_targets = of_targets + w[:, None] * _sums.coulomb(x, s, targets=y, outputs="gradient", **about.how)
    if v is not None:
        # The potential of dipoles is minus the real part of the analytic function F(z) = sum v/(z_i - z).
        v = np.ascontiguousarray(v)
        moments = v.view(_arrays.complex_of(v.dtype))[:, 0]
        value, slope = _sums.harmonic(targets, moments, targets=back, outputs=["potential", "derivative"], **about.how)
        potential = potential - value.real
        gradient = gradient + np.stack([-slope.real, slope.imag], axis=1)
        if points:
            second: Any = _sums.harmonic(x, s, targets=y, outputs="derivative", **about.how)
            xx, xy = second.real, -second.imag
            of_targets = of_targets + np.stack([xx * v[:, 0] + xy * v[:, 1], xy * v[:, 0] - xx * v[:, 1]], axis=1)
    return potential, (s[:, None] * gradient if points else None), (of_targets if points else None)


def _vortices(about: Sum, x: Any, y: Optional[Any], s: Any, v: Any, points: bool) -> _Parts:
    targets, back = (x, None) if y is None else (y, x)
    options = about.all_options
    # (gamma x r) . v = gamma . (r x v): the adjoint field is the velocity of vortices with strengths v.
    if not points:
        return _sums.biot_savart(targets, v, targets=back, **options), None, None
    both = ["velocity", "velocity_gradient"]
    adjoint, slope = _sums.biot_savart(targets, v, targets=back, outputs=both, **options)
    field = _sums.biot_savart(x, s, targets=y, outputs="velocity_gradient", **options)
    return adjoint, (s[:, :, None] * slope).sum(1), (v[:, :, None] * field).sum(1)


def _softened(about: Sum, x: Any, y: Optional[Any], s: Any, at: Dict[str, Any], points: bool) -> _Parts:
    targets, back = (x, None) if y is None else (y, x)
    function, options = getattr(_sums, about.kernel), about.all_options
    vector = at.get("velocity" if about.kernel == "biot_savart" else "acceleration")
    if vector is not None and points:
        raise NotImplementedError(
            f"{about.kernel}: the derivative of a softened vector output with respect to points needs second derivatives "
            "of the softened kernel, which no sum computes; only the potential can be differentiated with respect to "
            "points, and all outputs with respect to strengths"
        )
    of_strengths: Any = 0.0
    of_sources = of_targets = None
    if vector is not None:
        # The kernel is odd, hence the minus sign. Each component of the cotangent is summed as a vector of strengths.
        found = function(targets, vector.T, targets=back, **options)
        of_strengths = of_strengths - sum(found[k][:, k] for k in range(x.shape[1]))
    w = at.get("potential")
    if w is not None:
        potential, pull = function(targets, w, targets=back, outputs=["potential", "acceleration"], **options)
        of_strengths = of_strengths + potential
        if points:
            of_sources = -s[:, None] * pull
            of_targets = -w[:, None] * function(x, s, targets=y, outputs="acceleration", **options)
    return of_strengths, of_sources, of_targets


def check_arrays(kernel: str, x: Any, y: Optional[Any], s: Any) -> None:
    """Refuses shapes for which derivatives are not implemented."""
    if x.ndim != 2 or x.shape[1] not in (2, 3):
        raise ValueError(f"sources: expected the shape (n, 3) or (n, 2), found {tuple(x.shape)}")
    if y is not None and (y.ndim != 2 or y.shape[1] != x.shape[1]):
        raise ValueError(f"targets: expected the shape (m, {x.shape[1]}), found {tuple(y.shape)}")
    expected = (x.shape[0], 3) if kernel == "biot_savart" and x.shape[1] == 3 else (x.shape[0],)
    if tuple(s.shape) != expected:
        raise ValueError(f"{_NAMES[kernel]}: expected the shape {expected}, found {tuple(s.shape)}")
