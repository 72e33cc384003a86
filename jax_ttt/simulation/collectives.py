"""The exchanges of a compiled program, and how long they take over a kind of link.

In each exchange all devices take part, since the mesh has one axis. Imports no JAX.
"""

import math
import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

Kind = Literal[
    "all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute"
]

_OPERATION = re.compile(
    r" = (.*?) "
    r"(all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute)(?:-done)?\("
)
"""An operation of a program's text and its result. What has a -start is found by its
-done, whose result is that of the whole."""
_ARRAY = re.compile(r"\b(pred|[a-z]+\d+)\w*\[([\d,]*)\]")


class Exchange(NamedTuple):
    """An operation that exchanges data, and the bytes of each array of its result."""

    kind: Kind
    num_bytes: tuple[int, ...]


class Link(NamedTuple):
    """What joins the devices."""

    name: str
    bytes_per_second: float  # of each device, in one direction
    latency: float  # seconds of a step
    most: int  # devices that it joins


LINKS = (
    Link("NVLink", 450e9, 3e-6, 8),
    Link("PCIe 4.0 x16", 32e9, 5e-6, 8),
    Link("25 Gbit Ethernet", 3.125e9, 25e-6, 100_000),
)
"""Nominal bandwidths, and assumed latencies."""


def exchanges(text: str) -> list[Exchange]:
    """Return the exchanges of a program, given its text (`compiled.as_text()`).

    An operation in a loop is counted once.
    """
    return [
        Exchange(kind, tuple(_num_bytes(*found) for found in _ARRAY.findall(result)))
        for result, kind in _OPERATION.findall(text)
    ]


def _num_bytes(dtype: str, dims: str) -> int:
    """Return the bytes of an array, such as `f32` and `128,9`."""
    found = re.search(r"\d+", dtype)
    bits = int(found[0]) if found else 8  # pred
    return -(-bits * math.prod(int(size) for size in dims.split(",") if size) // 8)


def sent_bytes(exchange: Exchange, num_devices: int) -> float:
    """Return the bytes that each device sends.

    Of a sum, `2 (n - 1) / n` of the operand: each device adds up one part of it and
    passes on all other parts twice, as in a ring. The results of a gather and of an
    all-to-all have `n` parts, of which one stays; the result of a scatter is one part.
    """
    n, result = num_devices, sum(exchange.num_bytes)
    parts = {
        "all-reduce": 2 * (n - 1) / n,
        "all-gather": (n - 1) / n,
        "reduce-scatter": n - 1,
        "all-to-all": (n - 1) / n,
        "collective-permute": min(n - 1, 1),
    }
    return parts[exchange.kind] * result


def num_steps(exchange: Exchange, num_devices: int) -> int:
    """Return the messages that each device waits for, one after another.

    It is the least for so few bytes: a sum halves the operand and doubles it again
    (Thakur et al. 2005, Rabenseifner's algorithm), `2 log2(n)` steps.
    """
    halvings = math.ceil(math.log2(num_devices))
    steps = {
        "all-reduce": 2 * halvings,
        "all-gather": halvings,
        "reduce-scatter": halvings,
        "all-to-all": num_devices - 1,
        "collective-permute": min(num_devices - 1, 1),
    }
    return steps[exchange.kind]


def transfer_seconds(
    found: Sequence[Exchange], num_devices: int, link: Link
) -> float | None:
    """Return the seconds of exchanges; None if the link joins fewer devices."""
    if num_devices > link.most:
        return None
    seconds = (
        sent_bytes(one, num_devices) / link.bytes_per_second
        + num_steps(one, num_devices) * link.latency
        for one in found
    )
    return sum(seconds, 0.0)
