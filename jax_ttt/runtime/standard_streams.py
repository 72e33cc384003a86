"""The standard streams, which may be closed or full, or have lost their terminal."""

import contextlib
import os
import stat
import sys
from pathlib import Path
from typing import TextIO

from tqdm import tqdm


def replace_closed() -> None:
    """Open the null device in place of each standard stream that is closed (`>&-`).

    Otherwise a file could get the descriptor of the stream, and libraries that write
    to stdout or stderr would write to that file.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115


def redirect_to_null(stream: TextIO) -> None:
    """Redirect a stream to the null device, so that closing it at exit can't fail."""
    with contextlib.suppress(OSError, ValueError):  # closed, or has no descriptor
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)


def redirect_closed_terminal() -> None:
    """Redirect the streams of a closed terminal, since writing to them is an error."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # closed, or has no descriptor
            mode = os.fstat(stream.fileno()).st_mode
            if stat.S_ISCHR(mode) and not stream.isatty():
                redirect_to_null(stream)


def print_stderr(message: str) -> None:
    """Print a line on stderr; ignore it if stderr can't be written."""
    try:
        print(message, file=sys.stderr, flush=True)
    except OSError:
        redirect_to_null(sys.stderr)


def print_written(path: Path, size: str = "", as_json: bool = False) -> None:
    """Print that a file was written, with its size in words, for instance `3 rows`.

    With `as_json`, stdout is for the JSON object, and the line goes to stderr.
    """
    line = f"wrote {path}: {size}" if size else f"wrote {path}"
    if as_json:
        print_stderr(line)
    else:
        print(line, flush=True)


def updates_bar(total: int, shown: bool | None) -> tqdm:
    """Return a bar on stderr that counts updates; `show_updates` moves it.

    With None it appears in a terminal and in a notebook only; elsewhere it changes
    every five seconds. Until the first update it says that programs are compiled.
    """
    is_live = sys.stderr.isatty() or _in_notebook()
    return tqdm(
        total=total,
        unit="update",
        desc="compiling",
        dynamic_ncols=True,
        mininterval=0.1 if is_live else 5,
        disable=not (is_live if shown is None else shown),
    )


def show_updates(bar: tqdm, number: int) -> None:
    """Let a bar of `updates_bar` show this number of updates."""
    if number:
        bar.set_description_str(refresh=False)
    bar.update(number - bar.n)


def _in_notebook() -> bool:
    """Return whether a notebook shows stderr, which then is no terminal."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and "IPKernelApp" in shell.config


def status_line(text: str) -> tqdm:
    """Show on a terminal what a command waits for, until the returned bar is closed.

    Its `set_description_str` shows another text.
    """
    return tqdm(desc=text, bar_format="{desc}", leave=False, disable=None)
