"""Sums: a plan that is used again, and the steps every call takes."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _arrays, _farfield, _gpu, _kernels

#: The options of every sum, with what they are if not said.
OPTIONS: Dict[str, Any] = {
    "tolerance": None,
    "method": "auto",
    "device": "cpu",
    "threads": None,
    "order": None,
    "theta": None,
    "leaf_capacity": None,
    "memory_limit": None,
}

Result = Union[np.ndarray, Tuple[np.ndarray, ...]]


class Plan:
    r"""A planned sum: the points are fixed, the strengths change from call to call.

    Planning sorts the points, builds the tree and chooses method and order; a call then costs the sum alone.

    Parameters
    ----------
    kernel : str
        ``"coulomb"``, ``"gravity"`` or ``"biot_savart"`` in space and in the plane, ``"harmonic"`` or ``"log"`` in the
        plane. The functions of the same names say what is summed.
    sources : array_like, (n, 3) or (n, 2), or complex (n,)
        Where the sources are. The plan keeps a copy.
    targets : array_like, optional
        Where to evaluate; at the sources if not said.
    outputs : str or sequence of str, optional
        What to compute.
    dipoles : bool
        Whether sources carry dipole moments as well ("coulomb" in space).
    vectors : int
        How many vectors of strengths are summed at once.
    complex : bool
        Whether strengths are complex ("harmonic" and "log").

    The other parameters are those of the functions.

    >>> import numpy as np, farfield as ff
    >>> x = np.array([[0.0, 0, 0], [2, 0, 0]])
    >>> plan = ff.Plan("gravity", x, tolerance=1e-6)
    >>> plan([1.0, 4.0])
    array([[ 1.  ,  0.  ,  0.  ],
           [-0.25,  0.  ,  0.  ]])
    """

    def __init__(
        self,
        kernel: str,
        sources: Any,
        *,
        targets: Any = None,
        outputs: Union[None, str, Sequence[str]] = None,
        dipoles: bool = False,
        vectors: int = 1,
        complex: bool = False,
        core: Optional[str] = None,
        core_size: Any = None,
        softening: Any = None,
        softening_kernel: Optional[str] = None,
        gravitational_constant: float = 1.0,
        allow_unbounded_gradient: bool = False,
        tolerance: Optional[float] = None,
        method: str = "auto",
        device: str = "cpu",
        threads: Optional[int] = None,
        order: Optional[int] = None,
        theta: Optional[float] = None,
        leaf_capacity: Optional[int] = None,
        memory_limit: Optional[int] = None,
    ) -> None:
        self._prepare(
            _arrays.text("kernel", kernel),
            sources,
            targets=targets,
            outputs=outputs,
            dipoles=_arrays.truth("dipoles", dipoles),
            vectors=_arrays.count("vectors", vectors),
            complex=_arrays.truth("complex", complex),
            core=core,
            core_size=core_size,
            softening=softening,
            softening_kernel=softening_kernel,
            gravitational_constant=gravitational_constant,
            allow_unbounded_gradient=allow_unbounded_gradient,
            keep=True,
            options={
                "tolerance": tolerance,
                "method": method,
                "device": device,
                "threads": threads,
                "order": order,
                "theta": theta,
                "leaf_capacity": leaf_capacity,
                "memory_limit": memory_limit,
            },
        )

    def _prepare(
        self,
        kernel: str,
        sources: Any,
        *,
        targets: Any = None,
        outputs: Union[None, str, Sequence[str]] = None,
        strengths: Optional[Tuple[Any, Optional[np.ndarray]]] = None,
        dipoles: bool = False,
        vectors: int = 1,
        complex: bool = False,
        core: Optional[str] = None,
        core_size: Any = None,
        softening: Any = None,
        softening_kernel: Optional[str] = None,
        gravitational_constant: float = 1.0,
        allow_unbounded_gradient: bool = False,
        keep: bool = False,
        options: Dict[str, Any],
    ) -> None:
        if _gpu.on_gpu(sources):
            raise TypeError("sources: a plan takes arrays of the host; the functions sum arrays on a GPU where they are")
        given = _arrays.points("sources", sources)
        dimension = _arrays.dimension(given)
        about = _kernels.find(kernel, dimension)
        places = None if targets is None else _arrays.points("targets", targets)
        if places is not None and _arrays.dimension(places) != dimension:
            raise ValueError(f"targets: have {_arrays.dimension(places)} coordinates, but sources have {dimension}")
        if dipoles and about.engine != "coulomb":
            raise ValueError(f"dipoles: the {kernel} kernel has none here; coulomb in space has")
        if complex and not about.complex:
            raise TypeError(f"{about.strengths}: complex numbers are for the kernels harmonic and log, not for {kernel}")
        size = self._size(about, core_size, softening)
        dtype = _arrays.precision(
            (sources, given), (targets, places), (size, size), strengths or (None, None)
        )
        shape = places if places is not None else given
        self._about = about
        self._kernel = kernel
        self._dtype = dtype
        self._dipoles = dipoles
        self._complex = complex
        self._vectors = vectors
        self._sources = len(given)
        self._targets = len(shape)
        self._fortran = shape.ndim == 2 and shape.flags.f_contiguous and not shape.flags.c_contiguous
        self._constant = _arrays.real("gravitational_constant", gravitational_constant)
        self._outputs, self._one = self._named(outputs)
        self._error: Optional[Dict[str, float]] = None
        points = _arrays.plain_points(given, dtype)
        if places is not None:
            places = _arrays.plain_points(places, dtype)
        if keep:
            # What is verified later must be what was planned.
            points = points.copy() if np.shares_memory(points, given) else points
            if places is not None:
                places = places.copy()
        per_source = None if size is None or size.ndim == 0 else _arrays.plain(size, dtype)
        request = {
            "kernel": "coulomb-dipoles" if dipoles else about.engine,
            "dimension": dimension,
            "sources": points,
            "targets": places,
            "outputs": [about.outputs[name][0] for name in self._outputs],
            "vectors": vectors,
            "complex": complex,
            "core": self._core(about, core, softening_kernel, size),
            "size": None if size is None or size.ndim else float(size),
            "sizes": per_source,
            "constant": self._constant,
            "allow_unbounded_gradient": _arrays.truth("allow_unbounded_gradient", allow_unbounded_gradient),
            "strengths_name": about.strengths,
            "sizes_name": about.size or ("core_size" if softening is None else "softening"),
        }
        request.update(_checked(options))
        self._plan = _farfield.Plan(request)

    def _size(self, about: _kernels.Kernel, core_size: Any, softening: Any) -> Optional[np.ndarray]:
        for name, value in (("core_size", core_size), ("softening", softening)):
            if value is not None and about.size != name:
                instead = f"; it has {about.size}" if about.size else ""
                raise ValueError(f"{name}: this kernel has none{instead}")
        value = core_size if softening is None else softening
        if value is None:
            return None
        name = about.size or "core_size"
        size = _arrays.array(name, value)
        if size.ndim > 1:
            raise ValueError(f"{name}: expected one number or one per source, not the shape {size.shape}")
        return size

    def _core(
        self, about: _kernels.Kernel, core: Optional[str], softening_kernel: Optional[str], size: Optional[np.ndarray]
    ) -> Optional[str]:
        for name, value, owner in (("core", core, "core_size"), ("softening_kernel", softening_kernel, "softening")):
            if value is not None:
                _arrays.text(name, value)
                if about.size != owner:
                    raise ValueError(f"{name}: this kernel has none")
        if about.engine == "log2d" and about.size == "softening":
            if softening_kernel not in (None, "plummer"):
                raise ValueError(f"softening_kernel: there is no `{softening_kernel}` in the plane; there are: plummer")
            return None if size is None else "algebraic"
        if core is None and softening_kernel is None and size is not None and about.size == "core_size":
            raise ValueError("core_size: a size needs a core; choose one by core=")
        return core or softening_kernel

    def _named(self, outputs: Union[None, str, Sequence[str]]) -> Tuple[List[str], bool]:
        if outputs is None:
            return [self._about.default], True
        if isinstance(outputs, str):
            names = [outputs]
        else:
            try:
                names = list(outputs)
            except TypeError:
                raise TypeError(f"outputs: expected names, not {type(outputs).__name__}") from None
        if not names:
            raise ValueError(f"outputs: none named; there are: {', '.join(self._about.outputs)}")
        names = [_arrays.text("outputs", name).replace("-", "_") for name in names]
        for at, name in enumerate(names):
            if name not in self._about.outputs:
                raise ValueError(
                    f"outputs: the {self._kernel} kernel has no `{name}`; it has: {', '.join(self._about.outputs)}"
                )
            if name in names[:at]:
                raise ValueError(f"outputs: `{name}` is named twice")
        return names, isinstance(outputs, str)

    def __call__(self, strengths: Any = None, *, dipoles: Any = None) -> Any:
        """Sums for these strengths: (n,), or (vectors, n); of vortices in space (n, 3), or (vectors, n, 3)."""
        numbers, single = self._strengths(strengths, dipoles)
        return self._results(self._plan.evaluate(numbers), single)

    def verify(self, strengths: Any = None, *, dipoles: Any = None, targets: int = 200, seed: int = 1) -> Dict[str, float]:
        """Sums, and measures the relative L2 error of each output at random targets by a direct sum in double precision."""
        numbers, _ = self._strengths(strengths, dipoles)
        targets, seed = _arrays.count("targets", targets), _arrays.count("seed", seed, 0)
        found = self._plan.verify(numbers, targets, seed)
        self._error = {name: error for name, (_, error, _) in zip(self._outputs, found)}
        return dict(self._error)

    @property
    def report(self) -> Dict[str, Any]:
        """What the plan settled on, and what the last sum took.

        ``method``, ``order``, ``device``, ``simd``, ``seconds`` by phase (the first sum's include the planning),
        ``interactions``, ``memory_bytes`` as forecast, ``notes``, and ``error`` once it was measured by `verify`.
        """
        report: Dict[str, Any] = json.loads(self._plan.report())
        report["kernel"] = self._kernel
        report["outputs"] = list(self._outputs)
        report["memory_bytes"] = self._plan.memory_bytes
        report["error"] = None if self._error is None else dict(self._error)
        return report

    @property
    def outputs(self) -> Tuple[str, ...]:
        """What it computes."""
        return tuple(self._outputs)

    @property
    def dtype(self) -> np.dtype:
        """The precision of the results."""
        return self._dtype

    def __repr__(self) -> str:
        where = "" if self._targets == self._sources else f" at {self._targets} targets"
        return f"<farfield.Plan {self._kernel} of {self._sources} sources{where}, {', '.join(self._outputs)}, {self._dtype}>"

    def _strengths(self, strengths: Any, dipoles: Any) -> Tuple[np.ndarray, bool]:
        """Strengths as the engine takes them, and whether the caller gave one vector without an axis for it."""
        name, width, n = self._about.strengths, self._about.width, self._sources
        if self._dipoles:
            return self._with_dipoles(strengths, dipoles)
        if dipoles is not None:
            raise ValueError("dipoles: this plan has none; say dipoles=True when planning")
        if strengths is None:
            raise TypeError(f"{name}: missing")
        values = _arrays.array(name, strengths, allow_complex=True)
        values, single = self._broadcast(name, values, width)
        if values.dtype.kind == "c" and not self._complex:
            why = "say complex=True when planning" if self._about.complex else f"the {self._kernel} kernel takes real ones"
            raise TypeError(f"{name}: complex numbers; {why}")
        if self._complex:
            values = _arrays.plain(values, _arrays.complex_of(self._dtype))
            return values.reshape(-1).view(self._dtype), single
        return _arrays.plain(values, self._dtype), single

    def _with_dipoles(self, charges: Any, dipoles: Any) -> Tuple[np.ndarray, bool]:
        if dipoles is None:
            raise TypeError("dipoles: missing; this plan has them")
        moments, single = self._broadcast("dipoles", _arrays.array("dipoles", dipoles), 3)
        both = np.zeros((self._vectors, self._sources, 4), self._dtype)
        both[..., 1:] = moments
        if charges is not None:
            charges, also_single = self._broadcast("charges", _arrays.array("charges", charges), 1)
            both[..., 0] = charges
            single = single and also_single
        return both, single

    def _broadcast(self, name: str, values: np.ndarray, width: int) -> Tuple[np.ndarray, bool]:
        n, k = self._sources, self._vectors
        tail = () if width == 1 else (width,)
        one, several = (n,) + tail, (k, n) + tail
        if values.shape == one and k == 1:
            return values, True
        if values.shape == several:
            return values, False
        if values.shape in ((), tail):
            return np.broadcast_to(values, one if k == 1 else several), k == 1
        if k == 1:
            # Several vectors for a plan of one.
            more = f" Several vectors need vectors={values.shape[0]} when planning." if values.ndim == len(several) else ""
            raise ValueError(f"{name}: expected the shape {one}, found {values.shape}.{more}")
        raise ValueError(f"{name}: expected the shape {several}, found {values.shape}")

    def _results(self, arrays: List[np.ndarray], single: bool) -> Result:
        results = []
        for name, values in zip(self._outputs, arrays):
            values = values.reshape(self._vectors, self._targets, -1) if values.size else self._empty(name)
            values = self._about.outputs[name][1](values, self._constant)
            if single and self._vectors == 1:
                values = values[0]
            if self._fortran and values.ndim > 1:
                values = np.asfortranarray(values)
            results.append(values)
        return results[0] if self._one else tuple(results)

    def _empty(self, name: str) -> np.ndarray:
        width = {"potential": 1, "hessian": 6, "velocity_gradient": 9, "derivative": 2}.get(name, 3)
        return np.zeros((self._vectors, self._targets, width), self._dtype)


def _checked(options: Dict[str, Any]) -> Dict[str, Any]:
    """The options every sum has, each of the right type."""
    result = dict(options)
    for name in ("tolerance", "theta"):
        if options[name] is not None:
            result[name] = _arrays.real(name, options[name])
    for name in ("order", "leaf_capacity", "memory_limit", "threads"):
        if options[name] is not None:
            result[name] = _arrays.count(name, options[name], 1 if name == "threads" else 0)
    for name in ("method", "device"):
        _arrays.text(name, options[name])
    return result


def once(
    kernel: str, sources: Any, strengths: Any, *, dipoles: Any = None, options: Dict[str, Any], **about: Any
) -> Result:
    """One sum: plans and evaluates, without keeping anything."""
    if _gpu.on_gpu(sources):
        on_gpu: Result = _once_on_gpu(kernel, sources, strengths, dipoles, options, **about)
        return on_gpu
    name = _strengths_name(kernel)
    values = None if strengths is None else _arrays.array(name, strengths, allow_complex=True)
    moments = None if dipoles is None else _arrays.array("dipoles", dipoles)
    given = _arrays.points("sources", sources)
    width = 1 if _arrays.dimension(given) == 2 or kernel != "biot_savart" else 3
    vectors = _vector_count(name, values, 2 if width == 1 else 3)
    vectors = _vector_count("dipoles", moments, 3) if moments is not None and vectors == 1 else vectors
    plan = Plan.__new__(Plan)
    plan._prepare(
        kernel,
        sources,
        strengths=(strengths, values) if values is not None else (dipoles, moments),
        dipoles=dipoles is not None,
        vectors=vectors,
        complex=values is not None and values.dtype.kind == "c",
        options=options,
        **about,
    )
    result: Result = plan(values, dipoles=moments)
    return result


def _once_on_gpu(
    kernel: str,
    sources: Any,
    strengths: Any,
    dipoles: Any,
    options: Dict[str, Any],
    *,
    targets: Any = None,
    outputs: Union[None, str, Sequence[str]] = None,
    core: Optional[str] = None,
    core_size: Any = None,
    softening: Any = None,
    softening_kernel: Optional[str] = None,
    gravitational_constant: float = 1.0,
    allow_unbounded_gradient: bool = False,
) -> Any:
    """One sum of arrays on a GPU."""
    if options["device"] not in ("cpu", "auto") and not str(options["device"]).startswith("cuda"):
        raise ValueError(f"device: {options['device']!r}, but sources are on a GPU and summed there")
    problem = _gpu.Problem(kernel, sources, strengths, dipoles, targets, core_size if softening is None else softening)
    plan = Plan.__new__(Plan)
    plan._about, plan._kernel = problem.about, kernel
    names, one = plan._named(outputs)
    sized = None if problem.size is None else np.zeros(())
    plan._size(problem.about, None if core_size is None else 0.0, None if softening is None else 0.0)
    request = {
        "kernel": "coulomb-dipoles" if dipoles is not None else problem.about.engine,
        "core": plan._core(problem.about, core, softening_kernel, sized),
        "constant": _arrays.real("gravitational_constant", gravitational_constant),
        "allow_unbounded_gradient": _arrays.truth("allow_unbounded_gradient", allow_unbounded_gradient),
        "strengths_name": problem.about.strengths,
        "sizes_name": problem.about.size or "core_size",
        **_checked(dict(options, device=f"cuda:{problem.gpu}")),
    }
    results, _ = problem.sum(request, names)
    return results[0] if one else tuple(results)


def _strengths_name(kernel: str) -> str:
    return {"coulomb": "charges", "gravity": "masses"}.get(kernel, "strengths")


def _vector_count(name: str, values: Optional[np.ndarray], with_axis: int) -> int:
    if values is None or values.ndim < with_axis:
        return 1
    if values.ndim > with_axis:
        raise ValueError(f"{name}: has {values.ndim} axes, {with_axis} at most make sense")
    if values.shape[0] == 0:
        raise ValueError(f"{name}: has no vector in the shape {values.shape}")
    return int(values.shape[0])
