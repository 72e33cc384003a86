"""Lowered programs, kept so that a later process need not trace them.

`jax.export` stores them as StableHLO: reading one needs neither its function nor the
libraries that the function uses.
"""

import dataclasses
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
    """Return the lowered program of the function `make()`, for arrays of these shapes.

    `name` is its key among the kept programs, so it must contain everything that the
    program depends on except our sources. If the program is found, `make` is not
    called. Without a name, or where this process keeps no files, the program is not
    kept. The function may return tuples, dictionaries and the named tuples `returned`.

    Raises:
        ValueError: the program has a name and returns another type.
    """
    if name is None or not kept_files.keeps():
        return jax.jit(make(), donate_argnums=donated).lower(*shapes)
    for kind in returned:
        _register(kind)
    kept = kept_files.read(name)
    if kept is not None:
        exported = jax.export.deserialize(bytearray(kept))
    else:
        platform = devices.current().platform  # may differ from JAX's default
        if platform == "gpu":
            platform = jax.export.default_export_platform()  # cuda or rocm
        exported = jax.export.export(jax.jit(make()), platforms=[platform])(*shapes)
        kept_files.keep(name, bytes(exported.serialize()))
    exported = _without_lapack(exported)
    # A kept program and a newly traced one are compiled in the same form, so the next
    # process finds the compiled program in JAX's cache.
    return jax.jit(exported.call, donate_argnums=donated).lower(*shapes)


def _without_lapack(exported: jax.export.Exported) -> jax.export.Exported:
    """Return a program that JAX lowers without loading LAPACK, if it does not call it.

    For the platform `cpu`, JAX imports SciPy. So no platform is named or compared: the
    names of kept files contain it.
    """
    calls_it = b"lapack" in exported.mlir_module_serialized
    if calls_it or "cpu" not in exported.platforms:
        return exported
    unchecked = (
        *exported.disabled_safety_checks,
        jax.export.DisabledSafetyCheck.platform(),
    )
    return dataclasses.replace(
        exported, platforms=("any",), disabled_safety_checks=unchecked
    )


@functools.cache
def _register(kind: type) -> None:
    name = f"{kind.__module__}.{kind.__qualname__}"
    jax.export.register_namedtuple_serialization(kind, serialized_name=name)
