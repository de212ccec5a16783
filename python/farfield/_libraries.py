"""Operations on arrays on a GPU, done by the library that the arrays belong to."""

from __future__ import annotations

import importlib
from typing import Any, Dict, Type

import numpy as np


class Library:
    """An unknown library: only DLPack and ``__cuda_array_interface__`` can be used."""

    def __init__(self, name: str) -> None:
        self.name = name

    def take(self, sample: Any, result: Any) -> Any:
        """Returns a result as an array of this library."""
        namespace = getattr(sample, "__array_namespace__", None)
        return namespace().from_dlpack(result) if namespace is not None else result

    def contiguous(self, array: Any) -> Any:
        """Returns the array in C order."""
        return array

    def _unknown(self, what: str) -> TypeError:
        return TypeError(f"{what}: on a GPU only arrays of JAX, PyTorch and CuPy are supported, not of {self.name}")

    def beside(self, what: str, first: Any, second: Any) -> Any:
        """Concatenates the columns of both arrays."""
        raise self._unknown(what)

    def parts(self, what: str, array: Any) -> Any:
        """Splits complex numbers into real and imaginary parts along a new last axis."""
        raise self._unknown(what)

    def complex(self, what: str, parts: Any) -> Any:
        """Joins real and imaginary parts along the last axis to complex numbers."""
        raise self._unknown(what)

    def times(self, what: str, array: Any, factors: np.ndarray) -> Any:
        """Multiplies the last axis of the array by the factors."""
        raise self._unknown(what)


class _Jax(Library):
    def __init__(self, name: str) -> None:
        super().__init__("jax")
        self.numpy = importlib.import_module("jax.numpy")
        self.lax = importlib.import_module("jax.lax")
        self._from_dlpack = importlib.import_module("jax.dlpack").from_dlpack

    def take(self, sample: Any, result: Any) -> Any:
        return self._from_dlpack(result)

    def beside(self, what: str, first: Any, second: Any) -> Any:
        return self.numpy.concatenate([first, second], axis=1)

    def parts(self, what: str, array: Any) -> Any:
        return self.numpy.stack([array.real, array.imag], axis=-1)

    def complex(self, what: str, parts: Any) -> Any:
        return self.lax.complex(parts[..., 0], parts[..., 1])

    def times(self, what: str, array: Any, factors: np.ndarray) -> Any:
        return array * factors


class _Torch(Library):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.torch = importlib.import_module("torch")

    def take(self, sample: Any, result: Any) -> Any:
        return self.torch.from_dlpack(result)

    def contiguous(self, array: Any) -> Any:
        return array.detach().contiguous()

    def beside(self, what: str, first: Any, second: Any) -> Any:
        return self.torch.cat([first, second], 1)

    def parts(self, what: str, array: Any) -> Any:
        return self.torch.view_as_real(array.detach().resolve_conj().contiguous())

    def complex(self, what: str, parts: Any) -> Any:
        return self.torch.view_as_complex(parts)

    def times(self, what: str, array: Any, factors: np.ndarray) -> Any:
        return array * self.torch.as_tensor(factors, device=array.device)


class _CuPy(Library):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.cupy = importlib.import_module("cupy")

    def take(self, sample: Any, result: Any) -> Any:
        return self.cupy.from_dlpack(result)

    def contiguous(self, array: Any) -> Any:
        return self.cupy.ascontiguousarray(array)

    def beside(self, what: str, first: Any, second: Any) -> Any:
        return self.cupy.concatenate([first, second], axis=1)

    def parts(self, what: str, array: Any) -> Any:
        return self.cupy.stack([array.real, array.imag], axis=-1)

    def complex(self, what: str, parts: Any) -> Any:
        return parts[..., 0] + 1j * parts[..., 1]

    def times(self, what: str, array: Any, factors: np.ndarray) -> Any:
        return array * self.cupy.asarray(factors)


_KNOWN: Dict[str, Type[Library]] = {"jax": _Jax, "jaxlib": _Jax, "torch": _Torch, "cupy": _CuPy}
_MET: Dict[str, Library] = {}


def of(array: Any) -> Library:
    """Returns the library that an array belongs to."""
    name = type(array).__module__.partition(".")[0]
    if name not in _MET:
        _MET[name] = _KNOWN.get(name, Library)(name)
    return _MET[name]
