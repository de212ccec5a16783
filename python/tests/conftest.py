"""What the tests share: points, and sums by the definition."""

import numpy as np
import pytest

import farfield as ff


@pytest.fixture(autouse=True)
def _names_for_doctests(doctest_namespace):
    doctest_namespace["ff"] = ff
    doctest_namespace["np"] = np


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def relative(found, expected):
    """The relative L2 error."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, (found.shape, expected.shape)
    return np.linalg.norm((found - expected).ravel()) / np.linalg.norm(expected.ravel())
