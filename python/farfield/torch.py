r"""Sums that PyTorch can differentiate with respect to strengths, sources and targets.

Each derivative is another sum (`farfield._adjoint` has the formulas), to the same tolerance; only the derivatives that are
needed are computed. Tensors in space that are on a GPU are summed there. Second derivatives are not supported.
"""

from __future__ import annotations

from typing import Any, Optional, Tuple

import torch as _torch

from . import _adjoint, _differentiable

__all__ = ["biot_savart", "coulomb", "gravity"]


def _arrays(sources: Any, strengths: Any, targets: Any) -> Tuple[Any, Any, Any]:
    given = {"sources": sources, "strengths": strengths, "targets": targets}
    for name, value in given.items():
        if value is not None and not isinstance(value, _torch.Tensor):
            raise TypeError(f"{name}: expected a torch.Tensor, not {type(value).__name__}")
    dtype = _torch.promote_types(sources.dtype, strengths.dtype)
    if targets is not None:
        dtype = _torch.promote_types(dtype, targets.dtype)
    return sources.to(dtype), strengths.to(dtype), None if targets is None else targets.to(dtype)


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
    """Returns the tensor itself for points in space on a GPU, else a numpy array."""
    if tensor is None:
        return None
    plain = tensor.detach().contiguous()
    return plain if points.is_cuda and points.shape[1] == 3 else plain.cpu().numpy()


def _inside(array: Any, like: Any) -> Any:
    return _torch.as_tensor(array, dtype=like.dtype, device=like.device)


coulomb, gravity, biot_savart = _differentiable.functions(__name__, _arrays, _Sum.apply)
