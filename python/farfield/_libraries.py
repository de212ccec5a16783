"""Libraries whose arrays lie on a GPU: what is done with their arrays by their own means."""

from __future__ import annotations

import importlib
from typing import Any, Dict, Type

import numpy as np


class Library:
    """A library that nothing is known of beyond DLPack and ``__cuda_array_interface__``."""

    def __init__(self, name: str) -> None:
        self.name = name

    def take(self, sample: Any, result: Any) -> Any:
        """A result as an array of this library."""
        namespace = getattr(sample, "__array_namespace__", None)
        return namespace().from_dlpack(result) if namespace is not None else result

    def contiguous(self, array: Any) -> Any:
        """The array in C order, as it is handed over."""
        return array

    def _unknown(self, what: str) -> TypeError:
        return TypeError(f"{what}: of arrays on a GPU only those of JAX, PyTorch and CuPy, not of {self.name}")

    def beside(self, what: str, first: Any, second: Any) -> Any:
        """The columns of both, one beside the other."""
        raise self._unknown(what)

    def parts(self, what: str, array: Any) -> Any:
        """The two parts of complex numbers, along an axis of their own."""
        raise self._unknown(what)

    def complex(self, what: str, parts: Any) -> Any:
        """Complex numbers of two parts along the last axis."""
        raise self._unknown(what)

    def times(self, what: str, array: Any, factors: np.ndarray) -> Any:
        """The array with its last axis multiplied."""
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
    """The library of an array."""
    name = type(array).__module__.partition(".")[0]
    if name not in _MET:
        _MET[name] = _KNOWN.get(name, Library)(name)
    return _MET[name]
