"""Heads of requests as bytes; `test_app` sends many of them to a server."""

import pytest

from jax_ttt.serving import heads
from jax_ttt.serving.replies import Refusal

GOOD = b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n"


def test_a_head_ends_with_an_empty_line():
    for end in range(len(GOOD)):
        assert heads.end_of_head(bytearray(GOOD[:end])) is None
    assert heads.end_of_head(bytearray(GOOD + b"abc")) == len(GOOD)
    bare = GOOD.replace(b"\r\n", b"\n")
    assert heads.end_of_head(bytearray(bare + b"abc")) == len(bare)


def test_the_length_of_the_body():
    assert heads.body_length(GOOD, False) == 3
    assert heads.body_length(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", False) == 0


@pytest.mark.fault
@pytest.mark.parametrize("length", [heads.MOST_BODY_BYTES, heads.MOST_LARGE_BYTES])
def test_bodies_have_a_longest_length(length):
    large = length == heads.MOST_LARGE_BYTES
    head = GOOD.replace(b"3", b"%d" % length)
    assert heads.body_length(head, large) == length
    with pytest.raises(Refusal) as refusal:
        heads.body_length(GOOD.replace(b"3", b"%d" % (length + 1)), large)
    assert refusal.value.status == 413


@pytest.mark.fault
@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"\x16\x03\x01\x00\xf8\x01\x00", 400),
        (b"GET /\r\n", 400),
        (b"GET " + b"/" * (heads.MOST_TARGET_BYTES + 1), 414),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * heads.MOST_HEAD_BYTES, 431),
        (b"x" * 100, 400),
    ],
    ids=["TLS", "HTTP/0.9", "address", "head", "no method"],
)
def test_what_can_be_no_head(data, status):
    with pytest.raises(Refusal) as refusal:
        heads.end_of_head(bytearray(data))
    assert refusal.value.status == status


def test_what_can_still_become_a_head():
    for data in (b"", b"G", b"GET", b"GET ", b"GET /x?y HTTP/1"):
        assert heads.end_of_head(bytearray(data)) is None


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (b"a: b\n" * heads.MOST_HEADERS + b"a: b", 431),
        (b"a: b\r\n goes-on: c", 400),
        (b"a : b", 400),
        (b"a", 400),
        (b"content-length: 2\r\ntransfer-encoding: chunked", 400),
        (b"transfer-encoding: chunked", 501),
        (b"content-length: 2\r\ncontent-length: 2", 400),
        (b"content-length: 1_0", 400),
        (b"content-length: -1", 400),
        (b"content-length: 2\r\nexpect: 100-continue", 417),
    ],
)
def test_headers_that_are_refused(headers, status):
    with pytest.raises(Refusal) as refused:
        heads.body_length(b"POST / HTTP/1.1\r\n" + headers + b"\r\n\r\n", large=False)
    assert refused.value.status == status


def test_as_many_headers_as_allowed():
    headers = b"a: b\r\n" * heads.MOST_HEADERS
    assert heads.body_length(b"GET / HTTP/1.1\r\n" + headers, large=False) == 0


def test_nothing_follows_the_version_in_the_first_line():
    with pytest.raises(Refusal, match="first line"):
        heads.end_of_head(b"GET / HTTP/1.1 and more\r\n\r\n")
