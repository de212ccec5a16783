r"""Sums that JAX can differentiate with respect to strengths, sources and targets, in reverse mode.

>>> import jax, jax.numpy as jnp, farfield.jax as ffj
>>> x = jnp.array([[0.0, 0, 0], [2, 0, 0]])
>>> energy = lambda x, q: 0.5 * (q * ffj.coulomb(x, q)).sum()
>>> jax.grad(energy, argnums=1)(x, jnp.array([1.0, 3.0]))
Array([1.5, 0.5], dtype=float32)

Each derivative is another sum (`farfield._adjoint` has the formulas), to the same tolerance. `jax.jit` and `jax.vmap` work:
inside them the sum is a callback on the host. Outside of them, arrays in space that are on a GPU are summed there. Second
derivatives and forward mode are not supported.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Optional, Tuple

import jax as _jax
import jax.numpy as _jnp
import numpy as _np

from . import _adjoint, _differentiable, _gpu

__all__ = ["biot_savart", "coulomb", "gravity"]


def _arrays(sources: Any, strengths: Any, targets: Any) -> Tuple[Any, Any, Any]:
    x, s = _jnp.asarray(sources), _jnp.asarray(strengths)
    y = None if targets is None else _jnp.asarray(targets)
    floats = _jnp.result_type(x, s, *([] if y is None else [y]), _jnp.float32)
    return x.astype(floats), s.astype(floats), None if y is None else y.astype(floats)


@partial(_jax.custom_vjp, nondiff_argnums=(0,))
def _sum(about: _adjoint.Sum, x: Any, y: Optional[Any], s: Any) -> Tuple[Any, ...]:
    shapes = tuple(_shape(shape, x.dtype) for shape in _differentiable.results_shape(about, x, y))
    return _on_host_or_gpu(lambda x, y, s: _adjoint.evaluate(about, x, y, s), shapes, x, y, s)


def _forward(about: _adjoint.Sum, x: Any, y: Optional[Any], s: Any) -> Any:
    return _sum(about, x, y, s), (x, y, s)


def _backward(about: _adjoint.Sum, kept: Any, cotangents: Any) -> Any:
    x, y, s = kept
    wanted = (True, y is not None, True)
    if about.softened and any(name in about.outputs for name in ("acceleration", "velocity")) and not _is_vortex(about, x):
        # The derivative with respect to points is not available here; NaN marks it.
        def of_strengths(x: Any, y: Any, s: Any, *cotangents: Any) -> Any:
            return (_adjoint.pull_back(about, x, y, s, cotangents, (False, False, True))[2],)

        (found,) = _on_host_or_gpu(of_strengths, (_like(s),), x, y, s, *cotangents)
        nothing = _jnp.full_like(x, _jnp.nan)
        return nothing, None if y is None else _jnp.full_like(y, _jnp.nan), found

    def all_of_them(x: Any, y: Any, s: Any, *cotangents: Any) -> Any:
        parts = _adjoint.pull_back(about, x, y, s, cotangents, wanted)
        return tuple(part for part in parts if part is not None)

    shapes = tuple(_like(array) for array in (x, y, s) if array is not None)
    found = _on_host_or_gpu(all_of_them, shapes, x, y, s, *cotangents)
    return (found[0], None, found[1]) if y is None else found


_sum.defvjp(_forward, _backward)
coulomb, gravity, biot_savart = _differentiable.functions(__name__, _arrays, _sum)


def _is_vortex(about: _adjoint.Sum, x: Any) -> bool:
    return about.kernel == "biot_savart" and x.shape[1] == 3


def _shape(shape: Tuple[int, ...], dtype: Any) -> Any:
    make: Any = _jax.ShapeDtypeStruct
    return make(shape, dtype)


def _like(array: Any) -> Any:
    return _shape(array.shape, array.dtype)


def _on_host_or_gpu(function: Any, shapes: Tuple[Any, ...], *arrays: Any) -> Tuple[Any, ...]:
    """Calls `function` with the arrays themselves if they are concrete, in space and on a GPU, else with numpy arrays."""
    present = [array for array in arrays if array is not None]

    def on_host(*values: Any) -> Tuple[Any, ...]:
        given = iter(values)
        plain = [None if array is None else _np.asarray(next(given)) for array in arrays]
        results = function(*plain)
        return tuple(_np.ascontiguousarray(result, shape.dtype) for result, shape in zip(results, shapes))

    if any(isinstance(array, _jax.core.Tracer) for array in present):
        results = _jax.pure_callback(on_host, shapes, *present, vmap_method="sequential")
        return tuple(results)
    if present[0].shape[1] == 3 and _gpu.on_gpu(present[0]):
        return tuple(_jnp.asarray(result) for result in function(*arrays))
    return tuple(_jax.device_put(result, next(iter(present[0].devices()))) for result in on_host(*present))
