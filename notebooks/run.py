"""Run a notebook: python run.py SOURCE TARGET.

Its outputs hold what is worth a commit: a bar as it ended, no times of the machine.
"""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

source, target = map(Path, sys.argv[1:])
notebook = nbformat.read(source, as_version=4)
metadata = notebook.metadata.copy()
NotebookClient(
    notebook,
    kernel_name="python3",
    timeout=1200,  # of a cell, in seconds
    coalesce_streams=True,
    record_timing=False,
    resources={"metadata": {"path": str(source.parent)}},
).execute()
notebook.metadata = metadata
nbformat.write(notebook, target)
