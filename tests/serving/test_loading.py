"""A value in the making."""

import asyncio
import threading

import pytest

from jax_ttt.serving import loading
from jax_ttt.serving.loading import Loading
from jax_ttt.serving.replies import Refusal


def test_requests_wait_for_the_value():
    found, may_end = Loading(), threading.Event()

    async def waited():
        asyncio.get_running_loop().call_later(0.1, may_end.set)
        return await asyncio.gather(found.value(), found.value())

    found.begin(lambda: may_end.wait() and 7, lambda: None)
    assert found.value_now() is None
    assert asyncio.run(waited()) == [7, 7]
    assert found.value_now() == 7
    assert found.error() is None


def test_a_value_that_can_not_be_made():
    found, failed = Loading(), threading.Event()
    found.begin(lambda: 1 // 0, failed.set)
    assert failed.wait(5)
    assert isinstance(found.error(), ZeroDivisionError)
    assert found.value_now() is None
    with pytest.raises(Refusal, match="could not start"):
        asyncio.run(found.value())


def test_a_value_that_takes_too_long(monkeypatch):
    monkeypatch.setattr(loading, "LOADING_SECONDS", 0.05)
    with pytest.raises(Refusal, match="still loading"):
        asyncio.run(Loading().value())


def test_the_end_refuses_those_who_wait():
    found, may_end = Loading(), threading.Event()
    found.begin(lambda: may_end.wait() and 7, lambda: None)

    async def waited():
        asyncio.get_running_loop().call_later(0.05, found.end)
        return await found.value()

    with pytest.raises(Refusal, match="about to end"):
        asyncio.run(waited())
    may_end.set()
    assert found.ended.is_set()
    assert found.error() is None
