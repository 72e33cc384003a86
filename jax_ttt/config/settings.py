"""The settings of a run.

`Config` has them all. A field's type says which values it may have, its metadata in
which group of the help it stands and whether it is a number that a compiled program
takes as data, and its docstring is the help of its flag.

Imports no JAX, so that bad settings are refused immediately; `dqn.learner` makes
`Config` a pytree.
"""

import dataclasses
import functools
import shlex
import typing
from collections.abc import Iterator
from dataclasses import field
from typing import Annotated, Any, Literal

from msgspec import Meta

from jax_ttt.config import game_facts, own_code
from jax_ttt.config.errors import ConflictError, SettingError, did_you_mean
from jax_ttt.config.game_facts import GAMES, SEATS, EnvId, Seat, SeatSetting
from jax_ttt.config.own_code import OwnCode
from jax_ttt.config.ranges import (
    Fraction,
    MaxPositions,
    Reward,
    Setting,
    Text,
    check_value,
)

SELF = "self"
"""The name of the opponent in self-play."""
COUNTEREXAMPLES = "counterexamples"
"""The pool that evaluations fill."""
NO_AGENT = "none"
"""The agent of a training that begins with random weights."""

NetworkKind = Literal["mlp", "table"]
Activation = Literal["relu", "tanh", "sigmoid"]
TableKey = Literal["position", "after-state"]
Backup = Literal["one-ply", "two-ply"]
EpsilonSchedule = Literal["linear", "steps", "exponential"]
OptimizerKind = Literal["adamw", "sgd"]
Loss = Literal["huber", "mse"]
Precision = Literal["auto", "float32", "bfloat16"]
AgentPrecision = Literal["auto", "float32", "int8"]
"""The weights of a corrected agent: as they were trained, or a network of integers.
auto: integers in games too large to enumerate, if the network can be made of them."""

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

`Config` refuses `double` with a two-ply backup, so it has no rule.
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
    training share the compiled programs of matches and policies. The settings of the
    same names describe the fields.
    """

    env_id: EnvId
    head_kind: HeadKind
    network: NetworkKind
    canonical: bool
    hidden_sizes: tuple[int, ...]
    """Neurons in each hidden layer; none in a table."""
    two_planes: bool
    filters: int
    activation: Activation
    table_key: TableKey
    initial_value: float
    own: OwnCode | None = None
    """The class of a user's network; None: one of this package."""

    @property
    def is_table(self) -> bool:
        """Whether the network is a table."""
        return self.network == "table"


SEATS_OF_SETTING: dict[SeatSetting, tuple[Seat, ...]] = {
    "both": SEATS,
    "first": ("first",),
    "second": ("second",),
}
"""The seats that an agent learns, by the setting `seat`."""

END_OF_START = {"learning_rate": "learning_rate_end", "epsilon_start": "epsilon_end"}
"""The fields that end a schedule, by the fields that start it."""


def _conflicts(c: "Config") -> Iterator[tuple[str, str]]:
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
    if is_table and c.own is not None and c.own.network:
        yield "network", f"mlp, or left out, with the network {c.own.network}"
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


def _unused(c: "Config") -> Iterator[tuple[str, str]]:
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
    elif c.own is not None and c.own.network:
        for name in ("hidden_size", "hidden_layers", "filters"):
            yield name, f"network {c.own.network}"
        for name in ("activation", "precision", "table_key", "initial_value"):
            yield name, f"network {c.own.network}"
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


GROUP = "group"
"""The field's metadata: the title of its group in the help, and what the group is."""
TRACED = {"traced": True}
"""The metadata of a number that a compiled program takes as data.

Agents that differ only in such numbers share one program.
"""
_GAME = {
    GROUP: (
        "game and length",
        "The game, the number of games at once and the length of the training.",
    )
}
_OPPONENT = {
    GROUP: (
        "opponent",
        "The opponent that the agent trains against, and the agent's seat.",
    )
}
_NETWORK = {GROUP: ("network", "The function from boards to action values.")}
_TARGET = {
    GROUP: (
        "TD target",
        "The TD target: the value that an action's value is moved towards.",
    )
}
_EXPLORATION = {
    GROUP: ("exploration", "Epsilon, the share of random moves in training games.")
}
_OPTIMIZER = {
    GROUP: (
        "loss and optimizer",
        "The loss of a TD error, and the optimizer that lowers it.",
    )
}
_REPLAY = {
    GROUP: ("replay", "The buffer of past moves that the agent learns from again.")
}
_EVALUATION = {
    GROUP: ("evaluation", "When and how the agent is graded while it trains.")
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config:
    """All settings of a run except its seed.

    Presets and files contain all settings. One that has no effect with the others may
    have any value in its range.

    Raises:
        SettingError: a field is outside its range, or contradicts others.
    """

    env_id: EnvId = field(default=game_facts.DEFAULT_GAME, metadata=_GAME)
    """The game to learn."""
    num_envs: Annotated[int, Meta(ge=1, le=2**20)] = field(default=256, metadata=_GAME)
    """Games played at once. Each update plays one move in each of them."""
    num_updates: Annotated[int, Meta(ge=1, le=10**9)] = field(
        default=1000, metadata=_GAME
    )
    """Updates. Each takes one gradient step; with backward, one for each turn of a
    game; with replay, none before replay_start. The schedules of epsilon and of the
    learning rate end with the last update."""
    lockstep: bool = field(default=False, metadata=_GAME)
    """Restart all games together after the last one has ended, as J. Antognini's
    program does."""
    start_share: Fraction = field(default=0.0, metadata=_GAME)
    """Share of the new games that start in the pool of start_positions. Only in
    self-play, in games that are too large to enumerate."""
    start_positions: Text = field(default=COUNTEREXAMPLES, metadata=_GAME)
    """counterexamples: those of the latest evaluations. A counterexample is a position
    in which the agent had a choice, on a line of play that beats it. Each evaluation
    searches all positions that the agent reaches for them. Or a corrected agent's file:
    the positions of its corrections, without their moves."""
    start_agent: Text = field(default=NO_AGENT, metadata=_GAME)
    """A saved agent whose weights the training begins with, or none: random weights."""
    opponent: Text = field(default=SELF, metadata=_OPPONENT)
    """self (self-play), or any player of the arena: random, minimax, blend:0.7:minimax,
    a saved agent's path and others."""
    seat: SeatSetting = field(default="both", metadata=_OPPONENT)
    """The agent's seat against an opponent: first, second, or both (a random one in
    each game)."""
    first_move: Annotated[int, Meta(ge=0, le=2**16)] | None = field(
        default=None, metadata=_OPPONENT
    )
    """The first move of every training game; without this flag, the players choose it.
    Evaluations leave it to them."""
    network: NetworkKind = field(default="mlp", metadata=_NETWORK)
    """mlp: a multilayer perceptron. table: a lookup table, see table_key; only in
    enumerable games. With a preset that trains a table, mlp needs a learning_rate too:
    a table's is a share of the error."""
    canonical: bool = field(default=True, metadata=_NETWORK)
    """Map rotated and mirrored boards to one canonical board."""
    hidden_size: Annotated[int, Meta(ge=1, le=2**14)] = field(
        default=128, metadata=_NETWORK
    )
    """Neurons in each hidden layer of an mlp."""
    hidden_layers: Annotated[int, Meta(ge=0, le=16)] = field(
        default=2, metadata=_NETWORK
    )
    """Hidden layers of an mlp. 0: a linear function."""
    two_planes: bool = field(default=False, metadata=_NETWORK)
    """Input of an mlp for a board of stones: two planes of 0 and 1, the mover's stones
    and the opponent's, instead of one plane of +1 and -1."""
    filters: Annotated[int, Meta(ge=0, le=2**10)] = field(default=0, metadata=_NETWORK)
    """Filters of a convolution before an mlp's hidden layers. Each sees every patch of
    4 x 4 cells. 0: no convolution."""
    activation: Activation = field(default="relu", metadata=_NETWORK)
    """Activation function of an mlp's hidden layers and filters."""
    table_key: TableKey = field(default="position", metadata=_NETWORK)
    """A table's rows. position: the game's positions; after-state: the positions that
    moves lead to, one value each."""
    initial_value: Reward = field(default=0.0, metadata=_NETWORK)
    """Initial value of a table's entries."""
    backup: Backup = field(default="one-ply", metadata=_TARGET)
    """one-ply: bootstrap from the next mover's value. two-ply (self-play only):
    bootstrap from a second head, which learns what each reply of the opponent is worth
    to the waiting player."""
    tremble: Fraction = field(default=0.5, metadata=_TARGET | TRACED)
    """Probability, in the TD target only, that the next mover plays a random move: from
    0 (the plain maximum) to 1. With two-ply, each player assumes it of the opponent
    only. A higher one prefers moves that set traps."""
    gamma: Fraction = field(default=1.0, metadata=_TARGET | TRACED)
    """Discount per move; its sign comes from the player to move next."""
    double: bool = field(default=False, metadata=_TARGET)
    """Double DQN: the network in training chooses the best next action, and the target
    network gives its value. With a table: two tables; each move updates one
    of them, the last move of a game both."""
    backward: bool = field(default=False, metadata=_TARGET)
    """Play whole games, then learn from their moves, the last move first. The target
    network is updated after each learned turn; with target_update_every N, only in
    every N-th update."""
    tau: Annotated[float, Meta(gt=0, le=1)] = field(
        default=0.05, metadata=_TARGET | TRACED
    )
    """Weight of the new parameters in the Polyak average that gives the target
    network."""
    target_update_every: Annotated[int, Meta(ge=0, le=10**9)] = field(
        default=0, metadata=_TARGET
    )
    """Updates between copies of the parameters to the target network. 0: the
    Polyak average with tau at every update instead."""
    reward_win: Reward = field(default=1.0, metadata=_TARGET)
    """Reward of a win."""
    reward_draw: Reward = field(default=0.0, metadata=_TARGET)
    """Reward of a draw; 0 in self-play, which is a zero-sum game."""
    reward_loss: Reward = field(default=-1.0, metadata=_TARGET)
    """Reward of a loss; -reward_win in self-play."""
    epsilon_start: Fraction = field(default=1.0, metadata=_EXPLORATION | TRACED)
    """Share of random moves at the first update."""
    epsilon_end: Fraction = field(default=0.5, metadata=_EXPLORATION | TRACED)
    """Lowest share of random moves; linear reaches it at the last update. At most
    epsilon_start. Where only epsilon_start is given, the ratio of the two stays."""
    epsilon_schedule: EpsilonSchedule = field(default="linear", metadata=_EXPLORATION)
    """Epsilon's schedule: linear; steps (minus epsilon_decay after each tenth of the
    updates); exponential (times epsilon_decay after each finished game)."""
    epsilon_decay: Fraction = field(default=0.1, metadata=_EXPLORATION | TRACED)
    """Step size (steps) or factor (exponential); unused with linear."""
    random_opening: Annotated[int, Meta(ge=0, le=1000)] = field(
        default=0, metadata=_EXPLORATION
    )
    """Maximum number of random moves at the start of a game. The game's place in the
    batch fixes their number: every fourth place has none, the others have 0 to this
    many in turn. The agent learns from these moves too."""
    optimizer: OptimizerKind = field(default="adamw", metadata=_OPTIMIZER)
    """adamw, or sgd: plain gradient steps, without momentum and weight decay."""
    loss: Loss = field(default="huber", metadata=_OPTIMIZER)
    """Loss of a TD error: mse, half its square; huber, the same up to an error of 1
    and linear beyond."""
    learning_rate: Annotated[float, Meta(gt=0, le=1e38)] = field(
        default=4e-3, metadata=_OPTIMIZER | TRACED
    )
    """Step size at the first update. With a table: the share of the error
    that a visit removes, often called alpha."""
    learning_rate_end: Annotated[float, Meta(ge=0, le=1e38)] = field(
        default=0.0, metadata=_OPTIMIZER | TRACED
    )
    """Step size at the last update, linear in between. At most learning_rate. Where
    only learning_rate is given, the ratio of the two stays."""
    learning_rate_decay: Fraction = field(default=1.0, metadata=_OPTIMIZER)
    """Factor by which the step size falls after each eval_every updates, on top of the
    line from learning_rate to learning_rate_end. 1: no decay."""
    weight_decay: Fraction = field(default=0.0, metadata=_OPTIMIZER | TRACED)
    """Decoupled weight decay of adamw."""
    average_span: Fraction = field(default=0.0, metadata=_OPTIMIZER | TRACED)
    """Grade, save and play with an average of the network's weights over about this
    share of the updates so far. 0: no average."""
    precision: Precision = field(default="auto", metadata=_OPTIMIZER)
    """dtype of an mlp's matrix products while training (accumulated in float32). auto:
    bfloat16 on a CPU with AMX or AVX-512 BF16, else float32. Grades and play always use
    float32."""
    replay_capacity: Annotated[int, Meta(ge=0, le=2**24)] = field(
        default=0, metadata=_REPLAY
    )
    """Moves that the buffer holds; new ones replace the oldest. 0: no buffer, and the
    agent learns from each move once, when it is played."""
    replay_batch: Annotated[int, Meta(ge=1, le=2**20)] = field(
        default=256, metadata=_REPLAY
    )
    """Moves sampled uniformly from the buffer in each update."""
    replay_start: Annotated[int, Meta(ge=0, le=2**24)] = field(
        default=1000, metadata=_REPLAY
    )
    """Moves in the buffer before learning begins. Until then updates are counted, but
    the agent does not change."""
    eval_every: Annotated[int, Meta(ge=1, le=10**9)] = field(
        default=100, metadata=_EVALUATION
    )
    """Updates between evaluations. The training depends on it with
    start_share, and with learning_rate_decay below 1."""
    eval_games: Annotated[int, Meta(ge=0, le=2**20)] | None = field(
        default=None, metadata=_EVALUATION
    )
    """Games of the sampled match against random in each evaluation: all games,
    each with a random seat. By default 0 in enumerable games, whose results are
    exact, else 1,024."""
    max_positions: MaxPositions = field(default=2_000_000, metadata=_EVALUATION)
    """Maximum number of positions that an evaluation with start_share enumerates in
    each seat; beyond it counterexamples come from a sample."""
    own: OwnCode | None = field(default=None)
    """The learner and the network of the user, with their settings."""

    def __post_init__(self) -> None:
        for name, kind in setting_types().items():
            # A whole number for a float becomes one, as a file gives it back.
            value = check_value(name, kind, getattr(self, name))
            object.__setattr__(self, name, value)
        for name, rule in _conflicts(self):
            raise ConflictError(name, rule, getattr(self, name))

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
            # A number of NumPy or JAX becomes one of Python, for JSON and messages.
            item = getattr(value, "item", None)
            values[name] = value if item is None else item()
        own = values.pop("own", self.own)
        if own is not None and not isinstance(own, OwnCode):
            rule = "left out: jax_ttt.train sets it by learner=... and network=..."
            raise SettingError("own", rule, own)
        of_learner = values.keys() & ({} if own is None else own.setting_types)
        if own is not None:
            changes = {name: values.pop(name) for name in of_learner}
            own = own_code.with_settings(own, changes)
        for name, value in values.items():
            _check_name(name, value)
        for start, end in END_OF_START.items():
            old_start, old_end = getattr(self, start), getattr(self, end)
            if start in values and end not in values and values[start] != old_start:
                check_value(start, setting_types()[start], values[start])
                ratio = old_end / old_start if old_start else 0.0
                values[end] = values[start] * ratio
        return dataclasses.replace(self, own=own, **values)

    def as_dict(self) -> dict[str, Setting]:
        """Return the values of all fields, by name; `own` only where it is given."""
        values = dataclasses.asdict(self)
        if self.own is None:
            del values["own"]
        return values

    @staticmethod
    def after_reading(fields: dict[str, object]) -> None:
        """Raise `SettingError` for a name in a file's settings that has no field.

        A misspelled setting would have no effect.
        """
        for name, value in fields.items():
            if name != "own":
                _check_name(name, value)

    def without_effect(self) -> dict[str, str]:
        """Return the fields without effect, each with the setting that causes it."""
        return dict(_unused(self))

    def check_changes(self, before: "Config") -> None:
        """Raise `ConflictError` if a changed field has no effect.

        `before` are the settings before the user's changes, for instance a preset. A
        change of the network from a table to an mlp needs a new learning rate too: a
        table's is a share of the error, which is far too high for an mlp.
        """
        for name, cause in self.without_effect().items():
            if getattr(self, name) != getattr(before, name):
                rule = f"left out: it has no effect with {cause}"
                raise ConflictError(name, rule, getattr(self, name))
        rate = self.learning_rate
        if before.is_table and not self.is_table and rate == before.learning_rate:
            rule = f"table, or given with another learning_rate than {rate}, a table's"
            raise ConflictError("network", rule, self.network)

    @property
    def network_name(self) -> str:
        """The name of the network's class if it is a user's, else mlp or table."""
        return (self.own and self.own.network) or self.network

    @property
    def is_self_play(self) -> bool:
        """Whether the agent plays both sides."""
        return self.opponent == SELF

    @property
    def is_table(self) -> bool:
        """Whether the network is a table."""
        return self.network == "table"

    @property
    def seats(self) -> tuple[Seat, ...]:
        """The seats that the agent learns."""
        return SEATS_OF_SETTING[self.seat]

    @property
    def counted_player(self) -> str:
        """The player whose results a run counts, for messages."""
        return "the first player" if self.is_self_play else "the agent"

    @property
    def pairing(self) -> str:
        """The opponent, for messages: `in self-play`, or `against random`."""
        return "in self-play" if self.is_self_play else f"against {self.opponent}"

    @property
    def finds_counterexamples(self) -> bool:
        """Whether evaluations search for counterexamples, where new games start."""
        return self.start_share > 0 and self.start_positions == COUNTEREXAMPLES

    @property
    def can_be_proven(self) -> bool:
        """Whether evaluations during the run can prove the agent unbeatable."""
        return GAMES[self.env_id].enumerable or self.finds_counterexamples

    def num_eval_games(self, is_exact: bool) -> int:
        """Return the number of games of an evaluation's match; 0 means no match.

        `is_exact` says whether the evaluation has exact results without the match.
        """
        if self.eval_games is not None:
            return self.eval_games
        return 0 if is_exact else 1024

    @property
    def backup_rule(self) -> BackupRule:
        """The rule of the TD target."""
        return BACKUP_RULE_OF[self.backup, self.double, self.network]

    @property
    def file_flags(self) -> str:
        """The flags that a command line needs for a user's game and learner.

        They begin with a space; empty without any.
        """
        rules = GAMES[self.env_id].rules_file
        text = f" --rules {shlex.quote(rules)}" if rules else ""
        return text if self.own is None else text + self.own.flag

    @functools.cached_property
    def architecture(self) -> Architecture:
        """The inputs, layers and outputs of the network."""
        num_layers = 0 if self.is_table else self.hidden_layers
        return Architecture(
            env_id=self.env_id,
            head_kind=HEAD_KIND_OF[self.backup_rule],
            network=self.network,
            canonical=self.canonical,
            hidden_sizes=(self.hidden_size,) * num_layers,
            two_planes=self.two_planes,
            filters=self.filters,
            activation=self.activation,
            table_key=self.table_key,
            initial_value=self.initial_value,
            own=None if self.own is None else self.own.of_network,
        )


@functools.cache
def setting_types() -> dict[str, Any]:
    """Return the types of all settings, with their ranges, by name.

    Those of a user's learner are in `Config.own`.
    """
    types = typing.get_type_hints(Config, include_extras=True)
    del types["own"]
    return types


def types_of(config: "Config") -> dict[str, Any]:
    """Return the types of all settings, with those of the learner of a user."""
    return setting_types() | ({} if config.own is None else config.own.setting_types)


def traced_names() -> tuple[str, ...]:
    """Return the names of the numbers that a compiled program takes as data."""
    fields = dataclasses.fields(Config)
    return tuple(
        field.name for field in fields if TRACED.items() <= field.metadata.items()
    )


def _check_name(name: str, value: object) -> None:
    """Raise `SettingError` unless there is a setting of this name."""
    if name not in setting_types():
        # A damaged file may have any characters in it.
        shown = name if name.isprintable() else ascii(name)[1:-1]
        hint = did_you_mean(name, setting_types())
        raise SettingError(shown, "the name of a setting", value, hint)
