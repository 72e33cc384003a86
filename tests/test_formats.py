"""Certificates of every released version stay checkable."""

import subprocess
import sys
from pathlib import Path

FORMATS = Path(__file__).parent / "data" / "formats"
CHECKER = Path(__file__).parents[1] / "docs" / "check_certificate.py"


def test_a_certificate_of_version_1():
    command = [sys.executable, CHECKER, FORMATS / "certificate-1.json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == (
        "checked: no line of play beats these moves in tic_tac_toe, 397 positions "
        "(as X and as O); player and sha256 are the file's words, not checked\n"
    )
