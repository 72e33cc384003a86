"""A value in the making."""

import asyncio
import threading

import pytest

from jax_ttt.serving import loading
from jax_ttt.serving.loading import Loading
from jax_ttt.serving.replies import Refusal


def test_a_value_that_can_not_be_made():
    found, failed = Loading(), threading.Event()
    found.begin(lambda: 1 // 0, failed.set)
    assert failed.wait(5)
    with pytest.raises(ZeroDivisionError):
        found.made()
    with pytest.raises(Refusal, match="could not start"):
        asyncio.run(found.value())


def test_a_value_that_takes_too_long(monkeypatch):
    monkeypatch.setattr(loading, "LOADING_SECONDS", 0.05)
    with pytest.raises(Refusal, match="still loading"):
        asyncio.run(Loading().value())


def test_a_value_that_comes_after_the_end():
    """Requests are refused, and the command gets the value to close it."""
    found, goes_on = Loading(), threading.Event()
    found.begin(lambda: goes_on.wait(5) and "value", lambda: None)
    found.end()
    goes_on.set()
    assert found.made() == "value"
    with pytest.raises(Refusal, match="about to end"):
        asyncio.run(found.value())
