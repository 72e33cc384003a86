"""Agents' files that somebody else made: whatever they hold, the checksum is right."""

import copy
import hashlib
import json
from collections.abc import Callable
from typing import Any

import numpy as np

DTYPES = {
    "|b1": "BOOL",
    "|i1": "I8",
    "<i2": "I16",
    "<i4": "I32",
    "<i8": "I64",
    "|u1": "U8",
    "<u4": "U32",
    "<u8": "U64",
    "<f4": "F32",
    "<f8": "F64",
}
"""The names of the types of numbers in a file, by NumPy's."""


class Forgery:
    """The parts of an agent's file, to change them."""

    def __init__(self, content):
        begin = 8 + int.from_bytes(content[:8], "little")
        entries = json.loads(content[8:begin])
        self.description = json.loads(entries.pop("__metadata__")["jax_ttt"])
        names = {name: dtype for dtype, name in DTYPES.items()}
        self.tensors = {}
        for name, entry in entries.items():
            start, end = (begin + offset for offset in entry["data_offsets"])
            numbers = np.frombuffer(content[start:end], names[entry["dtype"]])
            self.tensors[name] = numbers.reshape(entry["shape"])

    def but(self, path="", value=None, **tensors):
        """Return a copy with another value in the description, and other tensors.

        A path is `config.env_id`, for instance. A tensor that is None is left out;
        its name has `__` in place of the point.
        """
        other = copy.deepcopy(self)
        part = other.description
        *parents, name = path.split(".")
        for parent in parents:
            part = part[parent]
        if path:
            part[name] = value
        for name, tensor in tensors.items():
            other.tensors[name.replace("__", ".")] = tensor
        kept = {k: v for k, v in other.tensors.items() if v is not None}
        other.tensors = kept
        return other

    def digest(self):
        """Return the checksum, as docs/use/files.md describes it."""
        record = {k: v for k, v in self.description.items() if k != "sha256"}
        digest = hashlib.sha256(json.dumps(record, sort_keys=True).encode())
        for name, tensor in sorted(self.tensors.items()):
            head = json.dumps([name, tensor.dtype.str, tensor.shape])
            digest.update(f"\n{head}\n".encode() + tensor.tobytes())
        return digest.hexdigest()

    def content(
        self,
        *,
        sha256: str = "",
        text: Callable[[str], str] = str,
        entries: Callable[[dict], dict] = dict,
        header: Callable[[str], str] = str,
    ) -> bytes:
        """Return the file's bytes.

        Functions change the description's text, the header's entries, and the header's
        text.
        """
        description = self.description | {"sha256": sha256 or self.digest()}
        metadata = {"jax_ttt": text(json.dumps(description, sort_keys=True))}
        table: dict[str, Any] = {"__metadata__": metadata}
        body = b""
        for name, tensor in self.tensors.items():
            start, body = len(body), body + tensor.tobytes()
            table[name] = {
                "dtype": DTYPES[tensor.dtype.str],
                "shape": list(tensor.shape),
                "data_offsets": [start, len(body)],
            }
        encoded = header(json.dumps(entries(table))).encode()
        return len(encoded).to_bytes(8, "little") + encoded + body


def with_columns(forgery, keys, actions):
    """Return a file with other corrections, and the right checksum."""
    columns = {"corrections__keys": keys, "corrections__actions": actions}
    return forgery.but(**columns).content()


def wrong_corrections(forgery):
    """Return files of a corrected agent of 4 x 4, and a part of why each is refused."""
    keys, actions = (forgery.tensors[f"corrections.{x}"] for x in ("keys", "actions"))

    def key_of(*columns):
        return sum(column << 5 * place for place, column in enumerate(columns))

    # The first have an odd number of stones, so they are boards of O.
    one_stone = key_of(1, 0b11, 1, 1)
    wrong_keys = {
        key_of(0, 0b11, 1, 1): "not a board",  # without the 1 above its stones
        **{one_stone | 1 << bit: "not a board" for bit in (21, 25, 31, 40, 63)},
        key_of(0b111, 0b11, 1, 1): "can't be reached",  # three stones of X
        key_of(0b1000, 1, 1, 1): "can't be reached",  # three stones of O
        key_of(0b11010, 0b11, 1, 1): "not legal",  # no place for the move
        key_of(0b11010, 1, 1, 1): "not legal",  # the same on a board of X
        0: "not a board",
        2**64 - 1: "not a board",
    }
    rows = [
        ("not legal", keys, np.full_like(actions, 4)),
        ("ascend", keys[::-1].copy(), actions),
        ("ascend", np.append(keys[:1], keys), np.append(actions[:1], actions)),
    ]
    for key, reason in wrong_keys.items():
        place = np.searchsorted(keys, np.uint64(key))
        more = np.insert(keys, place, np.uint64(key)), np.insert(actions, place, 0)
        rows.append((reason, *more))
    return [(reason, with_columns(forgery, *columns)) for reason, *columns in rows]
