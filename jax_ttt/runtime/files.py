"""Writing files."""

import csv
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that a crash leaves the old file or the new one, never a part."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_csv(path: Path, rows: Sequence[dict[str, object]]) -> None:
    """Write rows as CSV; a field that a row lacks is left empty."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(max(rows, key=len)))
        writer.writeheader()
        writer.writerows(rows)
