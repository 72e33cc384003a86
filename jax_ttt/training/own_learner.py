"""The learner and the network of a user, checked before a run."""

import functools
import inspect
import re
import types
from collections.abc import Callable, Hashable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from jax_ttt.config import own_code
from jax_ttt.config.errors import Refused
from jax_ttt.config.own_code import OwnCode
from jax_ttt.config.settings import setting_types
from jax_ttt.dqn import metrics as training_metrics
from jax_ttt.dqn.base_learner import Learner, Progress, static_settings
from jax_ttt.dqn.greedy_player import GreedyPlayer
from jax_ttt.dqn.learner import DQN
from jax_ttt.dqn.metrics import Metrics
from jax_ttt.games import pgx_games
from jax_ttt.networks import q_network
from jax_ttt.runtime import pytrees
from jax_ttt.runtime.words import argument_phrase

_ADDRESS = re.compile("0x[0-9a-f]+")


_checked: set[Hashable] = set()
"""The classes and the static settings of the learners that were checked."""


def own_code_of(learner: object, network: object) -> OwnCode | None:
    """Return the record of the classes that a user gives; None for None and None.

    Raises:
        Refused: they are not a subclass of `Learner` and of `flax.nnx.Module`, or are
            of two files.
    """
    if learner is DQN:  # our own, which an agent's file need not name
        learner = None
    network = network or getattr(learner, "network_class", None)
    if learner is None and network is None:
        return None
    for name, kind, parent in (
        ("learner", learner, Learner),
        ("network", network, nnx.Module),
    ):
        is_right = inspect.isclass(kind) and issubclass(kind, parent)
        if kind is not None and not is_right:
            rule = "a subclass of jax_ttt.Learner, or a file that defines one"
            if parent is nnx.Module:
                rule = "mlp, table or a subclass of flax.nnx.Module"
            raise Refused(f"{name} must be {rule}, got {argument_phrase(kind)}")
    return own_code.register(
        _class(learner),
        _class(network),
        setting_types(),
        forget=pgx_games.forget_games,
    )


def _class(kind: object) -> type | None:
    return kind if inspect.isclass(kind) else None


def own_code_of_module(source: str, module: types.ModuleType) -> OwnCode:
    """Return the record of the last learner of a module; without one, of a network.

    A class uses those above it, so the last one is the whole. A learner names its
    network, if it has one, as `network_class`.

    Raises:
        Refused: the module has neither.
    """
    classes = [
        value
        for value in vars(module).values()
        if inspect.isclass(value) and value.__module__ == module.__name__
    ]
    learners = [kind for kind in classes if issubclass(kind, Learner)]
    networks = [kind for kind in classes if issubclass(kind, nnx.Module)]
    if not learners and not networks:
        rule = "it defines no subclass of jax_ttt.Learner or of flax.nnx.Module"
        raise Refused(f"{source}: {rule}")
    learner = learners[-1] if learners else None
    own = own_code_of(learner, None if learners else networks[-1])
    assert own is not None
    return own


def check_learner(learner: Learner) -> None:
    """Check a learner with classes of a user, of one agent, by tracing it.

    Raises:
        Refused: a method raises an error; `update` returns another state than it gets,
            or no metrics; `policy` returns no player; the network does not give one
            value per action; or the program differs from trace to trace, as it does if
            it draws random numbers from NumPy.
    """
    own = learner.config.own
    if own is None:
        return
    # Equal settings of a sweep are checked once.
    program = type(learner), own.network_class, static_settings(learner.config)
    if program in _checked:
        return
    name = own.learner or own.network
    if own.network:
        _check_network(own.network, learner.network)
    key = jax.random.key(0)
    start = _trace(f"{name}.init", learner.start, key)
    before = start.own if isinstance(start, Progress) else start

    def update(key: jax.Array, state: Any) -> Any:  # noqa: ANN401
        return learner.update(state, learner.draw(key, 0))

    result = _trace(f"{name}.update", update, key, before)
    if not (isinstance(result, tuple) and len(result) == 2):
        raise Refused(f"{name}.update must return a state and metrics")
    after, metrics = result
    if not isinstance(metrics, Metrics):
        rule = "must return the metrics of self.metrics(...) second"
        raise Refused(f"{name}.update {rule}, got {argument_phrase(metrics)}")
    if difference := _difference(before, after):
        raise Refused(f"{name}.update returns another state than it gets: {difference}")
    _check_metrics(name, metrics)
    player = _trace(f"{name}.policy", learner.policy, before)
    if not isinstance(player, GreedyPlayer):
        rule = "must return a player of self.player(...)"
        raise Refused(f"{name}.policy {rule}, got {argument_phrase(player)}")
    if difference := _difference(
        q_network.param_shapes(learner.network), player.params
    ):
        rule = "the player's weights must be those of init_params"
        raise Refused(f"{name}.policy: {rule}: {difference}")
    _checked.add(program)


def _check_metrics(name: str, metrics: Metrics) -> None:
    """Raise `Refused` unless each metric of an update is one number."""
    expected = pytrees.leaves_by_name(training_metrics.no_updates())
    for metric, value in pytrees.leaves_by_name(metrics).items():
        kind = expected[metric].dtype
        if value.shape != () or value.dtype != kind:
            got = f"{value.dtype.name}{list(value.shape)}"
            rule = f"the metric {metric} must be one number, {kind.name}"
            raise Refused(f"{name}.update: {rule}, got {got}")


def _check_network(name: str, network: q_network.Network) -> None:
    """Raise `Refused` unless a user's network gives one value for each action."""
    sizes = pgx_games.sizes(network.env_id)
    heads = q_network.HEADS[network.architecture.head_kind].num
    shape = q_network.planes_shape(network.architecture)

    def values(planes: jax.Array) -> Any:  # noqa: ANN401
        return q_network.own_module(network.architecture, nnx.Rngs(0))(planes)

    boards = jax.ShapeDtypeStruct((2, *shape), np.float32)
    try:
        module = nnx.eval_shape(
            lambda: q_network.own_module(network.architecture, nnx.Rngs(0))
        )
        out = jax.eval_shape(values, boards)
    except Exception as error:
        raise _refusal(name, error) from error
    for _, variable in nnx.to_flat_state(nnx.state(module)):
        if not isinstance(variable, nnx.Param):
            got = type(variable).__name__
            raise Refused(f"{name}: all its state must be nnx.Param, got {got}")
    expected = (2, heads * sizes.num_actions)
    if getattr(out, "shape", None) != expected:
        got = getattr(out, "shape", type(out).__name__)
        raise Refused(
            f"{name}: for 2 boards its values must have the shape {expected}, as "
            f"num_values is {expected[1]}, got {got}"
        )


def _trace(name: str, function: Callable[..., Any], *arguments: object) -> Any:  # noqa: ANN401
    """Return the shapes of what a method returns; refuse one that changes.

    It is traced twice, since Python draws or counts anew each time.
    """

    def trace() -> Any:  # noqa: ANN401
        # JAX keeps the program of a function, so each trace is of a new one.
        fresh = functools.partial(lambda *args: function(*args))
        return jax.make_jaxpr(fresh, return_shape=True)(*arguments)

    try:
        programs = [trace(), trace()]
    except Exception as error:
        raise _refusal(name, error) from error
    (first, result), (second, _) = programs
    # Texts have the addresses of functions.
    texts = [_ADDRESS.sub("", str(program)) for program in (first, second)]
    same = texts[0] == texts[1] and all(
        np.array_equal(np.asarray(one), np.asarray(other), equal_nan=True)
        for one, other in zip(first.consts, second.consts, strict=True)
        if not jnp.issubdtype(jnp.asarray(one).dtype, jax.dtypes.prng_key)
    )
    if not same:
        rule = "it must draw random numbers from its key only, not from NumPy or Python"
        raise Refused(f"{name} is another program each time: {rule}")
    return result


def _refusal(name: str, error: Exception) -> Refused:
    if isinstance(error, Refused):
        return error
    reason = (str(error).strip() or type(error).__name__).splitlines()[0]
    return Refused(f"{name} raises {type(error).__name__}: {reason}")


def _difference(before: object, after: object) -> str:
    """Return the first difference of two pytrees of shapes; empty if they are alike."""
    old, new = (pytrees.leaves_by_name(tree) for tree in (before, after))
    for name in [*old, *(new.keys() - old.keys())]:
        if name not in new:
            return f"{name} is missing"
        if name not in old:
            return f"{name} is new"
        one, other = (f"{x.dtype.name}{list(x.shape)}" for x in (old[name], new[name]))
        if one != other:
            return f"{name} is {one} before and {other} after"
    if jax.tree.structure(before) != jax.tree.structure(after):
        return "other containers"
    return ""
