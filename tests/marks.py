"""Marks of parameters."""

import pytest


def slow_but(values, *quick):
    """Return the parameters of a test: all values, which are slow but for some."""
    return [
        value if value in quick else pytest.param(value, marks=pytest.mark.slow)
        for value in values
    ]
