"""The settings as keyword arguments, so that an editor completes and checks them.

The parts in `settings.py` have their ranges, defaults and descriptions. A test compares
the names and types.
"""

from typing import TypedDict

from jax_ttt.config.game_facts import EnvId, SeatSetting
from jax_ttt.config.settings import (
    Activation,
    Backup,
    EpsilonSchedule,
    Loss,
    NetworkKind,
    OptimizerKind,
    Precision,
    TableKey,
)


class SettingKeywords(TypedDict, total=False):
    """Settings by name, each of them optional; their ranges are not checked here."""

    # RunSettings
    env_id: EnvId
    num_envs: int
    num_updates: int
    lockstep: bool
    start_share: float
    start_positions: str
    start_agent: str
    # OpponentSettings
    opponent: str
    seat: SeatSetting
    first_move: int | None
    # NetworkSettings
    network: NetworkKind
    canonical: bool
    hidden_size: int
    hidden_layers: int
    two_planes: bool
    filters: int
    activation: Activation
    table_key: TableKey
    initial_value: float
    # TargetSettings
    backup: Backup
    tremble: float
    gamma: float
    double: bool
    backward: bool
    tau: float
    target_update_every: int
    reward_win: float
    reward_draw: float
    reward_loss: float
    # ExplorationSettings
    epsilon_start: float
    epsilon_end: float
    epsilon_schedule: EpsilonSchedule
    epsilon_decay: float
    random_opening: int
    # OptimizerSettings
    optimizer: OptimizerKind
    loss: Loss
    learning_rate: float
    learning_rate_end: float
    learning_rate_decay: float
    weight_decay: float
    average_span: float
    precision: Precision
    # ReplaySettings
    replay_capacity: int
    replay_batch: int
    replay_start: int
    # EvaluationSettings
    eval_every: int
    eval_games: int | None
    max_positions: int
