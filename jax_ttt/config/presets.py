"""Presets: named settings, given by their differences from the defaults of `Config`.

Our own presets are here. The presets of published systems are in
`config/published_systems.py`.
"""

from typing import TYPE_CHECKING, Literal

from jax_ttt.config import game_facts
from jax_ttt.config.game_facts import GAMES
from jax_ttt.config.published_systems import PUBLISHED, TABLE_SETTINGS, PublishedSystem
from jax_ttt.config.settings import SELF, Config

# Rounds of counterexamples: a round is `eval_every` updates and a search. Epsilon is
# low, as half of the games start where the agent has lost. The average
# of the weights forgets less from round to round than the weights do.
_CONNECT_4X4 = Config.of(
    env_id="connect_4x4",
    num_envs=512,
    num_updates=60_000,
    start_share=0.5,
    two_planes=True,
    learning_rate=2e-3,
    learning_rate_end=2e-3,
    learning_rate_decay=0.9,
    average_span=0.03,
    tau=0.1,
    gamma=0.95,
    tremble=0.0,
    epsilon_start=0.3,
    epsilon_end=0.3,
    eval_every=1500,
)

_CONNECT_5X5 = _CONNECT_4X4.replace(
    env_id="connect_5x5",
    num_updates=240_000,
    start_share=0.6,
    hidden_size=512,
    learning_rate=1e-3,
    learning_rate_end=1e-3,
    learning_rate_decay=0.88,
    tau=0.05,
    gamma=0.97,
    epsilon_start=0.25,
    epsilon_end=0.25,
    eval_every=8000,
)

# The agent reaches too many positions to search them, so this is plain self-play.
# Random openings show it many positions. Without a tremble, a lookahead search gains
# more from the values.
_CONNECT_7X6 = Config.of(
    env_id="connect_7x6",
    num_updates=200_000,
    two_planes=True,
    filters=32,
    hidden_size=512,
    hidden_layers=1,
    learning_rate=1e-3,
    learning_rate_end=2e-5,
    gamma=0.99,
    tremble=0.0,
    epsilon_start=0.3,
    epsilon_end=0.1,
    random_opening=24,
    eval_every=40_000,
)

_OUR_PRESETS: dict[str, Config] = {
    # Our network: canonical boards, and a two-ply backup with a trembling opponent.
    # With gamma 0.85 and tremble 0.5, X's best opening is the corner, by 0.007.
    "default": Config.of(
        num_envs=128,
        num_updates=1800,
        learning_rate=6e-3,
        learning_rate_end=2e-3,
        average_span=0.15,
        epsilon_end=0.1,
        tau=0.12,
        gamma=0.85,
        backup="two-ply",
        eval_every=150,
    ),
    # For any game and any opponent: a one-ply backup, no discount.
    "plain": Config(),
    # Our table: learning rate 1, for exact values, against an opponent that trembles
    # often.
    "table": TABLE_SETTINGS.replace(
        backup="two-ply",
        tremble=0.7,
        backward=False,
        num_updates=400,
        learning_rate=1.0,
        learning_rate_end=1.0,
        eval_every=40,
    ),
    "connect-4x4": _CONNECT_4X4,
    "connect-5x4": _CONNECT_4X4.replace(
        env_id="connect_5x4",
        num_updates=120_000,
        hidden_size=256,
        learning_rate=1.5e-3,
        learning_rate_end=1.5e-3,
        learning_rate_decay=0.87,
        eval_every=3000,
    ),
    "connect-5x5": _CONNECT_5X5,
    "connect-6x5": _CONNECT_5X5.replace(env_id="connect_6x5"),
    "connect-6x6": _CONNECT_5X5.replace(env_id="connect_6x6", max_positions=1_000_000),
    "connect-7x6": _CONNECT_7X6,
    # For a GPU: 173 s of training on an H100.
    "connect-7x6-large": _CONNECT_7X6.replace(
        num_envs=8192,
        num_updates=114_000,
        filters=128,
        hidden_size=1024,
        hidden_layers=2,
        precision="bfloat16",
        eval_every=11_400,
    ),
}

SYSTEMS: dict[str, PublishedSystem] = {
    **PUBLISHED,
    "default": PublishedSystem(
        "ours: the network",
        _OUR_PRESETS["default"],
        (),
        "The ceiling is 99.48% and 91.64% wins.",
    ),
    "table": PublishedSystem(
        "ours: the table", _OUR_PRESETS["table"], (), "It reaches the ceiling."
    ),
}
"""The published systems and ours, by the preset that trains them."""

PRESETS: dict[str, Config] = _OUR_PRESETS | {
    name: system.config for name, system in SYSTEMS.items()
}
"""The settings of each preset."""

if TYPE_CHECKING:
    Preset = str
else:  # the command line and type checks at run time need the choices
    Preset = Literal[tuple(PRESETS)]


def default_preset(env_id: object, *opponents: object) -> Preset:
    """Return the default preset: the game's, or `plain` against an opponent.

    `env_id` None means the default game. An opponent None, or no opponents, means
    self-play. The preset is `plain` if any of the opponents is another player.
    """
    is_self_play = all(name in (None, SELF) for name in opponents)
    game = GAMES.get(str(env_id or game_facts.DEFAULT_GAME))
    return game.preset if game and is_self_play else "plain"
