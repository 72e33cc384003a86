"""The head of a request, checked as bytes before it is parsed."""

import re

from jax_ttt.serving.replies import Refusal

MOST_HEAD_BYTES = 32 * 1024
MOST_TARGET_BYTES = 8 * 1024
MOST_HEADERS = 100
MOST_BODY_BYTES = 64 * 2**10
MOST_LARGE_BYTES = 8 * 2**20
"""The longest body at the addresses that take a large one."""

_END = re.compile(rb"\r?\n\r?\n")
_REQUEST_LINE = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32} [!-~]+ HTTP/1\.[01]")
_DIGITS = re.compile(rb"[0-9]{1,15}")


def end_of_head(data: bytes | bytearray) -> int | None:
    """Return where the body begins; None if the head is not complete yet.

    Raises:
        Refusal: it can't become a head, or it is too long.
    """
    line, newline, _ = bytes(data[: MOST_HEAD_BYTES + 1]).partition(b"\n")
    line = line.removesuffix(b"\r")
    target = line.partition(b" ")[2].partition(b" ")[0]
    if len(target) > MOST_TARGET_BYTES:
        raise Refusal(414, f"the address is longer than {MOST_TARGET_BYTES:,} bytes")
    if newline and not _REQUEST_LINE.fullmatch(line):
        raise Refusal(400, "the first line is no request of HTTP/1.1")
    # TLS and other protocols begin with bytes that no method has.
    if not newline and re.match(rb"[!-~]{0,32}( |$)", line) is None:
        raise Refusal(400, "not HTTP")
    found = _END.search(data, 0, MOST_HEAD_BYTES + 4)
    if found is None:
        if len(data) > MOST_HEAD_BYTES:
            raise Refusal(431, f"the head is longer than {MOST_HEAD_BYTES:,} bytes")
        return None
    return found.end()


def body_length(head: bytes, large: bool) -> int:
    """Return the number of bytes of the body that a complete head announces.

    `large` is whether the address takes a large body.

    Raises:
        Refusal: there are too many headers, or the body can't be read or is too long.
    """
    lines = head.rstrip(b"\r\n").split(b"\n")[1:]
    if len(lines) > MOST_HEADERS:
        raise Refusal(431, f"more than {MOST_HEADERS} headers")
    named = [line.rstrip(b"\r").partition(b":") for line in lines]
    # A header that goes on in the next line could hide another one.
    if any(not colon or name != name.strip() for name, colon, _ in named):
        raise Refusal(400, "a header has no name, or spaces around its name")
    values = [(name.lower(), value.strip()) for name, _, value in named]
    lengths = [value for name, value in values if name == b"content-length"]
    coded = any(name == b"transfer-encoding" for name, _ in values)
    if coded and lengths:
        raise Refusal(400, "both Content-Length and Transfer-Encoding")
    if coded:
        raise Refusal(501, "Transfer-Encoding is not supported: send Content-Length")
    if len(lengths) > 1:
        raise Refusal(400, "more than one Content-Length")
    if lengths and not _DIGITS.fullmatch(lengths[0]):
        raise Refusal(400, "Content-Length must be a whole number")
    if any(name == b"expect" for name, _ in values):
        raise Refusal(417, "Expect is not supported")
    length = int(lengths[0]) if lengths else 0
    most = MOST_LARGE_BYTES if large else MOST_BODY_BYTES
    if length > most:
        raise Refusal(413, f"the body is longer than {most:,} bytes")
    return length
