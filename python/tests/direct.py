"""Direct sums in numpy by their definition, as a slow reference."""

import numpy as np


def _differences(sources, targets):
    r = (sources if targets is None else targets)[:, None, :] - sources[None, :, :]
    d = np.sqrt((r * r).sum(-1))
    skip = d == 0.0 if targets is not None else np.eye(len(sources), dtype=bool)
    return r, d, skip


def _inverse(d, skip, power):
    with np.errstate(divide="ignore"):
        return np.where(skip, 0.0, d**-power)


def coulomb(x, q, p=None, targets=None):
    """Returns potential, gradient and Hessian."""
    r, d, skip = _differences(x, targets)
    i1, i3, i5, i7 = (_inverse(d, skip, k) for k in (1, 3, 5, 7))
    eye = np.eye(3)
    phi = i1 @ q
    grad = -np.einsum("ij,ijk,j->ik", i3, r, q)
    hess = 3 * np.einsum("ij,ijk,ijl,j->ikl", i5, r, r, q) - np.einsum("ij,kl,j->ikl", i3, eye, q)
    if p is not None:
        pr = np.einsum("jk,ijk->ij", p, r)
        phi = phi + (pr * i3).sum(1)
        grad = grad + i3 @ p - 3 * np.einsum("ij,ij,ijk->ik", pr, i5, r)
        hess = hess + (
            -3 * np.einsum("ij,jk,ijl->ikl", i5, p, r)
            - 3 * np.einsum("ij,jl,ijk->ikl", i5, p, r)
            - 3 * np.einsum("ij,ij,kl->ikl", pr, i5, eye)
            + 15 * np.einsum("ij,ij,ijk,ijl->ikl", pr, i7, r, r)
        )
    return phi, grad, hess


def gravity(x, m, softening=0.0, constant=1.0, targets=None):
    """Returns potential and acceleration with Plummer softening."""
    r, d, skip = _differences(x, targets)
    s = np.sqrt(d * d + np.asarray(softening) ** 2)
    skip = np.eye(len(x), dtype=bool) if targets is None else s == 0.0
    return -constant * _inverse(s, skip, 1) @ m, -constant * np.einsum("ij,ijk,j->ik", _inverse(s, skip, 3), r, m)


def biot_savart(x, g, targets=None):
    """Returns the velocity of singular vortices."""
    r, d, skip = _differences(x, targets)
    return np.einsum("ij,ijk->ik", _inverse(d, skip, 3), np.cross(g[None, :, :], r)) / (4 * np.pi)


def winckelmans_leonard(x, g, size):
    r, d, skip = _differences(x, None)
    k = np.where(skip, 0.0, (d**2 + 2.5 * size**2) / (d**2 + size**2) ** 2.5)
    return np.einsum("ij,ijk->ik", k, np.cross(g[None, :, :], r)) / (4 * np.pi)


def harmonic(z, s, targets=None):
    """Returns potential, derivative and second derivative."""
    d = z[None, :] - (z if targets is None else targets)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        i = np.where(d == 0, 0, 1 / d)
    return i @ s, (i * i) @ s, (2 * i * i * i) @ s


def log(z, s, targets=None):
    """Returns potential, derivative and second derivative."""
    d = (z if targets is None else targets)[:, None] - z[None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        i = np.where(d == 0, 0, 1 / d)
        return np.where(d == 0, 0, np.log(abs(d))) @ s, i @ s, -(i * i) @ s
