"""Marks of parameters."""

import pytest


def mark_slow(values, *slow):
    """Return the parameters of a test: all values, of which some are slow."""
    return [
        pytest.param(value, marks=pytest.mark.slow) if value in slow else value
        for value in values
    ]
