"""The sums, each in one call.

All functions share these parameters:

sources : array_like
    Points: (n, 3) in space, (n, 2) in the plane, or complex numbers (n,) in the plane. A pair of a point with itself
    is left out.
targets : array_like, optional
    The points at which the sum is evaluated; by default the sources.
outputs : str or sequence of str, optional
    The quantities to compute. A name gives an array, a sequence of names a tuple of arrays.
tolerance : float, optional
    The relative L2 error allowed in each output: the root of the sum of squared errors over the root of the sum of squared
    values. 1e-12 to 1e-2, by default 1e-6; in single precision 1e-5 to 1e-2, by default 1e-4.
method : str
    ``"auto"``, ``"direct"``, ``"treecode"`` or ``"fmm"``.
device : str
    ``"cpu"``, ``"cuda"``, ``"cuda:1"``, or ``"auto"``: a GPU if there is one and it is expected to be faster.
threads : int, optional
    The number of threads; by default the number of cores. Results do not depend on it.
order, theta, leaf_capacity : optional
    For experts: one order for all expansions instead of the tolerance; the opening criterion; the points per leaf.
memory_limit : int, optional
    A sum that is expected to take more bytes is refused; by default the available memory.

Arrays may be float32 or float64, in any memory layout; integers are converted. Results have the precision of the arrays
and the order of the targets. Several vectors of strengths, (k, n), are summed at once; the results then have the same
leading axis. A single number as strengths applies to every source.

Errors are Python's own exceptions. ValueError and TypeError name the argument and the index of an invalid number.
MemoryError is raised before anything is allocated and states how much is needed. RuntimeError concerns a device or threads.
"""

from __future__ import annotations

from typing import Any, Optional, Sequence, Union

from ._plan import Result, once


def coulomb(
    sources: Any,
    charges: Any = None,
    *,
    dipoles: Any = None,
    targets: Any = None,
    outputs: Union[None, str, Sequence[str]] = None,
    tolerance: Optional[float] = None,
    method: str = "auto",
    device: str = "cpu",
    threads: Optional[int] = None,
    order: Optional[int] = None,
    theta: Optional[float] = None,
    leaf_capacity: Optional[int] = None,
    memory_limit: Optional[int] = None,
) -> Result:
    r"""Computes the potential of charges, without a factor of 4 pi.

    In space, with :math:`r = x_i - x_j`,

    .. math:: \phi(x_i) = \sum_{j \ne i} \frac{q_j}{|r|} + \frac{p_j \cdot r}{|r|^3}

    and in the plane :math:`\phi(x_i) = -\sum_{j \ne i} q_j \log|r|`.

    Parameters
    ----------
    charges : array_like, (n,) or (k, n), or a number
        The charges :math:`q_j`; None if there are only dipoles.
    dipoles : array_like, (n, 3) or (k, n, 3), optional
        The dipole moments :math:`p_j`, in space.
    outputs
        ``"potential"`` (n,), its ``"gradient"`` (n, 3) or (n, 2), and in space its ``"hessian"`` (n, 3, 3).

    >>> import numpy as np, farfield as ff
    >>> x = np.array([[0.0, 0, 0], [2, 0, 0]])
    >>> ff.coulomb(x, [1.0, 3.0])
    array([1.5, 0.5])
    >>> phi, grad = ff.coulomb(x, [1.0, 3.0], outputs=("potential", "gradient"))
    >>> grad[0]
    array([0.75, 0.  , 0.  ])
    >>> ff.coulomb(x, None, dipoles=[[1.0, 0, 0], [0, 0, 0]])
    array([0.  , 0.25])

    The options are described in `farfield._sums`: ``help(farfield._sums)``.
    """
    return once(
        "coulomb",
        sources,
        charges,
        targets=targets,
        outputs=outputs,
        dipoles=dipoles,
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


def gravity(
    sources: Any,
    masses: Any,
    *,
    softening: Any = None,
    softening_kernel: Optional[str] = None,
    gravitational_constant: float = 1.0,
    targets: Any = None,
    outputs: Union[None, str, Sequence[str]] = None,
    tolerance: Optional[float] = None,
    method: str = "auto",
    device: str = "cpu",
    threads: Optional[int] = None,
    order: Optional[int] = None,
    theta: Optional[float] = None,
    leaf_capacity: Optional[int] = None,
    memory_limit: Optional[int] = None,
) -> Result:
    r"""Computes the acceleration and potential of masses.

    In space, with softening length :math:`\epsilon` and Plummer softening,

    .. math:: \phi(x_i) = -G \sum_{j \ne i} \frac{m_j}{\sqrt{r^2 + \epsilon^2}}, \qquad a = -\nabla\phi

    and in the plane :math:`\phi(x_i) = G \sum_{j \ne i} m_j \tfrac12 \log(r^2 + \epsilon^2)`.

    Parameters
    ----------
    masses : array_like, (n,) or (k, n), or a number
    softening : number or array_like (n,), optional
        The softening length, one for all sources or one per source; by default there is no softening (Newton's law).
    softening_kernel : str, optional
        ``"plummer"`` by default; in space also ``"spline"`` and ``"wendland_c2"``, which soften only up to a finite distance.
    gravitational_constant : float
        The constant :math:`G`.
    outputs
        ``"acceleration"`` (n, 3) or (n, 2), ``"potential"`` (n,).

    >>> import numpy as np, farfield as ff
    >>> ff.gravity(np.array([[0.0, 0, 0], [2, 0, 0]]), [1.0, 4.0])
    array([[ 1.  ,  0.  ,  0.  ],
           [-0.25,  0.  ,  0.  ]])

    The options are described in `farfield._sums`: ``help(farfield._sums)``.
    """
    return once(
        "gravity",
        sources,
        masses,
        targets=targets,
        outputs=outputs,
        softening=softening,
        softening_kernel=softening_kernel,
        gravitational_constant=gravitational_constant,
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


def biot_savart(
    sources: Any,
    strengths: Any,
    *,
    core: Optional[str] = None,
    core_size: Any = None,
    allow_unbounded_gradient: bool = False,
    targets: Any = None,
    outputs: Union[None, str, Sequence[str]] = None,
    tolerance: Optional[float] = None,
    method: str = "auto",
    device: str = "cpu",
    threads: Optional[int] = None,
    order: Optional[int] = None,
    theta: Optional[float] = None,
    leaf_capacity: Optional[int] = None,
    memory_limit: Optional[int] = None,
) -> Result:
    r"""Computes the velocity induced by vortices.

    In space, for vortex elements of vector strength :math:`\gamma_j`, with :math:`r = x_i - x_j`,

    .. math:: u(x_i) = \frac{1}{4\pi} \sum_{j \ne i} \gamma_j \times r \, K(|r|), \qquad K = 1/|r|^3

    away from the core, and in the plane, for point vortices of circulation :math:`\Gamma_j`,
    :math:`u(x_i) = \frac{1}{2\pi} \sum_{j \ne i} \Gamma_j (-r_y, r_x)/|r|^2`.

    Parameters
    ----------
    strengths : array_like
        In space (n, 3) or (k, n, 3), in the plane (n,) or (k, n).
    core : str, optional
        In space ``"singular"``, ``"winckelmans_leonard"``, ``"gaussian"`` (a blob :math:`e^{-r^2/2\sigma^2}`) or
        ``"hu_polynomial"``; in the plane ``"singular"``, ``"gaussian"`` (:math:`e^{-r^2/\sigma^2}`, the Lamb-Oseen vortex) or
        ``"algebraic"``.
    core_size : number or array_like (n,), optional
        The core size :math:`\sigma`, one for all sources or one per source.
    allow_unbounded_gradient : bool
        Accept the velocity gradient of the hu_polynomial core, which is unbounded at its centre.
    outputs
        ``"velocity"`` (n, 3) or (n, 2), and in space ``"velocity_gradient"`` (n, 3, 3), :math:`\partial u_i/\partial x_j`.

    >>> import numpy as np, farfield as ff
    >>> u = ff.biot_savart(np.array([[0.0, 0], [1, 0]]), [2 * np.pi, 0.0])
    >>> u.round(6) + 0.0
    array([[0., 0.],
           [0., 1.]])

    The options are described in `farfield._sums`: ``help(farfield._sums)``.
    """
    return once(
        "biot_savart",
        sources,
        strengths,
        targets=targets,
        outputs=outputs,
        core=core,
        core_size=core_size,
        allow_unbounded_gradient=allow_unbounded_gradient,
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


def harmonic(
    sources: Any,
    strengths: Any,
    *,
    core: Optional[str] = None,
    core_size: Any = None,
    targets: Any = None,
    outputs: Union[None, str, Sequence[str]] = None,
    tolerance: Optional[float] = None,
    method: str = "auto",
    device: str = "cpu",
    threads: Optional[int] = None,
    order: Optional[int] = None,
    theta: Optional[float] = None,
    leaf_capacity: Optional[int] = None,
    memory_limit: Optional[int] = None,
) -> Result:
    r"""Computes the harmonic sum in the plane, :math:`\phi(z_i) = \sum_{j \ne i} \gamma_j/(z_j - z_i)`.

    Parameters
    ----------
    sources : array_like, complex (n,) or real (n, 2)
    strengths : array_like, (n,) or (k, n), or a number
        :math:`\gamma_j`, real or complex.
    core : str, optional
        ``"singular"``, ``"gaussian"`` or ``"algebraic"``.
    core_size : number or array_like (n,), optional
    outputs
        ``"potential"`` and, for the singular core only, ``"derivative"``
        :math:`d\phi/dz = \sum_{j \ne i} \gamma_j/(z_j - z_i)^2` and ``"second_derivative"``
        :math:`d^2\phi/dz^2 = \sum_{j \ne i} 2\gamma_j/(z_j - z_i)^3`. All are complex.

    >>> import numpy as np, farfield as ff
    >>> ff.harmonic(np.array([0j, 2j]), [1.0, 1.0]).imag
    array([-0.5,  0.5])

    The options are described in `farfield._sums`: ``help(farfield._sums)``.
    """
    return once(
        "harmonic",
        sources,
        strengths,
        targets=targets,
        outputs=outputs,
        core=core,
        core_size=core_size,
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


def log(
    sources: Any,
    strengths: Any,
    *,
    core: Optional[str] = None,
    core_size: Any = None,
    targets: Any = None,
    outputs: Union[None, str, Sequence[str]] = None,
    tolerance: Optional[float] = None,
    method: str = "auto",
    device: str = "cpu",
    threads: Optional[int] = None,
    order: Optional[int] = None,
    theta: Optional[float] = None,
    leaf_capacity: Optional[int] = None,
    memory_limit: Optional[int] = None,
) -> Result:
    r"""Computes the logarithmic sum in the plane, :math:`\phi(z_i) = \sum_{j \ne i} \gamma_j \log|z_i - z_j|`.

    Parameters
    ----------
    sources : array_like, complex (n,) or real (n, 2)
    strengths : array_like, (n,) or (k, n), or a number
        :math:`\gamma_j`, real or complex.
    core : str, optional
        ``"singular"``, ``"gaussian"`` or ``"algebraic"``.
    core_size : number or array_like (n,), optional
    outputs
        ``"potential"``, real for real strengths; ``"derivative"`` :math:`d\phi/dz = \sum_{j \ne i} \gamma_j/(z_i - z_j)`,
        complex, for real strengths :math:`\phi_x - i\phi_y`; and, for the singular core only, ``"second_derivative"``
        :math:`d^2\phi/dz^2 = -\sum_{j \ne i} \gamma_j/(z_i - z_j)^2`, for real strengths
        :math:`\phi_{xx} - i\phi_{xy}`.

    >>> import numpy as np, farfield as ff
    >>> bool(ff.log(np.array([0j, 2j, 1j]), 1.0)[2] == 0.0)
    True

    The options are described in `farfield._sums`: ``help(farfield._sums)``.
    """
    return once(
        "log",
        sources,
        strengths,
        targets=targets,
        outputs=outputs,
        core=core,
        core_size=core_size,
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
