"""Settings that don't go together, and why. Imports no JAX."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jax_ttt.config.settings import Config


def find(config: "Config", walked: bool) -> Iterator[tuple[str, str]]:
    """Yield each field that others rule out, and what it must be.

    `walked`: the game's whole tree is small enough to walk.
    """
    yield from _of_schedules(config)
    yield from _of_parts(config, walked)
    if config.opponent == "self":
        yield from _of_self_play(config)
    yield from _of_rewards(config)


def _of_schedules(config: "Config") -> Iterator[tuple[str, str]]:
    if config.epsilon_end > config.epsilon_start:
        yield "epsilon_end", f"at most {config.epsilon_start} (epsilon_start)"
    if config.learning_rate_end > config.learning_rate:
        yield "learning_rate_end", f"at most {config.learning_rate} (learning_rate)"
    if config.optimizer == "sgd" and config.weight_decay:
        yield "weight_decay", "0 with sgd"


def _of_parts(config: "Config", walked: bool) -> Iterator[tuple[str, str]]:
    if config.network == "table" and not walked:
        yield "network", f"mlp in {config.env_id}: too many boards for a table"
    if config.backward and not walked:
        yield "backward", f"false in {config.env_id}: its games have no known length"
    if config.backward and config.replay_capacity:
        yield "backward", "false with replay, which has no order"
    least = max(config.replay_batch, config.replay_start, config.num_envs)
    if 0 < config.replay_capacity < least:
        rule = f"0 or at least {least:,} (replay_batch, replay_start, num_envs)"
        yield "replay_capacity", rule
    if config.backup == "two-ply" and config.opponent != "self":
        yield "backup", "one-ply against an opponent: its reply is part of the move"
    if config.backup == "two-ply" and config.double:
        yield "double", "false with a two-ply backup"


def _of_rewards(config: "Config") -> Iterator[tuple[str, str]]:
    if not config.reward_loss < config.reward_win:
        yield "reward_loss", f"below {config.reward_win} (reward_win)"
    if not config.reward_loss <= config.reward_draw <= config.reward_win:
        rule = f"from {config.reward_loss} (reward_loss) to {config.reward_win}"
        yield "reward_draw", f"{rule} (reward_win)"


def _of_self_play(config: "Config") -> Iterator[tuple[str, str]]:
    if config.seat != "both":
        yield "seat", "both in self-play, where it plays both sides"
    if config.reward_draw != 0:
        yield "reward_draw", "0 in self-play: one's gain is the other's loss"
    if config.reward_loss != -config.reward_win:
        yield "reward_loss", f"{-config.reward_win} in self-play (-reward_win)"
