"""The types of the sums: a single output name gives an array, a sequence of names a tuple of arrays."""

from typing import Any, List, Optional, Tuple, Union, overload

import numpy as np

_Names = Union[List[str], Tuple[str, ...]]

@overload
def coulomb(
    sources: Any,
    charges: Any = ...,
    *,
    dipoles: Any = ...,
    targets: Any = ...,
    outputs: Optional[str] = ...,
    tolerance: Optional[float] = ...,
    method: str = ...,
    device: str = ...,
    threads: Optional[int] = ...,
    order: Optional[int] = ...,
    theta: Optional[float] = ...,
    leaf_capacity: Optional[int] = ...,
    memory_limit: Optional[int] = ...,
) -> np.ndarray: ...
@overload
def coulomb(
    sources: Any,
    charges: Any = ...,
    *,
    dipoles: Any = ...,
    targets: Any = ...,
    outputs: _Names,
    tolerance: Optional[float] = ...,
    method: str = ...,
    device: str = ...,
    threads: Optional[int] = ...,
    order: Optional[int] = ...,
    theta: Optional[float] = ...,
    leaf_capacity: Optional[int] = ...,
    memory_limit: Optional[int] = ...,
) -> Tuple[np.ndarray, ...]: ...

@overload
def gravity(
    sources: Any,
    masses: Any,
    *,
    softening: Any = ...,
    softening_kernel: Optional[str] = ...,
    gravitational_constant: float = ...,
    targets: Any = ...,
    outputs: Optional[str] = ...,
    tolerance: Optional[float] = ...,
    method: str = ...,
    device: str = ...,
    threads: Optional[int] = ...,
    order: Optional[int] = ...,
    theta: Optional[float] = ...,
    leaf_capacity: Optional[int] = ...,
    memory_limit: Optional[int] = ...,
) -> np.ndarray: ...
@overload
def gravity(
    sources: Any,
    masses: Any,
    *,
    softening: Any = ...,
    softening_kernel: Optional[str] = ...,
    gravitational_constant: float = ...,
    targets: Any = ...,
    outputs: _Names,
    tolerance: Optional[float] = ...,
    method: str = ...,
    device: str = ...,
    threads: Optional[int] = ...,
    order: Optional[int] = ...,
    theta: Optional[float] = ...,
    leaf_capacity: Optional[int] = ...,
    memory_limit: Optional[int] = ...,
) -> Tuple[np.ndarray, ...]: ...

@overload
def biot_savart(
    sources: Any,
    strengths: Any,
    *,
    core: Optional[str] = ...,
    core_size: Any = ...,
    allow_unbounded_gradient: bool = ...,
    targets: Any = ...,
    outputs: Optional[str] = ...,
    tolerance: Optional[float] = ...,
    method: str = ...,
    device: str = ...,
    threads: Optional[int] = ...,
    order: Optional[int] = ...,
    theta: Optional[float] = ...,
    leaf_capacity: Optional[int] = ...,
    memory_limit: Optional[int] = ...,
) -> np.ndarray: ...
@overload
def biot_savart(
    sources: Any,
    strengths: Any,
    *,
    core: Optional[str] = ...,
    core_size: Any = ...,
    allow_unbounded_gradient: bool = ...,
    targets: Any = ...,
    outputs: _Names,
    tolerance: Optional[float] = ...,
    method: str = ...,
    device: str = ...,
    threads: Optional[int] = ...,
    order: Optional[int] = ...,
    theta: Optional[float] = ...,
    leaf_capacity: Optional[int] = ...,
    memory_limit: Optional[int] = ...,
) -> Tuple[np.ndarray, ...]: ...

@overload
def harmonic(
    sources: Any,
    strengths: Any,
    *,
    core: Optional[str] = ...,
    core_size: Any = ...,
    targets: Any = ...,
    outputs: Optional[str] = ...,
    tolerance: Optional[float] = ...,
    method: str = ...,
    device: str = ...,
    threads: Optional[int] = ...,
    order: Optional[int] = ...,
    theta: Optional[float] = ...,
    leaf_capacity: Optional[int] = ...,
    memory_limit: Optional[int] = ...,
) -> np.ndarray: ...
@overload
def harmonic(
    sources: Any,
    strengths: Any,
    *,
    core: Optional[str] = ...,
    core_size: Any = ...,
    targets: Any = ...,
    outputs: _Names,
    tolerance: Optional[float] = ...,
    method: str = ...,
    device: str = ...,
    threads: Optional[int] = ...,
    order: Optional[int] = ...,
    theta: Optional[float] = ...,
    leaf_capacity: Optional[int] = ...,
    memory_limit: Optional[int] = ...,
) -> Tuple[np.ndarray, ...]: ...

@overload
def log(
    sources: Any,
    strengths: Any,
    *,
    core: Optional[str] = ...,
    core_size: Any = ...,
    targets: Any = ...,
    outputs: Optional[str] = ...,
    tolerance: Optional[float] = ...,
    method: str = ...,
    device: str = ...,
    threads: Optional[int] = ...,
    order: Optional[int] = ...,
    theta: Optional[float] = ...,
    leaf_capacity: Optional[int] = ...,
    memory_limit: Optional[int] = ...,
) -> np.ndarray: ...
@overload
def log(
    sources: Any,
    strengths: Any,
    *,
    core: Optional[str] = ...,
    core_size: Any = ...,
    targets: Any = ...,
    outputs: _Names,
    tolerance: Optional[float] = ...,
    method: str = ...,
    device: str = ...,
    threads: Optional[int] = ...,
    order: Optional[int] = ...,
    theta: Optional[float] = ...,
    leaf_capacity: Optional[int] = ...,
    memory_limit: Optional[int] = ...,
) -> Tuple[np.ndarray, ...]: ...
