"""The functions that `farfield.jax` and `farfield.torch` share."""

from __future__ import annotations

from typing import Any, Callable, Optional, Sequence, Tuple, Union

from . import _adjoint

Outputs = Union[None, str, Sequence[str]]
#: Computes the outputs from the sum, sources, targets and strengths, which are of one precision.
Apply = Callable[[_adjoint.Sum, Any, Optional[Any], Any], Sequence[Any]]
#: Converts the caller's sources, strengths and targets to arrays of the library, of one precision.
Arrays = Callable[[Any, Any, Any], Tuple[Any, Any, Any]]


def functions(module: str, arrays: Arrays, apply: Apply) -> Tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
    """Returns the functions `coulomb`, `gravity` and `biot_savart` of a module."""

    def differentiable(
        kernel: str, sources: Any, strengths: Any, targets: Any, outputs: Outputs, options: Any
    ) -> Any:
        x, s, y = arrays(sources, strengths, targets)
        _adjoint.check_arrays(kernel, x, y, s)
        about = _adjoint.describe(kernel, x.shape[1], outputs, options)
        results = apply(about, x, y, s)
        return results[0] if about.one else results

    def coulomb(sources: Any, charges: Any, *, targets: Any = None, outputs: Outputs = None, **options: Any) -> Any:
        """As `farfield.coulomb`, for one vector of charges; outputs ``"potential"`` and ``"gradient"``."""
        return differentiable("coulomb", sources, charges, targets, outputs, options)

    def gravity(sources: Any, masses: Any, *, targets: Any = None, outputs: Outputs = None, **options: Any) -> Any:
        """As `farfield.gravity`, for one vector of masses and one softening length.

        The acceleration of softened masses can be differentiated only with respect to the masses.
        """
        return differentiable("gravity", sources, masses, targets, outputs, options)

    def biot_savart(sources: Any, strengths: Any, *, targets: Any = None, outputs: Outputs = None, **options: Any) -> Any:
        """As `farfield.biot_savart`, for one vector of strengths and one core size; output ``"velocity"``.

        In the plane, the velocity of vortices with a core can be differentiated only with respect to the strengths.
        """
        return differentiable("biot_savart", sources, strengths, targets, outputs, options)

    for function in (coulomb, gravity, biot_savart):
        function.__module__ = module
        function.__qualname__ = function.__name__
    return coulomb, gravity, biot_savart


def results_shape(about: _adjoint.Sum, x: Any, y: Optional[Any]) -> Tuple[Tuple[int, ...], ...]:
    """Returns the shape of each output."""
    count, dimension = (x if y is None else y).shape[0], x.shape[1]
    return tuple((count,) if name == "potential" else (count, dimension) for name in about.outputs)
