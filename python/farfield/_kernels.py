"""The kernels: what their strengths are called, which outputs they have, and how the engine's sums become those."""

from __future__ import annotations

from typing import Callable, Dict, NamedTuple, Optional, Tuple

import numpy as np

#: From the engine's array (..., targets, components) and Newton's constant to the caller's.
Shape = Callable[[np.ndarray, float], np.ndarray]

_HESSIAN = np.array([0, 1, 2, 1, 3, 4, 2, 4, 5])


def _number(values: np.ndarray, _: float) -> np.ndarray:
    return values[..., 0]


def _vector(values: np.ndarray, _: float) -> np.ndarray:
    return values


def _hessian(values: np.ndarray, _: float) -> np.ndarray:
    return values[..., _HESSIAN].reshape(values.shape[:-1] + (3, 3))


def _matrix(values: np.ndarray, _: float) -> np.ndarray:
    return values.reshape(values.shape[:-1] + (3, 3))


def _complex(values: np.ndarray, _: float) -> np.ndarray:
    if values.shape[-1] == 1:
        return values[..., 0]
    return values.view(np.complex64 if values.dtype == np.float32 else np.complex128)[..., 0]


# In the plane the engine sums L = sum s log r and D = dL/dz = L_x - i L_y.
def _minus_number(values: np.ndarray, _: float) -> np.ndarray:
    np.negative(values, out=values)
    return values[..., 0]


def _times_constant(values: np.ndarray, constant: float) -> np.ndarray:
    values *= values.dtype.type(constant)
    return values[..., 0]


def _minus_gradient(values: np.ndarray, _: float) -> np.ndarray:
    np.negative(values[..., 0], out=values[..., 0])
    return values


def _acceleration(values: np.ndarray, constant: float) -> np.ndarray:
    values *= values.dtype.type(constant)
    return _minus_gradient(values, 1.0)


def _velocity(values: np.ndarray, _: float) -> np.ndarray:
    result = values[..., ::-1].copy()
    result *= values.dtype.type(0.5 / np.pi)
    return result


class Kernel(NamedTuple):
    """A kernel in space or in the plane."""

    engine: str
    #: What the caller calls the strengths.
    strengths: str
    #: Numbers per source.
    width: int
    #: Names of outputs, with the engine's output and the shape of the result.
    outputs: Dict[str, Tuple[str, Shape]]
    default: str
    #: Core or softening, where it has one: the argument for the size.
    size: Optional[str] = None
    #: Whether strengths may be complex.
    complex: bool = False


IN_SPACE = {
    "coulomb": Kernel(
        "coulomb",
        "charges",
        1,
        {
            "potential": ("potential", _number),
            "gradient": ("gradient", _vector),
            "hessian": ("hessian", _hessian),
        },
        "potential",
    ),
    "gravity": Kernel(
        "gravity",
        "masses",
        1,
        {"potential": ("potential", _number), "acceleration": ("acceleration", _vector)},
        "acceleration",
        "softening",
    ),
    "biot_savart": Kernel(
        "biot-savart",
        "strengths",
        3,
        {"velocity": ("velocity", _vector), "velocity_gradient": ("velocity-gradient", _matrix)},
        "velocity",
        "core_size",
    ),
}

IN_PLANE = {
    "coulomb": Kernel(
        "log2d",
        "charges",
        1,
        {"potential": ("potential", _minus_number), "gradient": ("derivative", _minus_gradient)},
        "potential",
    ),
    "gravity": Kernel(
        "log2d",
        "masses",
        1,
        {"potential": ("potential", _times_constant), "acceleration": ("derivative", _acceleration)},
        "acceleration",
        "softening",
    ),
    "biot_savart": Kernel("log2d", "strengths", 1, {"velocity": ("derivative", _velocity)}, "velocity", "core_size"),
    "harmonic": Kernel(
        "harmonic2d",
        "strengths",
        1,
        {"potential": ("potential", _complex), "derivative": ("derivative", _complex)},
        "potential",
        "core_size",
        True,
    ),
    "log": Kernel(
        "log2d",
        "strengths",
        1,
        {"potential": ("potential", _complex), "derivative": ("derivative", _complex)},
        "potential",
        "core_size",
        True,
    ),
}


def find(name: str, dimension: int) -> Kernel:
    """The kernel of that name."""
    table = IN_SPACE if dimension == 3 else IN_PLANE
    kernel = table.get(name.replace("-", "_"))
    if kernel is None:
        where = "in space, for points (n, 3)" if dimension == 3 else "in the plane, for points (n, 2)"
        raise ValueError(f"kernel: there is no `{name}` {where}; there are: {', '.join(table)}")
    return kernel
