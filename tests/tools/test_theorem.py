"""The theorems of proofs/: what Coq checks, and that it refuses what is wrong."""

import dataclasses
import functools
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import as_users
import numpy as np
import pytest
import small_boards
from flax import nnx

import jax_ttt
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


def scaled(agent, scale):
    """Return the agent with another scale of its first units."""
    scales = np.full_like(agent.params["layer0"]["scale"], scale)
    return with_first_layer(agent, scale=scales)


def with_a_convolution(agent):
    """Return the agent with biases that differ by patch, as those of filters do."""
    return with_first_layer(agent, bias=agent.params["layer0"]["bias"][:, None])


def with_first_layer(agent, **parts):
    layer = {**agent.params["layer0"], **parts}
    params = nnx.State({**agent.params, "layer0": layer})
    return dataclasses.replace(agent, params=params)


@pytest.mark.parametrize(
    ("path", "change", "reason"),
    [
        (ALL["table"], None, "it has no network of integers: see jax_ttt.correct"),
        (ALL["connect-7x6"], None, "its game must be one of tic_tac_toe, connect_4x4"),
        (ALL["network"], beaten, "no certificate: as X it loses the game"),
        (Path("absent"), None, "No such file"),
    ],
)
def test_an_agent_without_a_theorem_is_refused_in_one_line(
    path, change, reason, tmp_path
):
    if change is not None:
        agent = change(jax_ttt.load(path))
        path = tmp_path / "agent.safetensors"
        saved_agents.save_agent(agent, path)
    with pytest.raises((OSError, ValueError), match=re.escape(reason)) as refused:
        coq_agent.coq_file(path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (unturned, "its network must see canonical boards"),
        (with_a_convolution, "its network has a convolution"),
        *(
            (functools.partial(scaled, scale=scale), "scales not of 2**-n")
            for scale in (0.3, 2.0, np.nextafter(np.float32(2**-10), 0), 2.0**-25)
        ),
    ],
)
def test_a_network_that_the_proofs_lack_is_refused(change, reason):
    agent = change(jax_ttt.load(ALL["network"]))
    with pytest.raises(jax_ttt.Refused, match=re.escape(reason)):
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


@pytest.mark.slow
def test_the_command_says_in_one_line_what_is_wrong(tmp_path):
    words = ("-m", "tools.coq_agent", "absent", tmp_path / "out.v")
    done = as_users.run_python(*words, cwd=ROOT)
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "is refused: " in done.err
    assert not (tmp_path / "out.v").exists()


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
            column = int(rng.choice(small_boards.moves(board)))
            after = small_boards.after(board, column)
            if small_boards.winner(after):
                break
            board, moves = after, [*moves, column]
        games[board] = moves
    return games


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
@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_4x4"])
def test_coq_and_jax_choose_the_same_moves_on_a_thousand_boards(
    name, library, host_tree
):
    """The next test compares those of 4 x 4 with a third program's."""
    if name == "tic_tac_toe":
        path = ALL["network"]
        keys = position_keys.numbers_of(name, host_tree.env_state)
        decisions = host_tree.decisions
        places = np.random.default_rng(0).choice(decisions, 1000, replace=False)
        boards = certificates.board_texts(name, keys[places])
        policy = jax_ttt.player(jax_ttt.load(path)).policy
        moves = np.asarray(policy)[places].argmax(axis=1).tolist()
    else:
        path, games = AGENT_4X4, random_games(1000)
        agent = jax_ttt.load(path)
        boards = [*games]
        moves = [jax_ttt.best_move(agent, game) for game in games.values()]
    assert moves_of_coq(library, path, boards) == moves


@pytest.fixture
def checker(monkeypatch):
    """Return the names of `check_strategy.py`, which needs only NumPy."""
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")  # it would be set for other tests
    return runpy.run_path(str(ROOT / "docs" / "check_strategy.py"))


def test_numpy_and_jax_choose_the_same_moves_on_a_thousand_boards(checker):
    agent = jax_ttt.load(AGENT_4X4)
    levels = [{} for _ in range(16)]  # the moves by board, for each number of stones
    for board, game in random_games(1000).items():
        levels[len(game)][small_boards.key(board)] = jax_ttt.best_move(agent, game)
    strategy = checker["Agent"](str(AGENT_4X4))
    with ThreadPoolExecutor(1) as pool:
        for stones, moves in enumerate(levels):
            keys = np.array(sorted(moves), np.uint64)
            chosen = strategy.moves(keys, stones, pool).tolist()
            assert chosen == [moves[key] for key in keys.tolist()]


def test_three_programs_count_the_same_own_boards(checker):
    """Coq compares the number in the file with its own, in `make theorem`."""
    text = coq_agent.coq_file(AGENT_4X4)
    moves, _ = certificates.proven_moves(jax_ttt.player(jax_ttt.load(AGENT_4X4)))
    strategy = checker["Agent"](str(AGENT_4X4))
    for number, seat in enumerate(("first", "second")):
        assert f"by_walk {len(moves[seat])}%N" in text
        keys = np.array([small_boards.key(board) for board in moves[seat]], np.uint64)
        with ThreadPoolExecutor(1) as pool:
            walk = checker["Walk"](strategy, seat, "not-lose", pool)
            assert walk.failing_game() is None
        walked = np.concatenate(walk.keys[number::2])
        # The walk counts a board and its mirror image once.
        assert np.unique(strategy.merged(keys)).tolist() == sorted(walked.tolist())


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
