"""Sums of arrays that lie on a GPU already: CuPy's, PyTorch's, JAX's, and whatever has ``__dlpack__`` or
``__cuda_array_interface__``. They are summed where they are, and the results are arrays of the same library, on the stream
that the library names.
"""

from __future__ import annotations

import importlib
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from . import _arrays, _farfield, _kernels

#: DLPack's number for CUDA.
_CUDA = 2


def on_gpu(value: Any) -> bool:
    """Whether it is an array on an NVIDIA GPU."""
    if type(value) is np.ndarray or value is None or isinstance(value, (np.ndarray, np.generic, float, int, list, tuple)):
        return False
    ask = getattr(value, "__dlpack_device__", None)
    if ask is not None:
        try:
            return int(ask()[0]) == _CUDA
        except Exception:
            return False
    return hasattr(value, "__cuda_array_interface__")


def _library(array: Any) -> str:
    return type(array).__module__.partition(".")[0]


def _shape_and_type(name: str, array: Any) -> Tuple[Tuple[int, ...], np.dtype]:
    text = str(getattr(array, "dtype", "")).rpartition(".")[2]
    if not text and hasattr(array, "__cuda_array_interface__"):
        text = np.dtype(array.__cuda_array_interface__["typestr"]).name
    if text not in ("float32", "float64"):
        raise TypeError(f"{name}: numbers of type {text} on a GPU are not supported; use float32 or float64")
    shape = array.shape if hasattr(array, "shape") else array.__cuda_array_interface__["shape"]
    return tuple(int(side) for side in shape), np.dtype(text)


def _gpu_number(array: Any) -> int:
    if hasattr(array, "__dlpack_device__"):
        return int(array.__dlpack_device__()[1])
    # The interface does not say which GPU: the one that its memory belongs to is the present one.
    return 0


def _contiguous(array: Any) -> Any:
    """In C order, by the library's own means."""
    library = _library(array)
    if library == "torch":
        return array.detach().contiguous()
    if library == "cupy":
        return importlib.import_module("cupy").ascontiguousarray(array)
    return array


def _operand(name: str, array: Any, gpu: int, dtype: np.dtype) -> Any:
    """An array as the engine takes it, its own stream waiting for what writes the array."""
    if not on_gpu(array):
        return _arrays.plain(np.asarray(array), dtype)
    array = _contiguous(array)
    double = dtype == np.float64
    stream = _farfield.stream(gpu, double)
    if hasattr(array, "__dlpack__"):
        return array.__dlpack__(stream=stream)
    about = array.__cuda_array_interface__
    shape = tuple(about["shape"])
    strides = about.get("strides")
    item = dtype.itemsize
    packed = tuple(item * int(np.prod(shape[k + 1 :], dtype=np.int64)) for k in range(len(shape)))
    if strides is not None and tuple(strides) != packed:
        raise ValueError(f"{name}: an array on a GPU must be in C order")
    # Without a stream the array is ready; the legacy default stream comes after all that may write it.
    return array, int(about["data"][0]), gpu, list(shape), double, int(about.get("stream") or 1)


def _as(sample: Any, result: Any) -> Any:
    """A result as an array of the library that the sources are of."""
    library = _library(sample)
    if library in ("jax", "jaxlib"):
        return importlib.import_module("jax.dlpack").from_dlpack(result)
    if library in ("torch", "cupy"):
        return importlib.import_module(library).from_dlpack(result)
    namespace = getattr(sample, "__array_namespace__", None)
    return namespace().from_dlpack(result) if namespace is not None else result


#: Numbers per target of each output of the engine.
_WIDTHS = {"potential": (), "hessian": (6,), "velocity-gradient": (3, 3)}


class Problem:
    """A sum of arrays on a GPU, checked: what one call makes of its arguments."""

    def __init__(self, kernel: str, sources: Any, strengths: Any, dipoles: Any, targets: Any, size: Any) -> None:
        shape, self.dtype = _shape_and_type("sources", sources)
        if len(shape) != 2 or shape[1] != 3:
            raise ValueError(f"sources: points on a GPU have the shape (n, 3), not {shape}; those of the plane must be on the host")
        self.kernel, self.sources, self.targets = kernel, sources, targets
        self.about = _kernels.find(kernel, 3)
        self.gpu = _gpu_number(sources)
        self.count = self.target_count = shape[0]
        if targets is not None:
            found = self._same("targets", targets) if on_gpu(targets) else np.shape(targets)
            if len(found) != 2 or found[1] != 3:
                raise ValueError(f"targets: expected the shape (m, 3), found {found}")
            self.target_count = found[0]
        self.strengths, self.vectors, self.one_vector = self._strengths(strengths, dipoles)
        self.size = self._size(size)

    def _same(self, name: str, array: Any) -> Tuple[int, ...]:
        shape, dtype = _shape_and_type(name, array)
        if dtype != self.dtype:
            raise TypeError(f"{name}: is {dtype}, but sources are {self.dtype}; on a GPU all arrays are of one precision")
        return shape

    def _strengths(self, strengths: Any, dipoles: Any) -> Tuple[Any, int, bool]:
        name, width = self.about.strengths, self.about.width
        if dipoles is not None:
            if self.kernel != "coulomb":
                raise ValueError(f"dipoles: the {self.kernel} kernel has none; coulomb has")
            return self._with_dipoles(strengths, dipoles), 1, True
        if strengths is None:
            raise TypeError(f"{name}: missing")
        tail = () if width == 1 else (width,)
        if on_gpu(strengths):
            shape = self._same(name, strengths)
        else:
            strengths = _arrays.array(name, strengths)
            if strengths.shape in ((), tail):
                strengths = np.broadcast_to(strengths, (self.count, *tail))
            shape = strengths.shape
        vectors = shape[0] if len(shape) == 2 + len(tail) else 1
        expected = (self.count, *tail) if len(shape) < 2 + len(tail) else (vectors, self.count, *tail)
        if shape != expected or vectors == 0:
            raise ValueError(f"{name}: expected the shape {expected}, found {shape}")
        return strengths, vectors, len(shape) == 1 + len(tail)

    def _with_dipoles(self, charges: Any, dipoles: Any) -> Any:
        """Four numbers for each source, by the caller's own library."""
        library = _library(self.sources)
        if library not in ("jax", "jaxlib", "torch", "cupy"):
            raise ValueError("dipoles: of arrays on a GPU only those of JAX, PyTorch and CuPy")
        given = {"dipoles": (dipoles, (self.count, 3)), self.about.strengths: (charges, (self.count,))}
        for name, (array, expected) in given.items():
            if array is None:
                continue
            if not on_gpu(array):
                raise TypeError(f"{name}: is not on the GPU, but sources are")
            if self._same(name, array) != expected:
                raise ValueError(f"{name}: expected the shape {expected}, found {tuple(array.shape)}")
        first = dipoles[:, :1] * 0 if charges is None else charges[:, None]
        if library == "torch":
            return importlib.import_module("torch").cat([first, dipoles], 1)
        numpy_like = importlib.import_module("cupy" if library == "cupy" else "jax.numpy")
        return numpy_like.concatenate([first, dipoles], axis=1)

    def _size(self, size: Any) -> Any:
        if size is None or not (on_gpu(size) or np.ndim(size)):
            return size
        name = self.about.size or "core_size"
        shape = self._same(name, size) if on_gpu(size) else np.shape(size)
        if shape != (self.count,):
            raise ValueError(f"{name}: expected one number or one per source, not the shape {shape}")
        smallest = float(size.min())
        if not smallest >= 0.0:
            raise ValueError(f"{name}: its least number is {smallest}; none may be negative")
        return size

    def shapes(self, outputs: List[str]) -> List[Tuple[int, ...]]:
        """The shapes of the engine's outputs."""
        lead = (self.target_count,) if self.one_vector else (self.vectors, self.target_count)
        return [lead + _WIDTHS.get(name, (3,)) for name in outputs]

    def sum(self, request: Dict[str, Any], names: List[str]) -> Tuple[List[Any], float]:
        """The results, as arrays of the caller's library, and the seconds that the engine took."""
        size = self.size
        per_source = size is not None and (on_gpu(size) or np.ndim(size) > 0)
        outputs = [self.about.outputs[name][0] for name in names]
        empty = np.zeros((0, 3), self.dtype)
        request = dict(
            request,
            sources=empty,
            targets=None,
            sizes=None,
            size=None if size is None or per_source else _arrays.real(self.about.size or "core_size", size),
            outputs=outputs,
            vectors=self.vectors,
            dimension=3,
            complex=False,
        )
        ready: Dict[str, Optional[Any]] = {
            "sources": _operand("sources", self.sources, self.gpu, self.dtype),
            "targets": None if self.targets is None else _operand("targets", self.targets, self.gpu, self.dtype),
            "sizes": _operand("sizes", size, self.gpu, self.dtype) if per_source else None,
            "strengths": _operand(self.about.strengths, self.strengths, self.gpu, self.dtype),
        }
        arrays, seconds = _farfield.sum_on_gpu(request, self.gpu, ready, [list(shape) for shape in self.shapes(outputs)])
        results = []
        for name, array in zip(names, arrays):
            result = _as(self.sources, array)
            if name == "hessian":
                result = result[..., [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(tuple(result.shape[:-1]) + (3, 3))
            results.append(result)
        return results, seconds
