"""The check of types and shapes that tests add to functions of the package."""

from typing import Self

from beartype import beartype

_local = {}
_HOLDERS_OF_LEAVES = {
    f"{name}.__init__" for name in ("Best", "DQN", "Learner", "RunState", "TrainState")
}
"""Dataclasses that JAX also makes of shapes, shardings or axes in place of arrays."""


def checked(function):
    """Return the function with types checked by beartype.

    jaxtyping passes a function with a signature and no body. So all definitions of a
    local function share one check: a run of the tests makes 20,000 definitions.
    """
    if function.__qualname__ in _HOLDERS_OF_LEAVES:
        return function
    # beartype refuses `Self` in a method without its class.
    known = {name: t for name, t in function.__annotations__.items() if t is not Self}
    function.__annotations__ = known
    if "<locals>" not in function.__qualname__:
        return beartype(function)
    signature = tuple((name, repr(t)) for name, t in function.__annotations__.items())
    key = (function.__module__, function.__qualname__, signature)
    if key not in _local:
        _local[key] = beartype(function)
    return _local[key]
