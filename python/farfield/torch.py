r"""Sums that PyTorch differentiates: with respect to strengths, sources and targets.

Each derivative is another sum (`farfield._adjoint` has the formulas), to the same tolerance; only those that are needed are
computed. Tensors on a GPU are summed where they are. Derivatives of derivatives are not there.
"""

from __future__ import annotations

from typing import Any, Optional, Sequence, Tuple, Union

import torch as _torch

from . import _adjoint

__all__ = ["biot_savart", "coulomb", "gravity"]

Outputs = Union[None, str, Sequence[str]]


def coulomb(sources: Any, charges: Any, *, targets: Any = None, outputs: Outputs = None, **options: Any) -> Any:
    """As `farfield.coulomb`, of one vector of charges; outputs ``"potential"`` and ``"gradient"``."""
    return _differentiable("coulomb", sources, charges, targets, outputs, options)


def gravity(sources: Any, masses: Any, *, targets: Any = None, outputs: Outputs = None, **options: Any) -> Any:
    """As `farfield.gravity`, of one vector of masses and one softening length.

    The acceleration of softened masses can be differentiated with respect to the masses alone.
    """
    return _differentiable("gravity", sources, masses, targets, outputs, options)


def biot_savart(sources: Any, strengths: Any, *, targets: Any = None, outputs: Outputs = None, **options: Any) -> Any:
    """As `farfield.biot_savart`, of one vector of strengths and one core size; output ``"velocity"``.

    In the plane, the velocity of vortices with a core can be differentiated with respect to the strengths alone.
    """
    return _differentiable("biot_savart", sources, strengths, targets, outputs, options)


def _differentiable(kernel: str, sources: Any, strengths: Any, targets: Any, outputs: Outputs, options: Any) -> Any:
    given = {"sources": sources, "strengths": strengths, "targets": targets}
    for name, value in given.items():
        if value is not None and not isinstance(value, _torch.Tensor):
            raise TypeError(f"{name}: expected a torch.Tensor, not {type(value).__name__}")
    dtype = _torch.promote_types(sources.dtype, strengths.dtype)
    if targets is not None:
        dtype = _torch.promote_types(dtype, targets.dtype)
    x, s = sources.to(dtype), strengths.to(dtype)
    y = None if targets is None else targets.to(dtype)
    _adjoint.check_arrays(kernel, x, y, s)
    about = _adjoint.describe(kernel, x.shape[1], outputs, options)
    results = _Sum.apply(about, x, y, s)
    return results[0] if about.one else results


class _Sum(_torch.autograd.Function):  # type: ignore[misc, unused-ignore]
    @staticmethod
    def forward(ctx: Any, about: _adjoint.Sum, x: Any, y: Optional[Any], s: Any) -> Tuple[Any, ...]:
        ctx.about = about
        ctx.save_for_backward(x, y, s)
        results = _adjoint.evaluate(about, *(_outside(array, x) for array in (x, y, s)))
        return tuple(_inside(result, x) for result in results)

    @staticmethod
    @_torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator, misc, unused-ignore]
    def backward(ctx: Any, *cotangents: Any) -> Tuple[Any, ...]:
        x, y, s = ctx.saved_tensors
        outside = [_outside(array, x) for array in (x, y, s)]
        pulled = [_outside(value, x) for value in cotangents]
        found = _adjoint.pull_back(ctx.about, outside[0], outside[1], outside[2], pulled, ctx.needs_input_grad[1:])
        return (None, *(None if value is None else _inside(value, x) for value in found))


def _outside(tensor: Optional[Any], points: Any) -> Any:
    """As the sums take it: in space on a GPU the tensor itself, else numpy's array."""
    if tensor is None:
        return None
    plain = tensor.detach().contiguous()
    return plain if points.is_cuda and points.shape[1] == 3 else plain.cpu().numpy()


def _inside(array: Any, like: Any) -> Any:
    return _torch.as_tensor(array, dtype=like.dtype, device=like.device)
