"""Converts the caller's arguments to arrays for the engine: aligned, in C order, of one precision."""

from __future__ import annotations

import numbers
import sys
from typing import Any, Optional, Tuple

import numpy as np

#: Larger than all finite numbers.
_HUGE = float("inf")
_SINGLE, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


def array(name: str, value: Any, allow_complex: bool = False) -> np.ndarray:
    """Returns `value` as an array of numbers in any layout; raises TypeError for anything but numbers."""
    if type(value) is np.ndarray and value.dtype.char in "fd":
        # Fast path for the most common case.
        if value.size >= _LARGE >> 3:
            _check_room(name, value)
        return value
    if not isinstance(value, np.ndarray) and hasattr(value, "__cuda_array_interface__"):
        raise TypeError(f"{name}: the array is on a GPU, but sources are on the host; copy one of them to the other")
    try:
        result = np.asarray(value)
    except Exception as error:
        raise ValueError(f"{name}: not an array of numbers: {error}") from None
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise ValueError(f"{name}: some entries are masked; fill or remove them")
    kind, size = result.dtype.kind, result.dtype.itemsize
    if kind in "iu" or (kind == "f" and size in (4, 8)) or (kind == "c" and allow_complex and size in (8, 16)):
        _check_room(name, result)
        return result
    complex_too = ", complex64, complex128" if allow_complex else ""
    raise TypeError(
        f"{name}: numbers of type {result.dtype} are not supported; use float32, float64{complex_too} or integers"
    )


#: Copies smaller than this many bytes are made without checking the available memory.
_LARGE = 1 << 30


def _check_room(name: str, values: np.ndarray) -> None:
    """Refuses an array whose copy in C order would not fit: a view can have any size without taking memory."""
    needed = 8 * values.size * (2 if values.dtype.kind == "c" else 1)
    if needed < _LARGE or (values.flags.c_contiguous and values.flags.aligned and values.dtype.kind in "fc"):
        return
    available = _available()
    if needed > available:
        raise MemoryError(
            f"{name}: a copy of its {values.size} numbers takes {needed / 2**30:.1f} GiB, but only "
            f"{available / 2**30:.1f} GiB are available"
        )


def _available() -> float:
    try:
        with open("/proc/meminfo") as file:
            return next(1024.0 * int(line.split()[1]) for line in file if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return float("inf")


def precision(*pairs: Tuple[Any, Optional[np.ndarray]]) -> np.dtype:
    """Returns float32 if there are float32 arrays and no float64 arrays, else float64.

    Integers, lists and scalars have no influence.
    """
    found = None
    for given, as_array in pairs:
        if as_array is None or as_array.ndim == 0 or as_array.dtype.kind not in "fc" or not hasattr(given, "dtype"):
            continue
        size = as_array.dtype.itemsize // (2 if as_array.dtype.kind == "c" else 1)
        if size == 8:
            return _DOUBLE
        found = _SINGLE
    return found or _DOUBLE


def plain(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Returns the values aligned, in C order and with `dtype`; a copy only if needed."""
    result = np.ascontiguousarray(values, dtype)
    return result if result.flags.aligned else result.copy()


def points(name: str, value: Any) -> np.ndarray:
    """Returns points as given, with the shape (n, 3) or (n, 2), or (n,) for complex numbers."""
    result = array(name, value, allow_complex=True)
    if result.dtype.kind == "c":
        if result.ndim != 1:
            raise ValueError(f"{name}: complex points must have the shape (n,), not {result.shape}")
    elif result.ndim != 2 or result.shape[1] not in (2, 3):
        raise ValueError(f"{name}: points must have the shape (n, 3), or (n, 2) in the plane, not {result.shape}")
    return result


def dimension(values: np.ndarray) -> int:
    """Returns 3 for points in space, 2 for points in the plane."""
    return 2 if values.dtype.kind == "c" else values.shape[1]


def plain_points(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Returns points with the shape (n, 2) or (n, 3), aligned, in C order and with `dtype`."""
    if values.dtype.kind == "c":
        return plain(values, complex_of(dtype)).view(dtype).reshape(-1, 2)
    return plain(values, dtype)


def complex_of(dtype: np.dtype) -> np.dtype:
    """Returns the complex type of a precision."""
    return np.dtype(np.complex64 if dtype == _SINGLE else np.complex128)


def real(name: str, value: Any) -> float:
    """Returns an option that must be a finite number."""
    if type(value) is float and -_HUGE < value < _HUGE:
        return value
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name}: expected a number, not {type(value).__name__}")
    try:
        result = float(value)
    except OverflowError:
        raise ValueError(f"{name}: {value!r} is too large") from None
    if not np.isfinite(result):
        raise ValueError(f"{name}: {result} is not finite")
    return result


def count(name: str, value: Any, lowest: int = 1) -> int:
    """Returns an option that must be an integer of at least `lowest`."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (numbers.Integral, np.integer)):
        raise TypeError(f"{name}: expected an integer, not {type(value).__name__}")
    result = int(value)
    if not lowest <= result <= sys.maxsize:
        raise ValueError(f"{name} = {result} is outside its range {lowest} to {sys.maxsize}")
    return result


def text(name: str, value: Any) -> str:
    """Returns an option that must be a string."""
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected a string, not {type(value).__name__}")
    return value


def truth(name: str, value: Any) -> bool:
    """Returns an option that must be True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}: expected True or False, not {type(value).__name__}")
    return bool(value)
