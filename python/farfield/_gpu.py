"""Sums of arrays on a GPU: of CuPy, PyTorch, JAX, and of libraries with ``__dlpack__`` or ``__cuda_array_interface__``.

The arrays are summed on their GPU. The results are arrays of the same library, on the stream that the library names.
"""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import numpy as np

from . import _arrays, _farfield, _kernels, _libraries

#: DLPack's device type for CUDA.
_CUDA = 2


def on_gpu(value: Any) -> bool:
    """Whether `value` is an array on an NVIDIA GPU."""
    if type(value) is np.ndarray or value is None or isinstance(value, (np.ndarray, np.generic, float, int, list, tuple)):
        return False
    ask = getattr(value, "__dlpack_device__", None)
    if ask is not None:
        try:
            return int(ask()[0]) == _CUDA
        except Exception:
            return False
    return hasattr(value, "__cuda_array_interface__")


#: The precision of each supported type, and whether it is complex.
_TYPES: Dict[str, Tuple[np.dtype, bool]] = {
    "float32": (np.dtype(np.float32), False),
    "float64": (np.dtype(np.float64), False),
    "complex64": (np.dtype(np.float32), True),
    "complex128": (np.dtype(np.float64), True),
}


class _Found(NamedTuple):
    """Shape and type of an array on a GPU."""

    shape: Tuple[int, ...]
    #: The precision; for complex numbers that of their parts.
    dtype: np.dtype
    complex: bool


def _look(name: str, array: Any, allow_complex: bool = False) -> _Found:
    text = str(getattr(array, "dtype", "")).rpartition(".")[2]
    if not text and hasattr(array, "__cuda_array_interface__"):
        text = np.dtype(array.__cuda_array_interface__["typestr"]).name
    known = _TYPES.get(text)
    if known is None or (known[1] and not allow_complex):
        complex_too = ", complex64 or complex128" if allow_complex else ""
        raise TypeError(f"{name}: numbers of type {text} on a GPU are not supported; use float32 or float64{complex_too}")
    shape = array.shape if hasattr(array, "shape") else array.__cuda_array_interface__["shape"]
    return _Found(tuple(map(int, shape)), *known)


def _gpu_number(array: Any) -> int:
    if hasattr(array, "__dlpack_device__"):
        return int(array.__dlpack_device__()[1])
    # __cuda_array_interface__ does not name the GPU; the first one is assumed.
    return 0


class Points:
    """The points of a sum and their core sizes, checked. Arrays on the host are sent to the GPU of the sources."""

    def __init__(self, kernel: str, sources: Any, targets: Any, size: Any) -> None:
        found = _look("sources", sources)
        shape, self.dtype = found.shape, found.dtype
        if len(shape) != 2 or shape[1] not in (2, 3):
            raise ValueError(f"sources: points on a GPU must have the shape (n, 3), or (n, 2) in the plane, not {shape}")
        self.kernel, self.dimension = kernel, shape[1]
        self.about = _kernels.find(kernel, self.dimension)
        self.library = _libraries.of(sources)
        self.gpu = _gpu_number(sources)
        self.count = self.target_count = shape[0]
        self.sources, self.targets = sources, targets
        if targets is not None:
            there = self._same("targets", targets) if on_gpu(targets) else np.shape(targets)
            if len(there) != 2 or there[1] != self.dimension:
                raise ValueError(f"targets: expected the shape (m, {self.dimension}), found {there}")
            self.target_count = there[0]
        self.size, self.sizes = self._size(size)

    def _same(self, name: str, array: Any) -> Tuple[int, ...]:
        found = _look(name, array)
        if found.dtype != self.dtype:
            raise TypeError(f"{name}: is {found.dtype}, but sources are {self.dtype}; use one precision for all arrays")
        return found.shape

    def _size(self, size: Any) -> Tuple[Optional[float], Any]:
        """Returns one size for all sources or an array of sizes; the other is None."""
        name = self.about.size or "core_size"
        if size is None:
            return None, None
        there = on_gpu(size)
        if not there and not np.ndim(size):
            return _arrays.real(name, size), None
        shape = self._same(name, size) if there else np.shape(size)
        if shape != (self.count,):
            raise ValueError(f"{name}: expected one number or one per source, not the shape {shape}")
        smallest = float(size.min()) if there else float(np.min(size, initial=0.0))
        if not smallest >= 0.0:
            raise ValueError(f"{name}: the smallest is {smallest}; sizes must not be negative")
        return None, size

    def operand(self, name: str, array: Any) -> Any:
        """Returns an array for the engine; the engine's stream waits for the work that writes the array."""
        if not on_gpu(array):
            return _arrays.plain(np.asarray(array), self.dtype)
        array = _libraries.of(array).contiguous(array)
        double = self.dtype.itemsize == 8
        if hasattr(array, "__dlpack__"):
            return array.__dlpack__(stream=_farfield.stream(self.gpu, double))
        about = array.__cuda_array_interface__
        shape = tuple(about["shape"])
        strides = about.get("strides")
        item = self.dtype.itemsize
        packed = tuple(item * int(np.prod(shape[k + 1 :], dtype=np.int64)) for k in range(len(shape)))
        if strides is not None and tuple(strides) != packed:
            raise ValueError(f"{name}: an array on a GPU must be in C order")
        # No stream means that no synchronisation is needed; the legacy default stream is then always safe to wait for.
        return array, int(about["data"][0]), self.gpu, list(shape), double, int(about.get("stream") or 1)

    def operands(self) -> Dict[str, Any]:
        """Returns points and sizes for the engine."""
        return {
            "sources": self.operand("sources", self.sources),
            "targets": None if self.targets is None else self.operand("targets", self.targets),
            "sizes": None if self.sizes is None else self.operand(self.about.size or "core_size", self.sizes),
        }


class Strengths(NamedTuple):
    """Strengths for the engine, with their layout."""

    operand: Any
    vectors: int
    #: Whether the caller gave one vector without a vector axis.
    single: bool
    complex: bool


def strengths(points: Points, given: Any, dipoles: Any, allow_complex: bool) -> Strengths:
    """Checks strengths against the points and prepares them for the engine."""
    name, width, count = points.about.strengths, points.about.width, points.count
    if dipoles is not None:
        both = points.operand("dipoles", _with_dipoles(points, given, dipoles))
        return Strengths(both, 1, True, False)
    if given is None:
        raise TypeError(f"{name}: missing")
    tail = () if width == 1 else (width,)
    there = on_gpu(given)
    if there:
        found = _look(name, given, allow_complex)
        if found.dtype != points.dtype:
            raise TypeError(f"{name}: is {found.dtype}, but sources are {points.dtype}; use one precision for all arrays")
        shape, is_complex = found.shape, found.complex
    else:
        given = _arrays.array(name, given, allow_complex=allow_complex)
        if given.shape in ((), tail):
            given = np.broadcast_to(given, (count, *tail))
        shape, is_complex = given.shape, given.dtype.kind == "c"
    vectors = shape[0] if len(shape) == 2 + len(tail) else 1
    expected = (count, *tail) if len(shape) < 2 + len(tail) else (vectors, count, *tail)
    if shape != expected or vectors == 0:
        raise ValueError(f"{name}: expected the shape {expected}, found {shape}")
    if is_complex and there:
        given = _libraries.of(given).parts(name, given)
    elif is_complex:
        given = np.stack([given.real, given.imag], axis=-1)
    return Strengths(points.operand(name, given), vectors, len(shape) == 1 + len(tail), is_complex)


def _with_dipoles(points: Points, charges: Any, dipoles: Any) -> Any:
    """Joins charges and dipoles to four numbers per source, with the caller's library."""
    if points.about.engine != "coulomb":
        raise ValueError(f"dipoles: only coulomb in space takes dipoles, not {points.kernel} for these points")
    given = {"dipoles": (dipoles, (points.count, 3)), points.about.strengths: (charges, (points.count,))}
    for name, (array, expected) in given.items():
        if array is None:
            continue
        if not on_gpu(array):
            raise TypeError(f"{name}: is on the host, but sources are on a GPU")
        if points._same(name, array) != expected:
            raise ValueError(f"{name}: expected the shape {expected}, found {tuple(array.shape)}")
    first = dipoles[:, :1] * 0 if charges is None else charges[:, None]
    return points.library.beside("dipoles", first, dipoles)


class Sum:
    """A sum over points on a GPU: the engine's request, and the shapes of its results."""

    def __init__(self, points: Points, outputs: List[str], request: Dict[str, Any], vectors: int, complex: bool) -> None:
        self.points, self.names, self.vectors, self.complex = points, outputs, vectors, complex
        self.outputs = [points.about.outputs[name] for name in outputs]
        self.constant = request["constant"]
        self.request = dict(
            request,
            sources=np.zeros((0, points.dimension), points.dtype),
            targets=None,
            sizes=None,
            size=points.size,
            outputs=[output.engine for output in self.outputs],
            vectors=vectors,
            dimension=points.dimension,
            complex=complex,
        )

    def _shapes(self, single: bool) -> List[List[int]]:
        lead = [self.points.target_count] if single else [self.vectors, self.points.target_count]
        engine = self.points.about.engine

        def tail(output: _kernels.Output) -> List[int]:
            width = output.width(engine, self.complex)
            return [3, 3] if output.form == "matrix" else [width] if width > 1 else []

        return [lead + tail(output) for output in self.outputs]

    def _results(self, arrays: List[Any]) -> List[Any]:
        """Converts the results to arrays of the caller's library."""
        library, sample = self.points.library, self.points.sources
        results = []
        for name, output, array in zip(self.names, self.outputs, arrays):
            result = library.take(sample, array)
            shape = tuple(array.shape)
            if output.form == "hessian":
                result = result[..., _kernels.HESSIAN].reshape(shape[:-1] + (3, 3))
            if output.turned:
                result = result[..., [1, 0]]
            factors = output.factors(self.constant, self.points.dtype)
            if factors is not None:
                result = library.times(name, result, factors)
            if output.form == "complex" and output.width(self.points.about.engine, self.complex) == 2:
                result = library.complex(name, result)
            results.append(result)
        return results

    def once(self, given: Strengths) -> List[Any]:
        """Plans and evaluates the sum."""
        arrays, _ = _farfield.sum_on_gpu(
            self.request, self.points.gpu, self.points.operands(), given.operand, self._shapes(given.single)
        )
        return self._results(arrays)

    def plan(self) -> _farfield.GpuPlan:
        """Returns the engine's plan, which keeps copies of the points."""
        return _farfield.GpuPlan(self.request, self.points.gpu, self.points.operands())

    def evaluate(self, plan: _farfield.GpuPlan, given: Strengths) -> List[Any]:
        """Evaluates the sum with a plan."""
        return self._results(plan.evaluate(given.operand, self._shapes(given.single)))
