"""The settings of a run.

`Config` holds a record for each part: the game, the opponent, the network and so on.
The file has the parts first, then what the program derives from them (`BackupRule`,
`Architecture`, `Hyper`), then `Config` and the checks that need several parts.

A field's docstring is the help of its flag. Imports no JAX, so that bad settings are
refused immediately.
"""

import copy
import dataclasses
import functools
import typing
from collections.abc import Iterable, Iterator
from dataclasses import field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeAlias

from jax_ttt.config import game_facts
from jax_ttt.config.errors import ConflictError, SettingError, did_you_mean
from jax_ttt.config.game_facts import GAMES, SEATS, EnvId, Seat, SeatSetting
from jax_ttt.config.ranges import (
    MAX_POSITIONS_RANGE,
    Fraction,
    Range,
    Reward,
    Setting,
    SettingsPart,
    check_setting,
    field_types,
)

if TYPE_CHECKING:
    import jax


COUNTEREXAMPLES = "counterexamples"
"""The pool that evaluations fill."""
NO_AGENT = "none"
"""The agent of a training that begins with random weights."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunSettings(SettingsPart):
    """The game, the number of games at once and the length of the training."""

    env_id: EnvId = game_facts.DEFAULT_GAME
    """The game to learn."""
    num_envs: Annotated[int, Range(int, 1, 2**20)] = 256
    """Games played at once. Each update plays one move in each of them."""
    num_updates: Annotated[int, Range(int, 1, 10**9)] = 1000
    """Updates. Each takes one gradient step; with backward, one for each turn of a
    game; with replay, none before replay_start. The schedules of epsilon and of the
    learning rate end with the last update."""
    lockstep: bool = False
    """Restart all games together after the last one has ended, as J. Antognini's
    program does."""
    start_share: Fraction = 0.0
    """Share of the new games that start in the pool of start_positions. Only in
    self-play, in games that are too large to enumerate."""
    start_positions: str = COUNTEREXAMPLES
    """counterexamples: those of the latest evaluations. A counterexample is a position
    in which the agent had a choice, on a line of play that beats it. Each evaluation
    searches all positions that the agent reaches for them. Or a corrected agent's file:
    the positions of its corrections, without their moves."""
    start_agent: str = NO_AGENT
    """A saved agent whose weights the training begins with, or none: random weights."""

    @property
    def can_be_proven(self) -> bool:
        """Whether evaluations during the run can prove the agent unbeatable."""
        return GAMES[self.env_id].enumerable or self.finds_counterexamples

    @property
    def finds_counterexamples(self) -> bool:
        """Whether evaluations search for counterexamples, where new games start."""
        return self.start_share > 0 and self.start_positions == COUNTEREXAMPLES


SELF = "self"
"""The name of the opponent in self-play."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class OpponentSettings(SettingsPart):
    """The opponent that the agent trains against, and the agent's seat."""

    opponent: str = SELF
    """self (self-play), or any player of the arena: random, minimax, blend:0.7:minimax,
    a saved agent's path and others."""
    seat: SeatSetting = "both"
    """The agent's seat against an opponent: first, second, or both (a random one in
    each game)."""
    first_move: Annotated[int | None, Range(int, 0, 2**16, optional=True)] = None
    """The first move of every training game; without this flag, the players choose it.
    Evaluations leave it to them."""

    @property
    def is_self(self) -> bool:
        """Whether the agent plays both sides."""
        return self.opponent == SELF

    @property
    def counted_player(self) -> str:
        """The player whose results a run counts, for messages."""
        return "the first player" if self.is_self else "the agent"

    @property
    def pairing(self) -> str:
        """The opponent, for messages: `in self-play`, or `against random`."""
        return "in self-play" if self.is_self else f"against {self.opponent}"


NetworkKind = Literal["mlp", "table"]
Activation = Literal["relu", "tanh", "sigmoid"]
TableKey = Literal["position", "after-state", "hash"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class NetworkSettings(SettingsPart):
    """The function from boards to action values."""

    network: NetworkKind = "mlp"
    """mlp: a multilayer perceptron. table: a lookup table, see table_key; only in
    enumerable games. With a preset that trains a table, mlp needs a learning_rate too:
    a table's is a share of the error."""
    canonical: bool = True
    """Map rotated and mirrored boards to one canonical board."""
    hidden_size: Annotated[int, Range(int, 1, 2**14)] = 128
    """Neurons in each hidden layer of an mlp."""
    hidden_layers: Annotated[int, Range(int, 0, 16)] = 2
    """Hidden layers of an mlp. 0: a linear function."""
    two_planes: bool = False
    """Input of an mlp for a board of stones: two planes of 0 and 1, the mover's stones
    and the opponent's, instead of one plane of +1 and -1."""
    filters: Annotated[int, Range(int, 0, 2**10)] = 0
    """Filters of a convolution before an mlp's hidden layers. Each sees every patch of
    4 x 4 cells. 0: no convolution."""
    activation: Activation = "relu"
    """Activation function of an mlp's hidden layers and filters."""
    table_key: TableKey = "position"
    """A table's rows. position: the game's positions; after-state: the positions that
    moves lead to, one value each; hash: any board, read as a number in base 3."""
    initial_value: Reward = 0.0
    """Initial value of a table's entries."""

    @property
    def is_table(self) -> bool:
        """Whether the network is a table."""
        return self.network == "table"

    @property
    def hidden_sizes(self) -> tuple[int, ...]:
        """Neurons in each hidden layer; none in a table."""
        return () if self.is_table else (self.hidden_size,) * self.hidden_layers


Backup = Literal["one-ply", "two-ply"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class TargetSettings(SettingsPart):
    """The TD target: the value that an action's value is moved towards."""

    backup: Backup = "one-ply"
    """one-ply: bootstrap from the next mover's value. two-ply (self-play only):
    bootstrap from a second head, which learns what each reply of the opponent is worth
    to the waiting player."""
    tremble: Fraction = 0.5
    """Probability, in the TD target only, that the next mover plays a random move: from
    0 (the plain maximum) to 1. With two-ply, each player assumes it of the opponent
    only. A higher one prefers moves that set traps."""
    gamma: Fraction = 1.0
    """Discount per move; its sign comes from the player to move next."""
    double: bool = False
    """Double DQN: the network in training chooses the best next action, and the target
    network gives its value. With a table: two tables; each move updates one
    of them, the last move of a game both."""
    backward: bool = False
    """Play whole games, then learn from their moves, the last move first. The target
    network is updated after each learned turn; with target_update_every N, only in
    every N-th update."""
    tau: Annotated[float, Range(float, 0, 1, above_low=True)] = 0.05
    """Weight of the new parameters in the Polyak average that gives the target
    network."""
    target_update_every: Annotated[int, Range(int, 0, 10**9)] = 0
    """Updates between copies of the parameters to the target network. 0: the
    Polyak average with tau at every update instead."""
    reward_win: Reward = 1.0
    """Reward of a win."""
    reward_draw: Reward = 0.0
    """Reward of a draw; 0 in self-play, which is a zero-sum game."""
    reward_loss: Reward = -1.0
    """Reward of a loss; -reward_win in self-play."""


EpsilonSchedule = Literal["linear", "steps", "exponential"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExplorationSettings(SettingsPart):
    """Epsilon, the share of random moves in training games."""

    epsilon_start: Fraction = 1.0
    """Share of random moves at the first update."""
    epsilon_end: Fraction = 0.5
    """Lowest share of random moves; linear reaches it at the last update. At most
    epsilon_start. Where only epsilon_start is given, the ratio of the two stays."""
    epsilon_schedule: EpsilonSchedule = "linear"
    """Epsilon's schedule: linear; steps (minus epsilon_decay after each tenth of the
    updates); exponential (times epsilon_decay after each finished game)."""
    epsilon_decay: Fraction = 0.1
    """Step size (steps) or factor (exponential); unused with linear."""
    random_opening: Annotated[int, Range(int, 0, 1000)] = 0
    """Maximum number of random moves at the start of a game. The game's place in the
    batch fixes their number: every fourth place has none, the others have 0 to this
    many in turn. The agent learns from these moves too."""


OptimizerKind = Literal["adamw", "sgd"]
Loss = Literal["huber", "mse"]
Precision = Literal["auto", "float32", "bfloat16"]
AgentPrecision = Literal["auto", "float32", "int8"]
"""The weights of a corrected agent: as they were trained, or a network of integers.
auto: integers in games too large to enumerate, if the network can be made of them."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class OptimizerSettings(SettingsPart):
    """The loss of a TD error, and the optimizer that lowers it."""

    optimizer: OptimizerKind = "adamw"
    """adamw, or sgd: plain gradient steps, without momentum and weight decay."""
    loss: Loss = "huber"
    """Loss of a TD error: mse, half its square; huber, the same up to an error of 1
    and linear beyond."""
    learning_rate: Annotated[float, Range(float, 0, 1e38, above_low=True)] = 4e-3
    """Step size at the first update. With a table: the share of the error
    that a visit removes, often called alpha."""
    learning_rate_end: Annotated[float, Range(float, 0, 1e38)] = 0.0
    """Step size at the last update, linear in between. At most learning_rate. Where
    only learning_rate is given, the ratio of the two stays."""
    learning_rate_decay: Fraction = 1.0
    """Factor by which the step size falls after each eval_every updates, on top of the
    line from learning_rate to learning_rate_end. 1: no decay."""
    weight_decay: Fraction = 0.0
    """Decoupled weight decay of adamw."""
    average_span: Fraction = 0.0
    """Grade, save and play with an average of the network's weights over about this
    share of the updates so far. 0: no average."""
    precision: Precision = "auto"
    """dtype of an mlp's matrix products while training (accumulated in float32). auto:
    bfloat16 on a CPU with AMX or AVX-512 BF16, else float32. Grades and play always use
    float32."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReplaySettings(SettingsPart):
    """The buffer of past moves that the agent learns from again."""

    replay_capacity: Annotated[int, Range(int, 0, 2**24)] = 0
    """Moves that the buffer holds; new ones replace the oldest. 0: no buffer, and the
    agent learns from each move once, when it is played."""
    replay_batch: Annotated[int, Range(int, 1, 2**20)] = 256
    """Moves sampled uniformly from the buffer in each update."""
    replay_start: Annotated[int, Range(int, 0, 2**24)] = 1000
    """Moves in the buffer before learning begins. Until then updates are counted, but
    the agent does not change."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class EvaluationSettings(SettingsPart):
    """When and how the agent is graded while it trains."""

    eval_every: Annotated[int, Range(int, 1, 10**9)] = 100
    """Updates between evaluations. The training depends on it with
    start_share, and with learning_rate_decay below 1."""
    eval_games: Annotated[int | None, Range(int, 0, 2**20, optional=True)] = None
    """Games of the sampled match against random in each evaluation: all games,
    each with a random seat. By default 0 in enumerable games, whose results are
    exact, else 1,024."""
    max_positions: Annotated[int, MAX_POSITIONS_RANGE] = 2_000_000
    """Maximum number of positions that an evaluation with start_share enumerates in
    each seat; beyond it counterexamples come from a sample."""

    def num_eval_games(self, is_exact: bool) -> int:
        """Return the number of games of an evaluation's match; 0 means no match.

        `is_exact` says whether the evaluation has exact results without the match.
        """
        if self.eval_games is not None:
            return self.eval_games
        return 0 if is_exact else 1024


BackupRule = Literal["one-ply", "two-ply", "double", "double-tables"]
"""The rule of the TD target.

- one-ply, two-ply: the backup of that name.
- double: one-ply, but the network in training chooses the best next action.
- double-tables: one-ply with two tables; for the target of each, the other table gives
  the value of the best next action.
"""
BACKUP_RULE_OF: dict[tuple[Backup, bool, NetworkKind], BackupRule] = {
    ("one-ply", False, "mlp"): "one-ply",
    ("one-ply", False, "table"): "one-ply",
    ("one-ply", True, "mlp"): "double",
    ("one-ply", True, "table"): "double-tables",
    ("two-ply", False, "mlp"): "two-ply",
    ("two-ply", False, "table"): "two-ply",
}
"""The rule by the settings `backup`, `double` and `network`.

`TargetSettings` refuses `double` with a two-ply backup, so it has no rule.
"""

HeadKind = Literal["value", "value-and-reply", "two-tables"]
"""The values that a network gives for an action: one, to the player to move; two, to
the player to move and to the waiting player; or one from each of two tables."""
HEAD_KIND_OF: dict[BackupRule, HeadKind] = {
    "one-ply": "value",
    "two-ply": "value-and-reply",
    "double": "value",
    "double-tables": "two-tables",
}
"""The heads by the rule of the TD target, which needs their values."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Architecture:
    """What the use of a trained network depends on: its inputs, layers and outputs.

    How the network learns is not part of it, so that agents that differ only in their
    training share the compiled programs of matches and policies.
    """

    env_id: EnvId
    head_kind: HeadKind
    network: NetworkSettings


HyperValue: TypeAlias = "float | jax.Array"
"""A number, a float32 array `()`, or a float32 array `(S,)` for `S` agents.

The equations get single ones: see `equations.ScalarLike`.
"""


class Hyper(NamedTuple):
    """The hyperparameters that a compiled program takes as data.

    Agents that differ only in these numbers share one program. A pytree; the settings
    of the same names describe the fields.
    """

    learning_rate: HyperValue
    learning_rate_end: HyperValue
    weight_decay: HyperValue
    average_span: HyperValue
    epsilon_start: HyperValue
    epsilon_end: HyperValue
    epsilon_decay: HyperValue
    tau: HyperValue
    gamma: HyperValue
    tremble: HyperValue


SEATS_OF_SETTING: dict[SeatSetting, tuple[Seat, ...]] = {
    "both": SEATS,
    "first": ("first",),
    "second": ("second",),
}
"""The seats that an agent learns, by the setting `seat`."""

END_OF_START = {"learning_rate": "learning_rate_end", "epsilon_start": "epsilon_end"}
"""The fields that end a schedule, by the fields that start it."""


def _conflicts(c: SimpleNamespace) -> Iterator[tuple[str, str]]:
    """Yield the settings that contradict others, each with what it must be."""
    game, is_self, is_table = GAMES[c.env_id], c.opponent == SELF, c.network == "table"
    if is_self and c.seat != "both":
        yield "seat", "both in self-play, where it plays both sides"
    if c.double and c.backup == "two-ply":
        yield "double", "false with a two-ply backup"
    if c.reward_loss >= c.reward_win:
        yield "reward_loss", f"below {c.reward_win} (reward_win)"
    if c.reward_draw < c.reward_loss:
        yield "reward_draw", f"at least {c.reward_loss} (reward_loss)"
    if c.reward_draw > c.reward_win:
        yield "reward_draw", f"at most {c.reward_win} (reward_win)"
    if c.epsilon_end > c.epsilon_start:
        yield "epsilon_end", f"at most {c.epsilon_start} (epsilon_start)"
    if c.learning_rate_end > c.learning_rate:
        yield "learning_rate_end", f"at most {c.learning_rate} (learning_rate)"
    needs = ("replay_batch", "replay_start", "num_envs")
    name = max(needs, key=lambda need: getattr(c, need))
    if 0 < c.replay_capacity < (least := getattr(c, name)):
        yield "replay_capacity", f"0 or at least {least:,} ({name})"
    if is_table and not game.enumerable:
        yield "network", f"mlp in {c.env_id}: too many boards for a table"
    if is_table and c.table_key == "hash" and not game.symmetries:
        # Boards are found by observations.
        rule = f"position or after-state in {c.env_id}: its boards have no numbers"
        yield "table_key", rule
    if c.two_planes and not game.stones:
        yield "two_planes", f"false in {c.env_id}: it does not show stones"
    if c.backward and game.max_moves is None:
        yield "backward", f"false in {c.env_id}: its games have no known length"
    if c.backward and c.replay_capacity:
        yield "backward", "false with replay, which has no order"
    if c.start_share and (reason := game_facts.reason_game_is_not_searched(c.env_id)):
        yield "start_share", f"0: {reason}"
    if c.start_share and c.start_positions == COUNTEREXAMPLES and c.random_opening:
        # Random moves would lead away from a counterexample.
        yield "random_opening", f"0 with start_positions {COUNTEREXAMPLES}"
    if is_self:
        # One network plays both sides, and a player's value is the opponent's value
        # with its sign changed: the game must be zero-sum.
        if c.reward_draw != 0:
            yield "reward_draw", "0 in self-play: one's gain is the other's loss"
        if c.reward_win <= 0:
            yield "reward_win", "above 0 in self-play"
        if c.reward_loss != -c.reward_win:
            yield "reward_loss", f"{-c.reward_win} in self-play (-reward_win)"
    else:
        if c.backup == "two-ply":
            rule = "one-ply against an opponent: its reply is part of the move"
            yield "backup", rule
        if c.start_share:
            yield "start_share", f"0 against {c.opponent}: for self-play only"


def _unused(c: SimpleNamespace) -> Iterator[tuple[str, str]]:
    """Yield the settings without effect, each with the setting that causes it.

    Of several causes of one setting, the last one counts.
    """
    if c.num_envs == 1:
        yield "lockstep", "num_envs 1"
    if c.backward:
        yield "lockstep", "backward: all games end in each update"
    if c.network == "table":
        for name in ("hidden_size", "hidden_layers", "two_planes", "filters"):
            yield name, "network table"
        yield "activation", "network table"
        yield "precision", "network table"
    else:
        yield "table_key", "network mlp"
        yield "initial_value", "network mlp"
        if not c.hidden_layers:
            yield "hidden_size", "hidden_layers 0"
            if not c.filters:
                yield "activation", "hidden_layers 0"
    if not GAMES[c.env_id].symmetries:
        yield "canonical", f"env_id {c.env_id}: its symmetries are not listed"
    if c.target_update_every:
        yield "tau", f"target_update_every {c.target_update_every}"
    if not c.gamma:
        for name in ("tremble", "double", "tau", "target_update_every"):
            yield name, "gamma 0"
    if c.epsilon_schedule == "linear":
        yield "epsilon_decay", "epsilon_schedule linear"
    if c.epsilon_start == c.epsilon_end:
        yield "epsilon_schedule", "epsilon_end equal to epsilon_start"
        yield "epsilon_decay", "epsilon_end equal to epsilon_start"
    if c.optimizer == "sgd":
        yield "weight_decay", "optimizer sgd"
    if not c.replay_capacity:
        yield "replay_batch", "replay_capacity 0"
        yield "replay_start", "replay_capacity 0"
    if not c.start_share:
        yield "start_positions", "start_share 0"
        yield "max_positions", "start_share 0"
    elif c.start_positions != COUNTEREXAMPLES:
        yield "max_positions", f"start_positions {c.start_positions}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config:
    """All settings of a run except its seed, in parts.

    Presets and files contain all settings. One that has no effect with the others may
    have any value in its range.

    Raises:
        SettingError: a field is outside its range, or contradicts others.
    """

    run: RunSettings = field(default_factory=RunSettings)
    opponent: OpponentSettings = field(default_factory=OpponentSettings)
    network: NetworkSettings = field(default_factory=NetworkSettings)
    target: TargetSettings = field(default_factory=TargetSettings)
    exploration: ExplorationSettings = field(default_factory=ExplorationSettings)
    optimizer: OptimizerSettings = field(default_factory=OptimizerSettings)
    replay: ReplaySettings = field(default_factory=ReplaySettings)
    evaluation: EvaluationSettings = field(default_factory=EvaluationSettings)

    def __post_init__(self) -> None:
        for name, rule in _conflicts(self._by_name):
            raise ConflictError(name, rule, self.value(name))

    @classmethod
    def of(cls, /, **fields: object) -> "Config":
        """Return the settings with these fields and defaults for the others."""
        return cls().replace(**fields)

    def replace(self, /, **fields: object) -> "Config":
        """Return the settings with these fields changed.

        A schedule whose start is given alone keeps the ratio of its end to its start.

        Raises:
            SettingError: a field is unknown, outside its range, or contradicts others.
        """
        values: dict[str, Any] = {}
        for name, value in fields.items():
            if name not in PART_OF_FIELD:
                hint = did_you_mean(name, PART_OF_FIELD)
                rule = "the name of a setting"
                raise SettingError(_printable(name), rule, value, hint)
            # A number of NumPy or JAX becomes one of Python, for JSON and messages.
            item = getattr(value, "item", None)
            values[name] = value if item is None else item()
        changes: dict[str, dict[str, object]] = {}
        for name, value in (self._ends_that_follow(values) | values).items():
            changes.setdefault(PART_OF_FIELD[name], {})[name] = value
        parts = {
            part: dataclasses.replace(getattr(self, part), **part_changes)
            for part, part_changes in changes.items()
        }
        return dataclasses.replace(self, **parts)

    def _ends_that_follow(self, values: dict[str, Any]) -> dict[str, float]:
        """Return the new ends of the schedules whose start these values change.

        Raises:
            SettingError: a start is outside its range.
        """
        ends: dict[str, float] = {}
        for start, end in END_OF_START.items():
            old_start, old_end = getattr(self.hyper, start), getattr(self.hyper, end)
            if start in values and values[start] != old_start:
                check_setting(start, setting_type(start), values[start])
                ratio = old_end / old_start if old_start else 0.0
                ends[end] = values[start] * ratio
        return ends

    def as_dict(self) -> dict[str, Setting]:
        """Return the values of all fields, by name."""
        return {name: self.value(name) for name in PART_OF_FIELD}

    @staticmethod
    def after_reading(parts: dict[str, dict[str, object]]) -> None:
        """Raise `SettingError` for a name in a file's settings that has no field.

        The settings have an object for each part; their values are not checked. A
        misspelled setting would have no effect.
        """
        for part, fields in parts.items():
            if part not in PART_TYPES:
                raise _wrong_name(part, fields, "a part of the settings", PART_TYPES)
            for name, value in fields.items():
                if PART_OF_FIELD.get(name) != part:
                    kind = f"the name of a setting of the part {part}"
                    raise _wrong_name(name, value, kind, PART_OF_FIELD)

    def value(self, name: str) -> Setting:
        """Return the value of a field."""
        return getattr(getattr(self, PART_OF_FIELD[name]), name)

    @property
    def _by_name(self) -> SimpleNamespace:
        """All settings, by their names."""
        return SimpleNamespace(**self.as_dict())

    def without_effect(self) -> dict[str, str]:
        """Return the fields without effect, each with the setting that causes it."""
        return dict(_unused(self._by_name))

    def check_changes(self, before: "Config") -> None:
        """Raise `ConflictError` if a changed field has no effect.

        `before` are the settings before the user's changes, for instance a preset. A
        change of the network from a table to an mlp needs a new learning rate too: a
        table's is a share of the error, which is far too high for an mlp.
        """
        for name, cause in self.without_effect().items():
            if self.value(name) != before.value(name):
                rule = f"left out: it has no effect with {cause}"
                raise ConflictError(name, rule, self.value(name))
        table_to_mlp = before.network.is_table and not self.network.is_table
        rate = self.optimizer.learning_rate
        if table_to_mlp and rate == before.optimizer.learning_rate:
            rule = f"table, or given with another learning_rate than {rate}, a table's"
            raise ConflictError("network", rule, self.network.network)

    @property
    def env_id(self) -> EnvId:
        """The game."""
        return self.run.env_id

    @property
    def seats(self) -> tuple[Seat, ...]:
        """The seats that the agent learns."""
        return SEATS_OF_SETTING[self.opponent.seat]

    @property
    def backup_rule(self) -> BackupRule:
        """The rule of the TD target."""
        target = self.target
        return BACKUP_RULE_OF[target.backup, target.double, self.network.network]

    @functools.cached_property
    def architecture(self) -> Architecture:
        """The inputs, layers and outputs of the network."""
        return Architecture(
            env_id=self.env_id,
            head_kind=HEAD_KIND_OF[self.backup_rule],
            network=self.network,
        )

    @property
    def finds_counterexamples(self) -> bool:
        """Whether evaluations search for counterexamples, where new games start."""
        return self.run.finds_counterexamples

    @property
    def hyper(self) -> Hyper:
        """The hyperparameters that a compiled program takes as data."""
        numbers: dict[str, Any] = {name: self.value(name) for name in Hyper._fields}
        return Hyper(**numbers)

    @functools.cached_property
    def without_hyper(self) -> "Config":
        """The settings that a program is compiled for: those of `Hyper` are None.

        A program that reads such a number from here, instead of from its data, fails
        when it is traced.
        """
        static = copy.deepcopy(self)
        for name in Hyper._fields:
            object.__setattr__(getattr(static, PART_OF_FIELD[name]), name, None)
        return static


PART_TYPES: dict[str, type[SettingsPart]] = typing.get_type_hints(Config)
"""The types of the parts of a `Config`, by name."""
PART_OF_FIELD = {
    name: part for part, type_ in PART_TYPES.items() for name in field_types(type_)
}
"""The part that has a field, by the field's name; field names are unique."""


def setting_type(name: str) -> object:
    """Return the type of a field, with its range."""
    return field_types(PART_TYPES[PART_OF_FIELD[name]])[name]


def _wrong_name(
    name: str, value: object, kind: str, names: Iterable[str]
) -> SettingError:
    """Return the error of a name in an object that is not one of these names."""
    if name in PART_OF_FIELD:
        return SettingError(name, f"in the part {PART_OF_FIELD[name]}", value)
    return SettingError(_printable(name), kind, value, did_you_mean(name, names))


def _printable(name: str) -> str:
    """Return a name for a message; a damaged file may have any characters in it."""
    return name if name.isprintable() else ascii(name)[1:-1]
