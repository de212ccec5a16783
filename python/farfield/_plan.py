"""Planned sums, and sums in one call."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _arrays, _farfield, _gpu, _kernels, _request

#: The options of every sum, with their defaults.
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

    Planning sorts the points, builds the tree and chooses method and order; a call then costs only the sum.

    Parameters
    ----------
    kernel : str
        ``"coulomb"``, ``"gravity"`` or ``"biot_savart"`` in space and in the plane, ``"harmonic"`` or ``"log"`` in the
        plane. The functions of the same names document the formulas.
    sources : array_like, (n, 3) or (n, 2), or complex (n,)
        The positions of the sources. The plan keeps a copy.
    targets : array_like, optional
        The points at which the sum is evaluated; by default the sources.
    outputs : str or sequence of str, optional
        The quantities to compute.
    dipoles : bool
        Whether sources also have dipole moments ("coulomb" in space).
    vectors : int
        The number of strength vectors that one call evaluates.
    complex : bool
        Whether strengths are complex ("harmonic" and "log").

    The other parameters are the same as for the functions.

    >>> import numpy as np, farfield as ff
    >>> x = np.array([[0.0, 0, 0], [2, 0, 0]])
    >>> plan = ff.Plan("gravity", x, tolerance=1e-6)
    >>> plan([1.0, 4.0])
    array([[ 1.  ,  0.  ,  0.  ],
           [-0.25,  0.  ,  0.  ]])
    """

    #: The errors measured by `verify`.
    _error: Optional[Dict[str, float]] = None
    #: The sum, if the points are on a GPU.
    _on_gpu: Optional[_gpu.Sum] = None

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
        prepare = self._prepare_on_gpu if _gpu.on_gpu(sources) else self._prepare
        request = prepare(
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
        self._plan: Any = _farfield.Plan(request) if self._on_gpu is None else self._on_gpu.plan()

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
        given: Optional[np.ndarray] = None,
        options: Dict[str, Any],
    ) -> Dict[str, Any]:
        """Checks the arguments and returns the engine's request. `given` is the array of the sources, if already known."""
        given = _arrays.points("sources", sources) if given is None else given
        dimension = _arrays.dimension(given)
        about = _kernels.find(kernel, dimension)
        places = None if targets is None else _arrays.points("targets", targets)
        if places is not None and _arrays.dimension(places) != dimension:
            raise ValueError(f"targets: have {_arrays.dimension(places)} coordinates, but sources have {dimension}")
        self._about, self._kernel, self._dipoles, self._complex = about, kernel, dipoles, complex
        if dipoles or complex:
            self._check_strengths()
        size = None if core_size is None and softening is None else _request.size(about, core_size, softening)
        dtype = _arrays.precision(
            (sources, given), (targets, places), (size, size), strengths or (None, None)
        )
        shape = places if places is not None else given
        self._dtype = dtype
        self._vectors = vectors
        self._sources = len(given)
        self._targets = len(shape)
        self._fortran = shape.ndim == 2 and shape.flags.f_contiguous and not shape.flags.c_contiguous
        self._constant = _arrays.real("gravitational_constant", gravitational_constant)
        self._outputs, self._one = _request.output_names(kernel, self._about, outputs)
        points = _arrays.plain_points(given, dtype)
        if places is not None:
            places = _arrays.plain_points(places, dtype)
        if keep:
            # `verify` needs the points that were planned, even if the caller changes its arrays.
            points = points.copy() if np.shares_memory(points, given) else points
            if places is not None:
                places = places.copy()
        per_source = None if size is None or size.ndim == 0 else _arrays.plain(size, dtype)
        request = {
            "kernel": "coulomb-dipoles" if dipoles else about.engine,
            "dimension": dimension,
            "sources": points,
            "targets": places,
            "outputs": [about.outputs[name].engine for name in self._outputs],
            "vectors": vectors,
            "complex": complex,
            "core": _request.core_name(about, core, softening_kernel, size),
            "size": None if size is None or size.ndim else float(size),
            "sizes": per_source,
            "constant": self._constant,
            "allow_unbounded_gradient": _arrays.truth("allow_unbounded_gradient", allow_unbounded_gradient),
            "strengths_name": about.strengths,
            "sizes_name": about.size or ("core_size" if softening is None else "softening"),
        }
        _request.check(options)
        request.update(options)
        return request

    def _prepare_on_gpu(
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
        keep: bool = False,
        options: Dict[str, Any],
    ) -> Dict[str, Any]:
        """As `_prepare`, for points on a GPU."""
        _request.check(options)
        if options["device"] not in ("cpu", "auto") and not str(options["device"]).startswith("cuda"):
            raise ValueError(f"device: is {options['device']!r}, but the sources are on a GPU and are summed there")
        points = _gpu.Points(kernel, sources, targets, core_size if softening is None else softening)
        self._about, self._kernel, self._dtype = points.about, kernel, points.dtype
        self._dipoles, self._complex, self._vectors = dipoles, complex, vectors
        self._sources, self._targets = points.count, points.target_count
        self._outputs, self._one = _request.output_names(kernel, self._about, outputs)
        self._check_strengths()
        if dipoles and vectors > 1:
            raise ValueError(f"vectors = {vectors}: with dipoles on a GPU only one vector is supported")
        _request.size(points.about, None if core_size is None else 0.0, None if softening is None else 0.0)
        sized = None if points.size is None and points.sizes is None else np.zeros(())
        request = {
            "kernel": "coulomb-dipoles" if dipoles else points.about.engine,
            "core": _request.core_name(points.about, core, softening_kernel, sized),
            "constant": _arrays.real("gravitational_constant", gravitational_constant),
            "allow_unbounded_gradient": _arrays.truth("allow_unbounded_gradient", allow_unbounded_gradient),
            "strengths_name": points.about.strengths,
            "sizes_name": points.about.size or "core_size",
            **options,
            "device": f"cuda:{points.gpu}",
        }
        self._on_gpu = _gpu.Sum(points, self._outputs, request, vectors, complex)
        return request

    def _check_strengths(self) -> None:
        """Refuses dipoles and complex strengths for kernels that do not take them."""
        if self._dipoles and self._about.engine != "coulomb":
            raise ValueError(f"dipoles: only coulomb in space takes dipoles, not {self._kernel} for these points")
        if self._complex and not self._about.complex:
            raise TypeError(
                f"{self._about.strengths}: complex, but only the kernels harmonic and log take complex strengths, "
                f"not {self._kernel}"
            )

    def __call__(self, strengths: Any = None, *, dipoles: Any = None) -> Any:
        """Evaluates the sum for strengths (n,) or (vectors, n); for vortices in space (n, 3) or (vectors, n, 3)."""
        if self._on_gpu is not None:
            return self._chosen(self._on_gpu.evaluate(self._plan, self._strengths_on_gpu(strengths, dipoles)))
        numbers, single = self._strengths(strengths, dipoles)
        return self._results(self._plan.evaluate(numbers), single)

    def verify(self, strengths: Any = None, *, dipoles: Any = None, targets: int = 200, seed: int = 1) -> Dict[str, float]:
        """Evaluates the sum and measures the relative L2 error of each output at random targets.

        The reference is a direct sum in double precision. `targets` is the number of random targets.
        """
        targets, seed = _arrays.count("targets", targets), _arrays.count("seed", seed, 0)
        if self._on_gpu is not None:
            numbers = self._strengths_on_gpu(strengths, dipoles).operand
        else:
            numbers, _ = self._strengths(strengths, dipoles)
        found = self._plan.verify(numbers, targets, seed)
        error: Dict[str, float] = {name: value for name, (_, value, _) in zip(self._outputs, found)}
        self._error = error
        return dict(error)

    @property
    def report(self) -> Dict[str, Any]:
        """The choices of the plan, and the cost of the last sum.

        Keys are ``method``, ``order``, ``device``, ``simd``, ``seconds`` by phase (for the first sum including planning),
        ``interactions``, ``memory_bytes`` (forecast), ``notes``, and ``error``, None until `verify` has measured it.
        """
        report: Dict[str, Any] = json.loads(self._plan.report())
        report["kernel"] = self._kernel
        report["outputs"] = list(self._outputs)
        report["memory_bytes"] = self._plan.memory_bytes
        report["error"] = None if self._error is None else dict(self._error)
        return report

    @property
    def outputs(self) -> Tuple[str, ...]:
        """The names of the outputs."""
        return tuple(self._outputs)

    @property
    def dtype(self) -> np.dtype:
        """The precision of the results."""
        return self._dtype

    def __repr__(self) -> str:
        where = "" if self._targets == self._sources else f" at {self._targets} targets"
        return f"<farfield.Plan {self._kernel} of {self._sources} sources{where}, {', '.join(self._outputs)}, {self._dtype}>"

    def _once_on_gpu(
        self, kernel: str, sources: Any, strengths: Any, dipoles: Any, options: Dict[str, Any], about: Dict[str, Any]
    ) -> Any:
        """Plans and evaluates one sum of arrays on a GPU."""
        request = self._prepare_on_gpu(kernel, sources, dipoles=dipoles is not None, options=options, **about)
        assert self._on_gpu is not None
        points = self._on_gpu.points
        given = _gpu.strengths(points, strengths, dipoles, self._about.complex)
        return self._chosen(_gpu.Sum(points, self._outputs, request, given.vectors, given.complex).once(given))

    def _strengths_on_gpu(self, strengths: Any, dipoles: Any) -> _gpu.Strengths:
        assert self._on_gpu is not None
        self._expect_dipoles(dipoles)
        given = _gpu.strengths(self._on_gpu.points, strengths, dipoles, self._complex)
        if given.vectors != self._vectors:
            raise ValueError(
                f"{self._about.strengths}: has {given.vectors} vectors, but the plan was made for vectors={self._vectors}"
            )
        if self._complex and not given.complex:
            raise TypeError(f"{self._about.strengths}: must be complex, because the plan was made with complex=True")
        return given

    def _expect_dipoles(self, dipoles: Any) -> None:
        if self._dipoles and dipoles is None:
            raise TypeError("dipoles: missing; this plan was made with dipoles=True")
        if not self._dipoles and dipoles is not None:
            raise ValueError("dipoles: this plan was made without dipoles; use dipoles=True when planning")

    def _strengths(self, strengths: Any, dipoles: Any) -> Tuple[np.ndarray, bool]:
        """Returns the strengths for the engine, and whether the caller gave one vector without a vector axis."""
        name, width = self._about.strengths, self._about.width
        if self._dipoles or dipoles is not None:
            self._expect_dipoles(dipoles)
            return self._with_dipoles(strengths, dipoles)
        if strengths is None:
            raise TypeError(f"{name}: missing")
        values = _arrays.array(name, strengths, allow_complex=True)
        values, single = self._broadcast(name, values, width)
        if values.dtype.kind == "c" and not self._complex:
            why = "use complex=True when planning" if self._about.complex else f"the {self._kernel} kernel takes real numbers"
            raise TypeError(f"{name}: complex numbers; {why}")
        if self._complex:
            values = _arrays.plain(values, _arrays.complex_of(self._dtype))
            return values.reshape(-1).view(self._dtype), single
        return _arrays.plain(values, self._dtype), single

    def _with_dipoles(self, charges: Any, dipoles: Any) -> Tuple[np.ndarray, bool]:
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
            more = f" For several vectors use vectors={values.shape[0]} when planning." if values.ndim == len(several) else ""
            raise ValueError(f"{name}: expected the shape {one}, found {values.shape}.{more}")
        raise ValueError(f"{name}: expected the shape {several}, found {values.shape}")

    def _results(self, arrays: List[np.ndarray], single: bool) -> Result:
        results = []
        for name, values in zip(self._outputs, arrays):
            output = self._about.outputs[name]
            if output.form == "number" and not output.signs and single and self._vectors == 1 and values.size:
                results.append(values)
                continue
            if values.size:
                values = values.reshape(self._vectors, self._targets, -1)
            else:
                width = output.width(self._about.engine, self._complex)
                values = np.zeros((self._vectors, self._targets, width), self._dtype)
            values = output.finish(values, self._constant)
            if single and self._vectors == 1:
                values = values[0]
            if self._fortran and values.ndim > 1:
                values = np.asfortranarray(values)
            results.append(values)
        chosen: Result = self._chosen(results)
        return chosen

    def _chosen(self, results: List[Any]) -> Any:
        """Returns an array if the caller gave a single output name, else a tuple."""
        return results[0] if self._one else tuple(results)


def once(
    kernel: str, sources: Any, strengths: Any, *, dipoles: Any = None, options: Dict[str, Any], **about: Any
) -> Result:
    """Plans and evaluates one sum without keeping a plan."""
    plan = Plan.__new__(Plan)
    if _gpu.on_gpu(sources):
        on_gpu: Result = plan._once_on_gpu(kernel, sources, strengths, dipoles, options, about)
        return on_gpu
    name = _request.strengths_name(kernel)
    values = None if strengths is None else _arrays.array(name, strengths, allow_complex=True)
    moments = None if dipoles is None else _arrays.array("dipoles", dipoles)
    given = _arrays.points("sources", sources)
    width = 1 if _arrays.dimension(given) == 2 or kernel != "biot_savart" else 3
    vectors = _request.vector_count(name, values, 2 if width == 1 else 3)
    vectors = _request.vector_count("dipoles", moments, 3) if moments is not None and vectors == 1 else vectors
    request = plan._prepare(
        kernel,
        sources,
        strengths=(strengths, values) if values is not None else (dipoles, moments),
        dipoles=dipoles is not None,
        vectors=vectors,
        complex=values is not None and values.dtype.kind == "c",
        given=given,
        options=options,
        **about,
    )
    numbers, single = plan._strengths(values, moments)
    return plan._results(_farfield.sum_on_host(request, numbers), single)
