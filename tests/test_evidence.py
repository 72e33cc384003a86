"""What outputs say of all kinds of players: proven only with evidence, and which.

Whenever a text or JSON calls a player proven or unbeatable, its moves are known by more
than a sample. Of a player that was asked for its moves, the same sentence says so.
"""

import dataclasses
import json
import re
from typing import Any

import commands
import jax
import jax.numpy as jnp
import numpy as np
import player_programs
import pytest
import small_boards
from player_programs import PlayerProgram

import jax_ttt
from jax_ttt import arena, evaluate
from jax_ttt.files import json_records
from jax_ttt.games import tree as trees

SMALL, LARGE, OTHER = "tic_tac_toe", "connect_4x4", "hex"
CONDITION = ("by the moves that it gave", "another answer would be another player")
FIRST = "say([m for m in range(121) if m not in moves][0])"
BY_CHANCE = """
    import random
    chance = globals().setdefault("chance", random.Random(1))
    say(chance.choice([m for m in range(NUM_MOVES) if moves.count(m) < MOST]))
"""
CHANCE = {
    SMALL: BY_CHANCE.replace("NUM_MOVES", "9").replace("MOST", "1"),
    LARGE: BY_CHANCE.replace("NUM_MOVES", "4").replace("MOST", "4"),
}


@pytest.fixture(scope="module")
def best_moves():
    """Return for each game a function `(env_state) -> actions`: the best it has."""
    index = trees.position_index(SMALL)
    policy = jnp.array(jax_ttt.player("minimax-first").policy)
    perfect = small_boards.perfect()

    def perfect_moves(state):
        """Return its move; the first legal one on boards that it never reaches."""
        legal = state.legal_action_mask
        move = perfect(jax.random.key(0), state)
        is_legal = jnp.take_along_axis(legal, move[:, None], axis=1)[:, 0]
        return jnp.where(is_legal, move, legal.argmax(axis=1))

    return {
        SMALL: lambda state: policy[index.of_states(state)].argmax(axis=1),
        LARGE: perfect_moves,
        OTHER: lambda state: state.legal_action_mask.argmax(axis=1),
    }


def random_move(key, env_state):
    return jax.random.categorical(key, jnp.log(env_state.legal_action_mask))


def one_draw(best):
    def function(key, env_state):
        moves = best(env_state), random_move(key, env_state)
        return jnp.where(jax.random.uniform(key) > 0.9, *moves[::-1])

    return function


def asked(best):
    """Return the function so that JAX can't trace it: it is asked."""
    play = jax.jit(best)
    return lambda env_state: np.asarray(play(jax.tree.map(np.asarray, env_state)))


def by_numbers_of_numpy(best):
    rng = np.random.default_rng(0)
    play = asked(best)

    def function(env_state):
        if rng.random() < 0.9:
            return play(env_state)
        masks = np.asarray(env_state.legal_action_mask)
        return [rng.choice(np.flatnonzero(mask)) for mask in masks]

    return function


FUNCTIONS = {
    "f(state)": (lambda best: best, "signature"),
    "f(key, state)": (lambda best: lambda key, state: best(state), "none"),
    "one draw": (one_draw, "none"),
    "f(state) of NumPy": (asked, "asked"),
    "chance of NumPy": (by_numbers_of_numpy, "none"),
}
IN_OTHER = ["f(state)", "one draw", "f(state) of NumPy"]
KINDS = {SMALL: FUNCTIONS, LARGE: FUNCTIONS, OTHER: IN_OTHER}
NAMES = {
    SMALL: {
        "minimax": "construction",
        "random": "construction",
        "mcts:50": "construction",
        "mcts-online:2": "none",
        "blend:0.5:minimax": "construction",
        "blend:0.5:mcts-online:2": "none",
        "shipped:network": "construction",
        "shipped:table": "construction",
        "lookahead:1:shipped:network": "construction",
    },
    LARGE: {"random": "none", "mcts-online:2": "none"},
    OTHER: {"random": "none"},
}


def check_text(text, evidence):
    """Check that each paragraph of a text has the evidence for what it says."""
    for paragraph in re.split(r"\n\s*\n", text):
        line = " ".join(paragraph.split())  # a report is wrapped
        others = r"(nothing|not|never) (is )?proven|f\(state\) could be proven"
        claims = re.sub(others, "", line)
        if re.search(r"\b(proven|unbeatable|wins every game)\b", claims):
            assert evidence != "none", line
            is_conditional = all(words in line for words in CONDITION)
            assert is_conditional == (evidence == "asked"), line


def check_json(value, evidence):
    """Check the same of each object in JSON."""
    if isinstance(value, list):
        for part in value:
            check_json(part, evidence)
    if isinstance(value, dict):
        if value.get("unbeatable") or value.get("proven"):
            assert value["evidence"] == evidence != "none"
        for name, part in value.items():
            check_json(part, evidence)
            if name == "verdict":
                check_text(part, evidence)


def check_player(player, evidence):
    """Check everything that Python says of a player; return its grade and its proof."""
    # Whether a player plays one move in each position may show only in a search.
    is_to_be_asked = player.evidence == "asked" and player.policy is None
    assert player.evidence == evidence or is_to_be_asked
    if evidence == "none":
        assert "sampled" in repr(player)
    grade = jax_ttt.grade(player, num_games=2)
    proof = None
    try:
        proof = jax_ttt.prove(player)
    except jax_ttt.Refused as error:
        check_text(str(error), evidence)
    for result in filter(None, (grade, proof)):
        check_text(f"{result!r}\n{result.verdict}", evidence)
        check_text(result._repr_html_(), evidence)
    check_json(json.loads(json_records.to_json(grade)), evidence)
    if evidence == "none":
        assert (grade.unbeatable, grade.proven, proof) == (None, None, None)
    if evidence == "asked" and grade.unbeatable:
        assert f"it was asked for {grade.asked_twice:.0%} twice; " in grade.verdict
    for seat in grade.followed.values():
        assert seat.evidence == evidence
    match = jax_ttt.match(player, "random", num_games=2)
    if player.env_id == SMALL:
        assert match.is_exact == (evidence != "none")
        assert match.first.evidence == match.both.evidence == evidence
        assert ("moves that a player gave" in repr(match)) == (evidence == "asked")
        if match.is_exact:
            assert jax_ttt.match("random", player).first.evidence == evidence
    return grade, proof


@pytest.mark.parametrize(
    ("kind", "env_id"),
    [
        pytest.param(kind, env_id, marks=() if env_id == SMALL else pytest.mark.slow)
        for env_id, kinds in KINDS.items()
        for kind in kinds
    ],
)
def test_a_function_is_called_what_its_evidence_allows(kind, env_id, best_moves):
    """They play perfectly where they can: so whoever can be proven is."""
    make, evidence = FUNCTIONS[kind]
    if env_id == OTHER and evidence == "asked":
        evidence = "none"  # a search of so large a game needs a limit
    player = jax_ttt.player(make(best_moves[env_id]), env_id=env_id, name="mine")
    grade, proof = check_player(player, evidence)
    is_proven = evidence != "none" and env_id != OTHER
    assert grade.unbeatable is (True if is_proven else None)
    if is_proven:
        assert repr(proof).startswith("unbeatable")


@pytest.mark.parametrize(
    ("env_id", "name"),
    [
        pytest.param(
            env_id, name, marks=() if "shipped:table" in name else pytest.mark.slow
        )
        for env_id, names in NAMES.items()
        for name in names
    ],
)
def test_a_built_in_player_is_called_what_its_evidence_allows(env_id, name):
    evidence = NAMES[env_id][name]
    check_player(jax_ttt.player(name, env_id=env_id), evidence)
    flags = [name, "--env-id", env_id, "--games", "2"]
    check_text(commands.run(evaluate, *flags).out, evidence)
    check_json(json.loads(commands.run(evaluate, *flags, "--json").out), evidence)


def test_a_policy_has_evidence_and_can_not_be_written():
    """Neither the array that was given, nor the one of the player."""
    policy = np.array(jax_ttt.player("minimax-first").policy)
    with pytest.raises(jax_ttt.Refused, match="must be numbers of shape"):
        jax_ttt.player(policy.astype(complex))
    player: Any = jax_ttt.player(policy, name="mine")
    proof = jax_ttt.prove(player)
    assert (player.evidence, proof.unbeatable) == ("construction", True)
    policy[:] = 0
    assert jax_ttt.grade(player).unbeatable is True
    for write in (
        lambda: player.policy.fill(0),
        lambda: player.policy.setflags(write=True),
        lambda: np.copyto(player.policy, 0),
    ):
        with pytest.raises(ValueError, match=r"read-only|WRITEABLE"):
            write()


def test_a_player_plays_its_policy_whatever_it_is_given_beside_it():
    """So a proof of the policy is one of the moves in games."""
    perfect = jax_ttt.player("minimax-first")
    bad = jax_ttt.player(lambda state: state.legal_action_mask.argmax(axis=1))
    tree = trees.enumerated(SMALL)
    boards = jax.tree.map(lambda leaf: leaf[tree.decisions], tree.env_state)
    for player in (
        dataclasses.replace(jax_ttt.player("random"), policy=perfect.policy),
        dataclasses.replace(bad, policy=perfect.policy),
        dataclasses.replace(perfect, choose=bad.choose),
    ):
        assert player.policy is not None
        moves = np.asarray(player.choose(jax.random.key(1), boards))
        assert (moves == player.policy[tree.decisions].argmax(axis=1)).all()


PROGRAMS = [
    (SMALL, player_programs.MINIMAX, "asked"),
    (SMALL, CHANCE[SMALL], "none"),
    (LARGE, player_programs.FIRST_COLUMN, "asked"),
    (LARGE, CHANCE[LARGE], "none"),
    (OTHER, FIRST, "none"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("env_id", "answer", "evidence"), PROGRAMS)
def test_a_program_is_called_what_its_evidence_allows(
    env_id, answer, evidence, tmp_path
):
    name = PlayerProgram(tmp_path, answer).name
    player = jax_ttt.player(name, env_id=env_id)
    grade, _ = check_player(player, evidence)
    assert grade.unbeatable is not True or answer == player_programs.MINIMAX
    if env_id == SMALL:
        if evidence == "none":
            with pytest.raises(jax_ttt.Refused, match="one move in each position"):
                jax_ttt.player(f"blend:1:{name}")
        else:
            check_player(jax_ttt.player(f"blend:1:{name}"), evidence)
    flags = [name, "--env-id", env_id, "--games", "2"]
    path = tmp_path / "certificate.json"
    code = 0 if grade.unbeatable else 2
    text = commands.run(evaluate, *flags, "--certificate", path, code=code).out
    assert path.exists() == (code == 0)
    if grade.unbeatable:
        words = json.loads(path.read_text())["player"]
        assert words == f"program:COMMAND, {CONDITION[0]}"
    result = json.loads(commands.run(evaluate, *flags, "--json").out)
    check_json(result, evidence)
    assert ("note" in result["grade"]) == (evidence == "none")
    check_text(text or commands.run(evaluate, *flags).out, evidence)
    match = [name, "random", *flags[1:]]
    pair = json.loads(commands.run(arena, *match, "--json").out)["pairs"][1]
    assert pair["evidence"] == (evidence if env_id == SMALL else "none")
    is_exact = env_id == SMALL and evidence == "asked"
    assert (pair["num_games"] == 0) == is_exact
    text = " ".join(commands.run(arena, *match).out.split())
    assert ("of some players by the moves that they gave" in text) == is_exact
    player.close()


def test_a_policy_without_evidence_is_no_player():
    perfect: Any = jax_ttt.player("minimax-first")
    with pytest.raises(ValueError, match="needs evidence"):
        dataclasses.replace(perfect, evidence="none")
