"""Compares the drop-in replacements with the packages they replace, where those can be imported."""

import os

# Threads of fmm3dpy and fmm2dpy spin while they wait, which takes seconds on a busy machine.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import direct
import numpy as np
import pytest
from conftest import relative

from farfield.compat import fmm2dpy as our2
from farfield.compat import fmm3dpy as our3

NAMES = ["pot", "grad", "hess", "pottarg", "gradtarg", "hesstarg"]


def compare(ours, theirs, tolerance, without=()):
    for name in NAMES:
        if name in without:
            continue
        a, b = getattr(ours, name), getattr(theirs, name)
        assert (a is None) == (b is None), name
        if b is not None:
            assert a.dtype == b.dtype and relative(a, b) < tolerance, name


@pytest.mark.parametrize("nd", [1, 3])
@pytest.mark.parametrize("what", ["charges", "dipoles", "both"])
@pytest.mark.parametrize("pg, pgt", [(1, 0), (2, 0), (3, 0), (0, 1), (0, 3), (2, 2), (3, 3)])
def test_lfmm3d(rng, nd, what, pg, pgt):
    theirs = pytest.importorskip("fmm3dpy", exc_type=ImportError)
    n, m = 900, 70
    lead = () if nd == 1 else (nd,)
    ask = {"eps": 1e-9, "sources": np.asfortranarray(rng.random((3, n))), "pg": pg, "pgt": pgt, "nd": nd}
    if what != "dipoles":
        ask["charges"] = np.asfortranarray(rng.normal(size=lead + (n,)))
    if what != "charges":
        ask["dipvec"] = np.asfortranarray(rng.normal(size=lead + (3, n)))
    if pgt:
        ask["targets"] = np.asfortranarray(rng.random((3, m)))
    compare(our3.lfmm3d(**ask), theirs.lfmm3d(**ask), 1e-7)


@pytest.mark.parametrize("nd", [1, 2])
@pytest.mark.parametrize("what", ["charges", "dipoles", "both"])
@pytest.mark.parametrize("pg, pgt", [(1, 0), (2, 0), (3, 0), (0, 2), (2, 2), (0, 3), (3, 3)])
@pytest.mark.parametrize("name", ["rfmm2d", "lfmm2d", "cfmm2d"])
def test_fmm2d(rng, name, nd, what, pg, pgt):
    theirs = pytest.importorskip("fmm2dpy", exc_type=ImportError)
    n, m = 900, 70
    lead = () if nd == 1 else (nd,)

    def numbers(*shape):
        values = rng.normal(size=lead + shape)
        return np.asfortranarray(values if name == "rfmm2d" else values + 1j * rng.normal(size=lead + shape))

    ask = {"eps": 1e-9, "sources": np.asfortranarray(rng.random((2, n))), "pg": pg, "pgt": pgt, "nd": nd}
    if what != "dipoles":
        ask["charges"] = numbers(n)
    if what != "charges":
        ask["dipstr"] = numbers(n)
        if name != "cfmm2d":
            ask["dipvec"] = np.asfortranarray(rng.normal(size=lead + (2, n)))
    if pgt:
        ask["targets"] = np.asfortranarray(rng.random((2, m)))
    # The potential of charges in fmm2d's cfmm2d is c log|z| for near and c log z for distant charges. It is compared with
    # its definition in the test below.
    without = ("pot", "pottarg") if name == "cfmm2d" and what != "dipoles" else ()
    compare(getattr(our2, name)(**ask), getattr(theirs, name)(**ask), 1e-7, without)


def test_cauchy_potential_of_charges_matches_its_definition(rng):
    x, q, d = rng.random((2, 300)), rng.normal(size=300) + 1j * rng.normal(size=300), rng.normal(size=300) * 1j
    z = x[0] + 1j * x[1]
    out = our2.cfmm2d(eps=1e-9, sources=x, charges=q, dipstr=d, pg=1)
    assert relative(out.pot, direct.log(z, q)[0] - direct.harmonic(z, d)[0]) < 1e-9


def test_invalid_shapes_are_value_errors(rng):
    with pytest.raises(ValueError, match="sources"):
        our3.lfmm3d(eps=1e-3, sources=rng.random((5, 3)), charges=np.ones(5), pg=1)
    with pytest.raises(ValueError, match="charges"):
        our3.lfmm3d(eps=1e-3, sources=rng.random((3, 5)), charges=np.ones(4), pg=1)
