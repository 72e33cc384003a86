"""Replies as bytes and as JSON."""

import json

import pytest
import served

from jax_ttt.serving import replies


def test_a_refusal_is_a_whole_reply():
    reply = replies.refusal(408, 'no "request"')
    assert served.status_of(reply) == 408
    assert json.loads(served.body_of(reply)) == {"error": 'no "request"'}
    headers = served.headers_of(reply)
    assert replies.HEADERS.items() <= headers.items()
    assert int(headers["content-length"]) == len(served.body_of(reply))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_in_json_are_finite(value):
    with pytest.raises(ValueError, match="JSON"):
        replies.json_bytes({"loss": value})


@pytest.mark.fault
def test_markup_in_text_stays_text():
    text = '</script><img src=x onerror="alert(1)">\u2028'
    assert json.loads(replies.json_bytes([text])) == [text]
    assert "\u2028" not in replies.json_bytes([text]).decode()
