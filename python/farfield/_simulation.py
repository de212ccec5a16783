"""Simulations: runs in a folder, and stepping by hand."""

from __future__ import annotations

import csv
import os
import sys
import tempfile
import time as clock
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Tuple, Union

import numpy as np

from . import _arrays, _farfield

#: Called with the step, the time, the end time, and the estimated seconds left.
Watch = Callable[[int, float, float, float], None]


def cases() -> Dict[str, str]:
    """Returns the built-in cases with their descriptions.

    >>> import farfield as ff
    >>> "leapfrog" in ff.cases()
    True
    """
    return dict(_farfield.cases())


def _value(key: str, value: Any) -> str:
    """Returns a value as TOML."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (list, tuple, np.ndarray)):
        return "[" + ", ".join(_value(key, item) for item in value) + "]"
    raise TypeError(f"set: `{key}` is {type(value).__name__}; expected a number, a string, a bool or a list")


def _asked(case: Any, set: Optional[Mapping[str, Any]], device: str, threads: Optional[int]) -> Dict[str, Any]:
    name, text = os.fspath(case), None
    if not isinstance(name, str):
        raise TypeError("case: expected a name, a path or the text of a case, as a string")
    if "\n" in name:
        name, text = "case", name
    elif name.endswith(".toml"):
        with open(name, encoding="utf-8") as file:
            text = file.read()
    return {
        "name": name,
        "text": text,
        "set": [f"{key}={_value(key, value)}" for key, value in (set or {}).items()],
        "device": _arrays.text("device", device),
        "threads": None if threads is None else _arrays.count("threads", threads),
    }


class RunResult:
    """The folder of a run and its contents."""

    def __init__(self, folder: str, outcome: Mapping[str, Any]) -> None:
        #: The folder of the output.
        self.folder = folder
        #: Whether the run reached the end time of the case.
        self.finished: bool = outcome["finished"]
        #: Total number of steps.
        self.steps: int = outcome["steps"]
        #: The time reached.
        self.time: float = outcome["time"]
        #: Wall-clock seconds.
        self.seconds: float = outcome["seconds"]
        #: The method and parameters of the sums.
        self.sums: str = outcome["sums"]
        #: Notes and warnings of the run.
        self.remarks: List[str] = outcome["remarks"]

    @property
    def diagnostics(self) -> Dict[str, np.ndarray]:
        """The columns of diagnostics.csv as arrays; an empty cell is NaN."""
        with open(os.path.join(self.folder, "diagnostics.csv"), newline="", encoding="utf-8") as file:
            rows = list(csv.reader(line for line in file if not line.startswith("#")))
        names, rows = rows[0], rows[1:]
        return {name: _column([row[k] for row in rows]) for k, name in enumerate(names)}

    def frame(self) -> Any:
        """Returns the diagnostics as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(self.diagnostics)

    def _files(self, ending: str) -> List[str]:
        found = []
        for place, _, names in os.walk(self.folder):
            found += [os.path.join(place, name) for name in names if name.endswith(ending)]
        return sorted(found)

    @property
    def frames(self) -> List[str]:
        """The paths of the pictures, in order."""
        return self._files(".png")

    @property
    def fields(self) -> Iterator[Dict[str, np.ndarray]]:
        """The field files in order, each as a dict of arrays. How often they are written is set by output.fields_every."""
        for path in self._files(".npz"):
            with np.load(path) as file:
                yield {name: file[name] for name in file.files}

    def resume(self, set: Optional[Mapping[str, Any]] = None, **options: Any) -> "RunResult":
        """Resumes the run from its newest checkpoint; `set` changes the case, for instance ``{"time.end": 4}``."""
        return resume(self.folder, set=set, **options)

    def __repr__(self) -> str:
        how = "finished" if self.finished else "stopped"
        return f"<farfield run {how} at step {self.steps}, time {self.time:g}, in {self.folder}>"


def _column(texts: List[str]) -> np.ndarray:
    try:
        return np.array([float(text) if text else np.nan for text in texts])
    except ValueError:
        return np.array(texts)


def run(
    case: Any,
    *,
    set: Optional[Mapping[str, Any]] = None,
    folder: Union[None, str, "os.PathLike[str]"] = None,
    device: str = "cpu",
    threads: Optional[int] = None,
    steps: Optional[int] = None,
    progress: Union[bool, Watch] = True,
) -> RunResult:
    """Runs a simulation to its end and returns its results.

    Parameters
    ----------
    case : str
        A built-in case (`farfield.cases`), a path that ends in .toml, or the text of a case.
    set : mapping, optional
        Changes to the case: ``{"time.end": 2, "vortex.rings.0.radius": 0.5}``.
    folder : path, optional
        The folder for the output; by default a new temporary folder.
    steps : int, optional
        Stop after this number of steps.
    progress : bool or callable
        True shows a progress line, on a terminal and in notebooks. A callable is called with the step, the time, the end
        time and the seconds left.

    Ctrl-C ends the run after the current step and writes a checkpoint, from which `resume` continues.

    >>> import farfield as ff
    >>> result = ff.run("kepler", set={"time.end": 0.1, "output.views": []}, progress=False)
    >>> result.finished
    True
    >>> float(result.diagnostics["time"][-1])
    0.1
    """
    asked = _asked(case, set, device, threads)
    place = tempfile.mkdtemp(prefix="farfield-") if folder is None else os.fspath(folder)
    if folder is None:
        place = os.path.join(place, "run")
    return _go(asked, place, False, steps, progress)


def resume(
    folder: Union[str, "os.PathLike[str]"],
    *,
    set: Optional[Mapping[str, Any]] = None,
    device: str = "cpu",
    threads: Optional[int] = None,
    steps: Optional[int] = None,
    progress: Union[bool, Watch] = True,
) -> RunResult:
    """Resumes the run in a folder from its newest checkpoint."""
    place = os.fspath(folder)
    return _go({**_asked("", set, device, threads), "name": place}, place, True, steps, progress)


def _go(
    asked: Dict[str, Any], folder: str, again: bool, steps: Optional[int], progress: Union[bool, Watch]
) -> RunResult:
    most = None if steps is None else _arrays.count("steps", steps, 0)
    watch: Optional[Watch] = progress if callable(progress) else (_Line() if progress else None)
    try:
        outcome = _farfield.run(asked, folder, again, most, watch)
    finally:
        if isinstance(watch, _Line):
            watch.end()
    return RunResult(folder, outcome)


class _Line:
    """A progress line on stderr that overwrites itself, in a terminal and in a notebook."""

    def __init__(self) -> None:
        self.written = 0.0

    def __call__(self, step: int, time: float, end: float, left: float) -> None:
        now = clock.monotonic()
        if now - self.written < 0.2:
            return
        self.written = now
        share = min(max(time / end, 0.0), 1.0) if end > 0 else 1.0
        bar = "#" * int(30 * share)
        sys.stderr.write(f"\r[{bar:<30}] {100 * share:3.0f} %  step {step}, time {time:.4g}, {left:.0f} s left   ")
        sys.stderr.flush()

    def end(self) -> None:
        if self.written:
            sys.stderr.write("\n")


class Simulation:
    """A simulation that is stepped by hand; no files are written.

    Parameters
    ----------
    case, set, threads
        As for `run`.
    device : str
        The device for the sums. The state stays on the host.
    state : mapping, optional
        Arrays that replace the initial state of the case, with the names that `state` has.

    >>> import farfield as ff
    >>> sim = ff.Simulation("kepler")
    >>> sim.step(10)
    >>> sim.steps
    10
    >>> sim.positions.shape
    (2, 3)
    """

    def __init__(
        self,
        case: Any,
        *,
        set: Optional[Mapping[str, Any]] = None,
        state: Optional[Mapping[str, Any]] = None,
        device: str = "cpu",
        threads: Optional[int] = None,
    ) -> None:
        self._simulation = _farfield.Simulation(_asked(case, set, device, threads), _rows(state or {}))

    @classmethod
    def of_bodies(
        cls,
        positions: Any,
        velocities: Any,
        masses: Any,
        *,
        dt: float,
        softening: float = 0.0,
        gravitational_constant: float = 1.0,
        tolerance: float = 1e-5,
        scheme: str = "leapfrog",
        device: str = "cpu",
        threads: Optional[int] = None,
    ) -> "Simulation":
        """Makes a simulation of your own bodies under their mutual gravity.

        >>> import farfield as ff
        >>> sim = ff.Simulation.of_bodies([[0.0, 0, 0], [1, 0, 0]], [[0, 0.0, 0], [0, 1, 0]], [1.0, 1e-3], dt=0.01)
        >>> sim.step(5)
        >>> round(sim.time, 12)
        0.05
        """
        places = np.array(_arrays.array("positions", positions), dtype=float)
        if places.ndim != 2 or places.shape[1:] != (3,) or len(places) == 0:
            raise ValueError(f"positions: expected the shape (n, 3), found {places.shape}")
        text = f"""
[time]
end = {1e6 * _arrays.real("dt", dt)!r}
step = {_arrays.real("dt", dt)!r}
scheme = {_value("scheme", scheme)}
[sum]
tolerance = {_arrays.real("tolerance", tolerance)!r}
[gravity]
constant = {_arrays.real("gravitational_constant", gravitational_constant)!r}
softening = {_arrays.real("softening", softening)!r}
[[gravity.plummer]]
count = {len(places)}
"""
        weights = np.broadcast_to(np.asarray(_arrays.array("masses", masses), dtype=float), (len(places),))
        speeds = np.broadcast_to(np.asarray(_arrays.array("velocities", velocities), dtype=float), places.shape)
        state = {"positions": places, "velocities": speeds, "masses": weights}
        return cls(text, state=state, device=device, threads=threads)

    @classmethod
    def of_vortices(
        cls,
        positions: Any,
        strengths: Any,
        *,
        dt: float,
        core_size: Any,
        core: str = "gaussian",
        tracers: Any = None,
        stretching: str = "transpose",
        tolerance: float = 1e-5,
        scheme: str = "rk4",
        device: str = "cpu",
        threads: Optional[int] = None,
    ) -> "Simulation":
        """Makes a simulation of your own vortex elements, moved and stretched by the velocity that they induce.

        `tracers` are passive points that move with the flow.

        >>> import numpy as np, farfield as ff
        >>> angle = np.linspace(0, 2 * np.pi, 64, endpoint=False)
        >>> ring = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
        >>> along = np.stack([-np.sin(angle), np.cos(angle), 0 * angle], axis=1) * 2 * np.pi / 64
        >>> sim = ff.Simulation.of_vortices(ring, along, dt=0.05, core_size=0.2)
        >>> sim.step(2)
        >>> bool((sim.positions[:, 2] > 0).all())  # the ring moves along its axis
        True
        """
        places = np.array(_arrays.array("positions", positions), dtype=float)
        if places.ndim != 2 or places.shape[1:] != (3,) or len(places) == 0:
            raise ValueError(f"positions: expected the shape (n, 3), found {places.shape}")
        n = len(places)
        vectors = np.asarray(_arrays.array("strengths", strengths), dtype=float)
        if vectors.shape != (n, 3):
            raise ValueError(f"strengths: expected the shape {(n, 3)}, found {vectors.shape}")
        sizes = np.asarray(_arrays.array("core_size", core_size), dtype=float)
        if sizes.shape not in ((), (n,)):
            raise ValueError(f"core_size: expected one number or one per element, not the shape {sizes.shape}")
        if not (sizes > 0).all() or not np.isfinite(sizes).all():
            raise ValueError("core_size: every size must be positive and finite")
        followers = np.zeros((0, 3)) if tracers is None else np.asarray(_arrays.array("tracers", tracers), dtype=float)
        if followers.ndim != 2 or followers.shape[1] != 3:
            raise ValueError(f"tracers: expected the shape (m, 3), found {followers.shape}")
        text = f"""
[time]
end = {1e6 * _arrays.real("dt", dt)!r}
step = {_arrays.real("dt", dt)!r}
scheme = {_value("scheme", scheme)}
[sum]
tolerance = {_arrays.real("tolerance", tolerance)!r}
[vortex]
core = {_value("core", core).replace("_", "-")}
stretching = {_value("stretching", stretching)}
around = 8
layers = 0
[[vortex.rings]]
radius = 1.0
core = 0.1
"""
        if len(followers):
            text += f"[tracers]\ncount = {len(followers)}\n"
        state = {
            "positions": places,
            "strengths": vectors,
            "sizes": np.broadcast_to(sizes, (n,)),
            "volumes": np.zeros(n),
            "groups": np.zeros(n),
        }
        if len(followers):
            state["tracers"] = followers
        return cls(text, state=state, device=device, threads=threads)

    def step(self, steps: int = 1, *, dt: Optional[float] = None, callback: Optional[Callable[["Simulation"], Any]] = None) -> None:
        """Does `steps` steps of length `dt`, by default of the case's length; calls `callback(self)` after each step."""
        length = None if dt is None else _arrays.real("dt", dt)
        for _ in range(_arrays.count("steps", steps, 0)):
            self._simulation.step(length)
            if callback is not None:
                callback(self)

    @property
    def steps(self) -> int:
        """The number of steps done."""
        return self._simulation.clock()[0]

    @property
    def time(self) -> float:
        """The time reached."""
        return self._simulation.clock()[1]

    @property
    def dt(self) -> float:
        """The length of the last step."""
        return self._simulation.clock()[2]

    @property
    def state(self) -> Dict[str, np.ndarray]:
        """Copies of the arrays of the state. Assign a mapping to replace some of them."""
        return _arrays_of(self._simulation.state())

    @state.setter
    def state(self, arrays: Mapping[str, Any]) -> None:
        self._simulation.restore(_rows(arrays))

    @property
    def positions(self) -> np.ndarray:
        """The positions of the vortex elements or bodies."""
        return self.state["positions"]

    @property
    def tracers(self) -> np.ndarray:
        """The positions of the tracers of a vortex case."""
        state = self.state
        if "tracers" not in state:
            raise AttributeError("tracers: this case has no tracers")
        return state["tracers"]

    @property
    def clouds(self) -> Dict[str, Dict[str, np.ndarray]]:
        """All points with all their attributes, for plots: ``clouds["bodies"]["points"]``."""
        return {name: _arrays_of(arrays) for name, arrays in self._simulation.clouds()}

    def measure(self, energy: bool = True) -> Dict[str, float]:
        """Returns the diagnostics of the current state, such as invariants and energy."""
        return dict(self._simulation.measure(bool(energy)))

    def __repr__(self) -> str:
        return f"<farfield.Simulation of {self._simulation.describe()}, at time {self.time:g}>"


def _rows(arrays: Mapping[str, Any]) -> Dict[str, Tuple[int, np.ndarray]]:
    rows = {}
    for name, value in arrays.items():
        values = _arrays.array(f"state: {name}", value)
        if values.ndim not in (1, 2):
            raise ValueError(f"state: `{name}` has the shape {values.shape}, expected (n,) or (n, 3)")
        width = 1 if values.ndim == 1 else values.shape[1]
        rows[name] = (width, _arrays.plain(values, np.dtype(np.float64)))
    return rows


def _arrays_of(arrays: List[Tuple[str, int, np.ndarray]]) -> Dict[str, np.ndarray]:
    return {name: values if width == 1 else values.reshape(-1, width) for name, width, values in arrays}
