"""Certificates of every released version stay checkable."""

from pathlib import Path

import as_users

FORMATS = Path(__file__).parent / "data" / "formats"
CHECKER = Path(__file__).parents[1] / "docs" / "check_certificate.py"


def test_a_certificate_of_version_1():
    done = as_users.run_python(CHECKER, FORMATS / "certificate-1.json")
    assert done.out == (
        "checked: no line of play beats these moves in tic_tac_toe, 397 positions "
        "(as X and as O); player and sha256 are the file's words, not checked\n"
    )
