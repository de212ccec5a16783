"""The kernels: the names of their strengths, their outputs, and how outputs are computed from the engine's sums."""

from __future__ import annotations

from typing import Dict, NamedTuple, Optional, Tuple

import numpy as np

from . import _farfield

#: Indices that expand xx, xy, xz, yy, yz, zz to a 3 x 3 matrix.
HESSIAN = np.array([0, 1, 2, 1, 3, 4, 2, 4, 5])


class Output(NamedTuple):
    """An output, and how it is computed from the engine's sums."""

    engine: str
    #: "number", "vector", "hessian", "matrix", or "complex" (two components for a complex number, one for a real number).
    form: str
    #: Factors of the components; empty for none.
    signs: Tuple[float, ...] = ()
    #: Whether the components are also multiplied by the gravitational constant.
    by_constant: bool = False
    #: Whether the two components are swapped before they are multiplied.
    turned: bool = False

    def factors(self, constant: float, dtype: np.dtype) -> Optional[np.ndarray]:
        """The factors of the components; None without factors."""
        if not self.signs:
            return None
        constant = constant if self.by_constant else 1.0
        return np.array([constant * sign for sign in self.signs], dtype)

    def width(self, engine: str, complex: bool) -> int:
        """The number of components that the engine's kernel `engine` has at a target."""
        if self.form == "complex":
            return 2 if complex or engine == "harmonic2d" or self.engine != "potential" else 1
        if self.engine == "derivative":
            return 2
        return {"number": 1, "vector": 3, "hessian": 6, "matrix": 9}[self.form]

    def finish(self, values: np.ndarray, constant: float) -> np.ndarray:
        """Converts the engine's array (..., targets, components) to the caller's, in place where possible."""
        if self.turned:
            values = values[..., ::-1].copy()
        factors = self.factors(constant, values.dtype)
        if factors is not None:
            values *= factors
        if self.form == "vector":
            return values
        if self.form == "hessian":
            values = values[..., HESSIAN]
        if self.form in ("hessian", "matrix"):
            return values.reshape(values.shape[:-1] + (3, 3))
        if values.shape[-1] == 2:
            values = values.view(np.complex64 if values.dtype == np.float32 else np.complex128)
        return values[..., 0]


class Kernel(NamedTuple):
    """A kernel in space or in the plane."""

    engine: str
    #: The caller's name for the strengths.
    strengths: str
    #: Numbers per strength.
    width: int
    outputs: Dict[str, Output]
    default: str
    #: The name of the argument for the core size or softening length; None for a kernel without one.
    size: Optional[str] = None
    #: Whether strengths may be complex.
    complex: bool = False


#: The form of an output in space by its number of components.
_FORMS = {1: "number", 3: "vector", 6: "hessian", 9: "matrix"}

#: The default output, where it is not the first.
_DEFAULTS = {"gravity": "acceleration"}


def _in_space() -> Dict[str, Kernel]:
    """The engine's kernels in space by their Python names."""
    table = {}
    for engine, strengths, width, outputs, size in _farfield.kernels():
        name = engine.replace("-", "_")
        forms = {output.replace("-", "_"): Output(output, _FORMS[components]) for output, components in outputs}
        table[name] = Kernel(engine, strengths, width, forms, _DEFAULTS.get(name, next(iter(forms))), size)
    return table


IN_SPACE = _in_space()

# In the plane the engine sums L = sum s log r and D = dL/dz = L_x - i L_y.
_COMPLEX = {
    "potential": Output("potential", "complex"),
    "derivative": Output("derivative", "complex"),
    "second_derivative": Output("second-derivative", "complex"),
}
IN_PLANE = {
    "coulomb": Kernel(
        "log2d",
        "charges",
        1,
        {
            "potential": Output("potential", "number", (-1.0,)),
            "gradient": Output("derivative", "vector", (-1.0, 1.0)),
        },
        "potential",
    ),
    "gravity": Kernel(
        "log2d",
        "masses",
        1,
        {
            "potential": Output("potential", "number", (1.0,), by_constant=True),
            "acceleration": Output("derivative", "vector", (-1.0, 1.0), by_constant=True),
        },
        "acceleration",
        "softening",
    ),
    "biot_savart": Kernel(
        "log2d",
        "strengths",
        1,
        {"velocity": Output("derivative", "vector", (0.5 / np.pi, 0.5 / np.pi), turned=True)},
        "velocity",
        "core_size",
    ),
    "harmonic": Kernel("harmonic2d", "strengths", 1, _COMPLEX, "potential", "core_size", True),
    "log": Kernel("log2d", "strengths", 1, _COMPLEX, "potential", "core_size", True),
}


def find(name: str, dimension: int) -> Kernel:
    """Returns the kernel `name` in space (dimension 3) or in the plane (2)."""
    table = IN_SPACE if dimension == 3 else IN_PLANE
    kernel = table.get(name.replace("-", "_"))
    if kernel is None:
        where = "in space, for points (n, 3)" if dimension == 3 else "in the plane, for points (n, 2)"
        raise ValueError(f"kernel: unknown kernel `{name}` {where}; known: {', '.join(table)}")
    return kernel
