"""The theorems of proofs/: what Coq checks, and that it refuses what is wrong."""

import dataclasses
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import small_boards
import tiny
from flax import nnx

import jax_ttt
from jax_ttt.config.game_facts import SEATS
from jax_ttt.config.player_kinds import ALL
from jax_ttt.games import position_keys
from jax_ttt.games import tree as trees
from jax_ttt.grading import certificates
from jax_ttt.players import saved_agents
from jax_ttt.solver import proof
from tools import coq_agent

ROOT = Path(__file__).parents[2]
PROOFS = ROOT / "proofs"
LIBRARY = ("Rules", "Walk", "Boards", "Network", "Machine")
AGENT_4X4 = PROOFS / "connect-4x4.safetensors"
CERTIFICATE = ALL["table"].with_suffix(".certificate.json")
CLOSED = "Closed under the global context"
needs_coq = pytest.mark.usefixtures("coq")


@pytest.fixture(scope="session")
def coq():
    """Skip the test where there is no Coq; in CI it fails instead."""
    if shutil.which("coqc") is None:
        assert os.environ.get("COQ_TESTS") != "required", "there is no coqc"
        pytest.skip("there is no coqc")


def compiled(folder, *names):
    """Compile files in a folder, and return what Coq printed, errors too."""
    output = ""
    for name in names:
        words = ["coqc", "-q", "-Q", ".", "Proofs", f"{name}.v"]
        result = subprocess.run(words, cwd=folder, capture_output=True, text=True)
        output += result.stdout + result.stderr
        if result.returncode:
            return output
    return output


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Return a folder with the compiled library."""
    folder = tmp_path_factory.mktemp("proofs")
    for name in LIBRARY:
        shutil.copy(PROOFS / f"{name}.v", folder)
    assert compiled(folder, *LIBRARY) == ""
    return folder


def changed_file(folder, name, change):
    """Write a file of Coq with a change to the folder."""
    text = (PROOFS / f"{name}.v").read_text("ascii")
    new_text = change(text)
    assert new_text != text
    (folder / f"{name}.v").write_text(new_text, "ascii")


@pytest.mark.parametrize(
    ("name", "path"),
    [("Agent_network", ALL["network"]), ("Table_tic_tac_toe", CERTIFICATE)],
)
def test_the_files_in_git_are_of_the_shipped_agents(name, path):
    assert (PROOFS / f"{name}.v").read_text("ascii") == coq_agent.coq_file(path)


def test_the_agents_that_the_page_names_have_theorems():
    page = (ROOT / "jax_ttt" / "web" / "static" / "views" / "proof_panel.js").read_text(
        "utf-8"
    )
    names = re.findall('"shipped/(.*?)"', page)
    theorems = re.findall(r"Agent_\w+", (PROOFS / "Makefile").read_text("ascii"))
    assert names
    assert {f"Agent_{name.replace('-', '_')}" for name in names} <= {*theorems}


def test_the_statement_is_short_and_names_no_checker():
    text = (PROOFS / "Rules.v").read_text("ascii")
    code = re.sub(r"\(\*.*?\*\)", "", text, flags=re.DOTALL)
    assert len([line for line in code.splitlines() if line.strip()]) < 80
    assert re.findall(r"Require Import (.*)\.", code) == ["Arith List"]


def test_no_file_assumes_anything():
    paths = [*PROOFS.glob("*.v")]
    assert paths
    for path in paths:
        words = (
            r"\b(Axioms?|Parameters?|Conjectures?|Admitted|admit|Unset|bypass_check)\b"
        )
        assert not re.search(words, path.read_text("ascii")), path


def beaten(agent):
    """Return the agent with the signs of the last weights changed."""
    last = agent.params["layer2"]
    params = nnx.State({**agent.params, "layer2": {**last, "kernel": -last["kernel"]}})
    return dataclasses.replace(agent, params=params)


def unturned(agent):
    """Return an agent of these weights that sees the boards as they are."""
    config = agent.config.replace(canonical=False)
    description = dataclasses.replace(agent.description, config=config)
    return dataclasses.replace(agent, description=description)


REFUSED = {
    "float": "it has no network of integers: see jax_ttt.correct",
    "table": "it has no network of integers: see jax_ttt.correct",
    "other game": "its game must be one of tic_tac_toe, connect_4x4",
    "beaten": "no certificate: as X it loses the game",
    "absent": "No such file",
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_agent_without_a_theorem_is_refused_in_one_line(tmp_path, name):
    path = {"table": ALL["table"], "other game": ALL["connect-7x6"]}.get(name)
    path = path or tmp_path / "agent.safetensors"
    agent = jax_ttt.load(ALL["network"])
    if name == "float":
        tiny.save_untrained(path)
    elif name == "beaten":
        saved_agents.save_agent(beaten(agent), path)
    with pytest.raises(
        (OSError, ValueError), match=re.escape(REFUSED[name])
    ) as refused:
        coq_agent.coq_file(path)
    assert "\n" not in str(refused.value)


def test_a_network_that_sees_boards_as_they_are_is_refused():
    agent = unturned(jax_ttt.load(ALL["network"]))
    with pytest.raises(jax_ttt.Refused, match="its network must see canonical boards"):
        coq_agent.coq_network(agent, {})


def test_a_certificate_can_write_nothing_else_into_the_file(tmp_path):
    """A text of a certificate could end the table and define what never_loses means."""
    certificate = json.loads(CERTIFICATE.read_text("ascii"))
    text = '-", 0%nat)]). Definition never_loses := True. Definition x := (table [("'
    for change in (
        {"moves": {"first": {text: 0}}},
        {"moves": {"first": {"---------": "0). Redirect x"}}},
        {"env_id": f"tic_tac_toe. {text}"},
        {"moves": {}},
        {"moves": [1]},
    ):
        path = tmp_path / "forged.json"
        path.write_text(json.dumps(certificate | change), "ascii")
        with pytest.raises(ValueError):  # noqa: PT011  check_certificate.py says why
            coq_agent.coq_file(path)


LAYER = {"kernel": [[1]], "bias": [0], "scale": [0.5]}


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("scale", [0.3]),
        ("scale", [2.0]),
        ("scale", [np.nextafter(np.float32(2**-10), np.float32(0))]),
        ("scale", [2.0**-25]),
        ("bias", [[0]]),
    ],
)
def test_a_layer_that_the_proofs_lack_is_refused(part, value):
    layer = {name: np.array(value) for name, value in LAYER.items()}
    assert coq_agent.coq_layer(layer) == "[\nOutput [1] (0) 1]"
    with pytest.raises(jax_ttt.Refused, match="a convolution, or scales not of"):
        coq_agent.coq_layer({**layer, part: np.array(value)})


@pytest.mark.slow
def test_the_command_says_in_one_line_what_is_wrong(tmp_path):
    out = tmp_path / "out.v"
    command = [
        sys.executable,
        "-m",
        "tools.coq_agent",
        str(tmp_path / "absent"),
        str(out),
    ]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 1
    assert "is refused: " in result.stderr
    assert not out.exists()


def test_make_says_how_to_get_coq(tmp_path):
    words = [shutil.which("make"), "theorem"]
    result = subprocess.run(
        words, cwd=ROOT, env={"PATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert result.returncode
    message = (
        "Coq is needed: the package coq of Debian and Ubuntu, or https://coq.inria.fr"
    )
    assert result.stderr.splitlines()[0] == message


@pytest.mark.slow
@needs_coq
def test_the_table_and_the_nim_player_assume_nothing(library):
    for name in ("Table_tic_tac_toe", "Nim"):
        shutil.copy(PROOFS / f"{name}.v", library)
    assert compiled(library, "Table_tic_tac_toe", "Nim").count(CLOSED) == 3


def other_weight(text):
    """Change the bias of the score of the first cell."""
    *_, output = list(re.finditer(r"\((-?\d+)\) \d+", text))[:-17]
    return f"{text[: output.start(1)]}-8000000{text[output.end(1) :]}"


def other_move(text):
    return text.replace('("---------", 0%nat)', '("---------", 1%nat)')


def without_a_diagonal(text):
    return text.replace("(x + n, y + in_a_row s - 1 - n)", "(x + n, y + n)")


@pytest.mark.slow
@needs_coq
@pytest.mark.parametrize(
    ("changed", "change", "theorem"),
    [
        ("Agent_network", other_weight, "Agent_network"),
        ("Table_tic_tac_toe", other_move, "Table_tic_tac_toe"),
        ("Rules", without_a_diagonal, "Table_tic_tac_toe"),
    ],
)
def test_what_is_wrong_does_not_compile(library, tmp_path, changed, change, theorem):
    shutil.copytree(library, tmp_path, dirs_exist_ok=True)
    shutil.copy(PROOFS / f"{theorem}.v", tmp_path)
    changed_file(tmp_path, changed, change)
    names = (*LIBRARY, theorem) if changed == "Rules" else (theorem,)
    output = compiled(tmp_path, *names)
    assert "Error" in output
    assert "own_boards size X agent_as_X = Some" in output
    assert CLOSED not in output


@pytest.mark.slow
@needs_coq
def test_make_theorem_prints_the_theorems_and_what_they_assume(tmp_path):
    """It runs in a copy: it writes files, which other tests would meet."""
    for folder in ("docs", "jax_ttt", "proofs", "tools"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(ROOT / "Makefile", tmp_path)
    words = ["make", "theorem", f"PYTHON={sys.executable}", "VENV=absent"]
    result = subprocess.run(
        words, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    output = result.stdout
    assert output.count(": never_loses (stones_in_a_row size)") == 10
    assert output.count(": wins_every_game (nim heaps) X agent") == 1
    assert output.count(CLOSED) == 9
    # The two of 5 x 4 list Coq's integers of the processor, and nothing else.
    _, *others = output.split("Axioms:\n")
    assert len(others) == 2
    for assumptions in others:
        names = re.findall(r"^(\S+?)(?: :|$)", assumptions, re.MULTILINE)
        own = {name for name in names if not name.startswith(("Uint63.", "PrimInt63."))}
        assert own <= {"never_loses_as_X", "never_loses_as_O", "wins_every_game_as_X"}


def random_games(number):
    """Return moves that lead to different boards of 4 x 4, on which no one has won."""
    rng = np.random.default_rng(0)
    games = {}
    while len(games) < number:
        board, moves = "-" * 16, []
        for _ in range(rng.integers(16)):
            column = int(rng.choice(small_boards.columns_of(board)))
            after = small_boards.dropped(board, column, small_boards.mover(board))
            if small_boards.winner(after):
                break
            board, moves = after, [*moves, column]
        games[board] = moves
    return games


def key_of(board):
    """Return the key of `docs/check_strategy.py`: bits by column from the bottom."""
    columns = (board[column::4].replace("-", "")[::-1] for column in range(4))
    bits = (
        sum(2**row for row, stone in enumerate(stones) if stone == "X")
        + 2 ** len(stones)
        for stones in columns
    )
    return sum(number << 5 * column for column, number in enumerate(bits))


def moves_of_coq(library, path, boards):
    """Return the moves that Coq computes for an agent's file on boards."""
    text = coq_agent.coq_file(path)
    definitions = text[: text.index("Definition agent_as_X")]
    listed = "; ".join(f'"{board}"' for board in boards)
    compute = f"map (agent_move size corrections net) (map board_of [{listed}])"
    (library / "Moves.v").write_text(f"{definitions}\nCompute {compute}.\n", "ascii")
    return [int(move) for move in re.findall(r"(\d+)%nat", compiled(library, "Moves"))]


@pytest.mark.slow
@needs_coq
def test_coq_and_jax_choose_the_same_moves_on_a_thousand_boards(library, host_tree):
    keys = position_keys.numbers_of("tic_tac_toe", host_tree.env_state)
    keys = keys[host_tree.decisions]
    places = np.random.default_rng(0).choice(len(keys), 1000, replace=False)
    boards = certificates.board_texts("tic_tac_toe", keys[places])
    policy = jax_ttt.player(jax_ttt.load(ALL["network"])).policy
    moves = np.asarray(policy)[host_tree.decisions[places]].argmax(axis=1)
    assert moves_of_coq(library, ALL["network"], boards) == moves.tolist()


@pytest.mark.slow
@needs_coq
def test_three_programs_choose_the_same_moves_on_a_thousand_boards(library):
    games = random_games(1000)
    agent = jax_ttt.load(AGENT_4X4)
    moves = [jax_ttt.best_move(agent, game) for game in games.values()]
    assert moves_of_coq(library, AGENT_4X4, games) == moves
    checker = runpy.run_path(str(ROOT / "docs" / "check_strategy.py"))
    strategy = checker["Agent"](str(AGENT_4X4))
    moves_of_numpy = {}
    with ThreadPoolExecutor(1) as pool:
        for stones in range(16):
            level = [board for board in games if board.count("-") == 16 - stones]
            keys = np.array(sorted(map(key_of, level)), np.uint64)
            chosen = strategy.moves(keys, stones, pool) if level else []
            moves_of_numpy |= zip(keys.tolist(), list(chosen), strict=True)
    assert moves == [moves_of_numpy[key_of(board)] for board in games]


@pytest.mark.slow
def test_three_programs_count_the_same_own_boards():
    """Coq compares the number in the file with its own, in `make theorem`."""
    text = coq_agent.coq_file(AGENT_4X4)
    agent = jax_ttt.player(jax_ttt.load(AGENT_4X4))
    moves, _ = certificates.proven_moves(agent)
    for seat in SEATS:
        assert f"by_walk {len(moves[seat])}%N" in text
        classes = {min(board, mirrored(board)) for board in moves[seat]}
        words = [
            sys.executable,
            "docs/check_strategy.py",
            str(AGENT_4X4),
            "--seat",
            seat,
        ]
        words += ["--goal", "not-lose"]
        result = subprocess.run(
            words, cwd=ROOT, capture_output=True, text=True, check=True
        )
        assert f", never loses: {len(classes):,} boards of the agent" in result.stdout


def mirrored(board):
    """Return the mirror image of a board of 4 x 4."""
    return "".join(board[row : row + 4][::-1] for row in range(0, 16, 4))


@pytest.mark.slow
def test_the_nim_player_is_the_one_that_is_trained():
    names = runpy.run_path(str(ROOT / "docs" / "examples" / "nim.py"))
    agent = jax_ttt.train(env_id="nim", preset="table", seed=1).agent
    text = (PROOFS / "Nim.v").read_text("ascii")
    rows = re.findall(r"\(\[(\d); (\d); (\d)\], (\d+)\)", text)
    tree = trees.enumerated("nim")
    policy = np.asarray(jax_ttt.player(agent).policy)
    own = proof.own_decisions(tree, policy, "first")
    moves = {
        tuple(vars(tree.env_state)["heaps"][position].tolist()): int(
            policy[position].argmax()
        )
        for position in np.flatnonzero(own)
    }
    assert moves == {(int(a), int(b), int(c)): int(move) for a, b, c, move in rows}
    assert names["HEAPS"] == (3, 4, 5)
