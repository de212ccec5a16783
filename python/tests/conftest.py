"""Helpers that the tests share."""

import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def relative(found, expected):
    """Returns the relative L2 error."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, (found.shape, expected.shape)
    return np.linalg.norm((found - expected).ravel()) / np.linalg.norm(expected.ravel())
