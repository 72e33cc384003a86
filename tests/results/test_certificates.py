"""The record of a certificate: the same record gives the same bytes."""

import json

from jax_ttt.results.certificates import Certificate, Moves

MOVES: Moves = {"first": {"---------": 4, "O---X----": 8}}


def test_a_file_has_all_fields_in_order_and_a_line_for_each_position():
    certificate = Certificate(
        env_id="tic_tac_toe", player="AGENT", sha256="ab", num_positions=2, moves=MOVES
    )
    written = certificate.as_bytes()
    assert json.loads(written) == {
        "format_version": 1,
        "env_id": "tic_tac_toe",
        "player": "AGENT",
        "sha256": "ab",
        "result": "never loses",
        "num_positions": 2,
        "moves": MOVES,
    }
    lines = written.decode("ascii").splitlines(keepends=True)
    assert lines[8:11] == [
        '  "first": {\n',
        '   "---------": 4,\n',
        '   "O---X----": 8\n',
    ]
    assert lines[-1] == "}\n"


def test_a_name_that_is_not_ascii_is_escaped():
    """The checker reads ASCII alone, whatever the system's encoding is."""
    certificate = Certificate(
        env_id="tic_tac_toe",
        player="é\n\udcff",
        sha256="",
        num_positions=2,
        moves=MOVES,
    )
    assert json.loads(certificate.as_bytes().decode("ascii"))["player"] == "é\n\udcff"
