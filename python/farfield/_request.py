"""Checks the arguments of a sum and converts them for the engine."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _arrays, _kernels


def size(about: _kernels.Kernel, core_size: Any, softening: Any) -> Optional[np.ndarray]:
    """Returns the core size or softening length as an array; an error if the kernel does not take it."""
    for name, value in (("core_size", core_size), ("softening", softening)):
        if value is not None and about.size != name:
            instead = f"; use {about.size}" if about.size else ""
            raise ValueError(f"{name}: this kernel does not take {name}{instead}")
    value = core_size if softening is None else softening
    if value is None:
        return None
    name = about.size or "core_size"
    found = _arrays.array(name, value)
    if found.ndim > 1:
        raise ValueError(f"{name}: expected one number or one per source, not the shape {found.shape}")
    return found


def core_name(
    about: _kernels.Kernel, core: Optional[str], softening_kernel: Optional[str], size: Optional[np.ndarray]
) -> Optional[str]:
    """Returns the engine's name of the core or softening."""
    if core is None and softening_kernel is None and size is None:
        return None
    for name, value, owner in (("core", core, "core_size"), ("softening_kernel", softening_kernel, "softening")):
        if value is not None:
            _arrays.text(name, value)
            if about.size != owner:
                raise ValueError(f"{name}: this kernel does not take {name}")
    if about.engine == "log2d" and about.size == "softening":
        if softening_kernel not in (None, "plummer"):
            raise ValueError(f"softening_kernel: unknown name `{softening_kernel}` in the plane; known: plummer")
        return None if size is None else "algebraic"
    if core is None and softening_kernel is None and size is not None and about.size == "core_size":
        raise ValueError("core_size: a size needs a core; choose one with core=")
    return core or softening_kernel


def output_names(kernel: str, about: _kernels.Kernel, outputs: Union[None, str, Sequence[str]]) -> Tuple[List[str], bool]:
    """Returns the names of the outputs, and whether a single name was given, so that the result is an array, not a tuple."""
    if outputs is None:
        return [about.default], True
    if isinstance(outputs, str):
        names = [outputs]
    else:
        try:
            names = list(outputs)
        except TypeError:
            raise TypeError(f"outputs: expected names, not {type(outputs).__name__}") from None
    if not names:
        raise ValueError(f"outputs: empty; choose from: {', '.join(about.outputs)}")
    names = [_arrays.text("outputs", name).replace("-", "_") for name in names]
    for at, name in enumerate(names):
        if name not in about.outputs:
            raise ValueError(
                f"outputs: unknown output `{name}` of the {kernel} kernel; known: {', '.join(about.outputs)}"
            )
        if name in names[:at]:
            raise ValueError(f"outputs: `{name}` is given twice")
    return names, isinstance(outputs, str)


def check(options: Dict[str, Any]) -> None:
    """Converts the options of a sum to their types, in place; raises for values of a wrong type or range."""
    for name, value in options.items():
        if name == "method" or name == "device":
            _arrays.text(name, value)
        elif value is None:
            continue
        elif name == "tolerance" or name == "theta":
            options[name] = _arrays.real(name, value)
        else:
            options[name] = _arrays.count(name, value, 1 if name == "threads" else 0)


def strengths_name(kernel: str) -> str:
    """Returns the name of the strengths of a kernel."""
    return {"coulomb": "charges", "gravity": "masses"}.get(kernel, "strengths")


def vector_count(name: str, values: Optional[np.ndarray], with_axis: int) -> int:
    """Returns the number of strength vectors. Strengths with a vector axis have `with_axis` axes."""
    if values is None or values.ndim < with_axis:
        return 1
    if values.ndim > with_axis:
        raise ValueError(f"{name}: has {values.ndim} axes, expected at most {with_axis}")
    if values.shape[0] == 0:
        raise ValueError(f"{name}: the shape {values.shape} contains no vector")
    return int(values.shape[0])
