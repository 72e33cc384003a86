"""The time to find all positions that a network reaches, and its parts."""

import dataclasses
import functools

import jax
import pgx
from jax.tree_util import Partial
from jaxtyping import Array, Int, Key

from jax_ttt.config.game_facts import EnvId
from jax_ttt.config.settings import Config
from jax_ttt.dqn import greedy_player
from jax_ttt.networks import q_network
from jax_ttt.players import saved_agents
from jax_ttt.solver import reached_positions, successors
from jax_ttt.solver.batches import SearchedPlayer
from jax_ttt.solver.reached_positions import Reach
from tools.benchmarks.timing import Figures, in_turn, ratios, show

WIDTH = 128
"""Neurons of each of the network's two layers."""
_BATCH = 2**13
_ALL = 10**9


def measure_reach(rounds: int, env_id: EnvId = "connect_5x5") -> Figures:
    """Time the search for all positions that a network reaches as the first player.

    The network has its first weights. The moves of all levels are then computed again:
    the player's, and the same positions with the first legal move, which costs nothing
    to find. So the difference is the player's share. What is left of the whole search
    is NumPy's: equal positions are merged, and results are counted.
    """
    player = untrained_player(env_id)
    whole = Reach(player)
    reached_positions.follow_all_lines(whole, _ALL)
    cheap = dataclasses.replace(player, choose=Partial(_first_legal))

    runs = [
        lambda: reached_positions.follow_all_lines(Reach(player), _ALL),
        functools.partial(_expand, player, whole, True),
        functools.partial(_expand, cheap, whole, True),
        functools.partial(_expand, player, whole, False),
    ]
    total, player_moves, steps, others = in_turn(runs, rounds)
    count = whole.num_positions
    parts = {
        "player": [a - b for a, b in zip(player_moves.wall, steps.wall, strict=True)],
        "game": [a + b for a, b in zip(steps.wall, others.wall, strict=True)],
    }
    rows = zip(total.wall, player_moves.wall, others.wall, strict=True)
    parts["merging"] = [a - b - c for a, b, c in rows]
    text = f"{env_id}, {WIDTH}-{WIDTH}, {count:,} positions"
    seconds = [1e6 * s / count for s in total.wall]
    figures: Figures = {"positions": count}
    figures["seconds"] = show(text, seconds, "s/million", 2, total)
    names = {"player": "the player's moves", "game": "the game's steps"}
    names["merging"] = "merging and counting"
    for part, seconds in parts.items():
        shares = [100 * share for share in ratios(seconds, total.wall)]
        figures[part] = show(f"share of {names[part]}", shares, "%", 0)
    return figures


def untrained_player(env_id: EnvId) -> SearchedPlayer:
    """Return a network with its first weights, as `evaluate` follows it."""
    config = Config.of(env_id=env_id, hidden_size=WIDTH, hidden_layers=2)
    net = saved_agents.network_from(config.architecture)
    params = q_network.init_params(net, jax.random.key(0))
    return SearchedPlayer(
        env_id=env_id,
        choose=greedy_player.GreedyPlayer(net, params),
        seat="first",
        merge_symmetric=True,
        is_symmetric=greedy_player.is_symmetric(net),
        batch=_BATCH,
    )


def _first_legal(key: Key[Array, ""], env_state: pgx.State) -> Int[Array, " B"]:
    del key
    return env_state.legal_action_mask.argmax(axis=1)


def _expand(player: SearchedPlayer, search: Reach, own_moves: bool) -> None:
    """Compute the moves at all levels where the player moves, or its opponent."""
    for number, keys in enumerate(search.keys):
        if player.moves_at(number) == own_moves:
            for _ in successors.expand_level(player, keys):
                pass
