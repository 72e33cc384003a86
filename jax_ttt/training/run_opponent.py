"""The opponent of a run and its first move, as the settings ask for them."""

from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np

from jax_ttt.config.errors import SettingError
from jax_ttt.config.settings import Config
from jax_ttt.training.keys import keys, run_key

if TYPE_CHECKING:
    from jax_ttt.envs.opponents import Opponent


def check_first_move(config: Config) -> None:
    """Raise `SettingError` if no game can open with the move that is asked for."""
    if config.opponent.first_move is None:
        return
    from jax_ttt.envs import pgx_games

    start = pgx_games.init(pgx_games.make_env(config.env_id), jax.random.key(0), 1)
    legal = np.flatnonzero(start.legal_action_mask[0]).tolist()
    if config.opponent.first_move not in legal:
        rule = f"one of {legal} in {config.env_id}"
        raise SettingError("first_move", rule, config.opponent.first_move)


def make_opponent(config: Config, seed: int) -> "Opponent | None":
    """Return the opponent that the settings name; None is the agent itself.

    Raises:
        PlayerError: there is no such opponent.
    """
    return of_key(config, run_key(seed))


def of_key(config: Config, key: np.ndarray) -> "Opponent | None":
    """Return the opponent of the run with this key."""
    if config.opponent.is_self:
        return None
    from jax_ttt.envs.opponents import Versus
    from jax_ttt.players import names, registry

    spec = names.read_name(config.opponent.opponent, config.env_id)
    own = keys(jax.random.wrap_key_data(jnp.array(key))).opponent
    return Versus(spec.name, registry.enter(spec, config.env_id, own).player)
