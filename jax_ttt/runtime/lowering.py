"""Programs ready to compile, kept so that a later process need not trace them.

They are kept as StableHLO by `jax.export`: to read one back takes neither the function
nor the libraries that it is written with.
"""

import functools
from collections.abc import Callable, Iterable, Sequence

import jax
import jax.export

from jax_ttt.runtime import devices, kept_files


def lowered(
    make: Callable[[], Callable],
    shapes: Sequence[jax.ShapeDtypeStruct],
    donated: tuple[int, ...] = (),
    name: str | None = None,
    returned: Iterable[type] = (),
) -> jax.stages.Lowered:
    """Return the program of the function that `make` gives, for arrays of these shapes.

    It is found again by `name`, which has to say everything that it depends on, besides
    our sources; `make` is then not called. Without a name it is never kept. What it
    returns is made of tuples, dictionaries and the named tuples `returned`.

    Raises:
        ValueError: it has a name, and returns another type.
    """
    if name is None:
        return jax.jit(make(), donate_argnums=donated).lower(*shapes)
    for kind in returned:
        _register(kind)
    kept = kept_files.read(name)
    if kept is not None:
        exported = jax.export.deserialize(bytearray(kept))
    else:
        platform = devices.current().platform  # not always that of JAX's own choice
        if platform == "gpu":
            platform = jax.export.default_export_platform()  # cuda or rocm
        exported = jax.export.export(jax.jit(make()), platforms=[platform])(*shapes)
        kept_files.keep(name, bytes(exported.serialize()))
    # A kept program and one just traced are compiled in the same form: the next
    # process finds it in JAX's cache.
    return jax.jit(exported.call, donate_argnums=donated).lower(*shapes)


@functools.cache
def _register(kind: type) -> None:
    name = f"{kind.__module__}.{kind.__qualname__}"
    jax.export.register_namedtuple_serialization(kind, serialized_name=name)
