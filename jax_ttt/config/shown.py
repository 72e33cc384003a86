"""Results that print as text, and that notebooks show as HTML.

A record of a result may be in a folder that knows neither text nor pictures. Such a
record is a `Shown`, and `jax_ttt.api.shown` registers how each kind is shown. The
results that `jax_ttt.api` defines show themselves.
"""

import functools


class Shown:
    """A result that prints as text, and that a notebook shows as HTML."""

    __slots__ = ()

    def __repr__(self) -> str:
        return text(self)

    def _repr_html_(self) -> str:
        return html(self)


@functools.singledispatch
def text(result: object) -> str:
    """Return how a result prints; without `jax_ttt.api`, as any object."""
    return object.__repr__(result)


@functools.singledispatch
def html(result: object) -> str:
    """Return what a notebook shows.

    Raises:
        TypeError: `jax_ttt.api` is not imported.
    """
    raise TypeError(f"no HTML of {type(result).__name__} is registered")


@functools.singledispatch
def verdict_of(result: object) -> str:
    """Return a result in words.

    Raises:
        TypeError: `jax_ttt.api` is not imported.
    """
    raise TypeError(f"no verdict of {type(result).__name__} is registered")
