"""Learners and networks that users write: the file and the classes of a run.

An agent's file and a run's settings keep the name of the Python file, its SHA-256, the
names of the classes and the values of their settings, but not the code. So a process
that reads them must have the same file: by `--learner FILE` in a command, or by an
import in Python. Imports no JAX.
"""

import dataclasses
import hashlib
import inspect
import os
import shlex
import sys
import typing
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from jax_ttt.config import ranges
from jax_ttt.config.errors import Refused, SettingError
from jax_ttt.config.ranges import Setting, check_value

_paths: dict[str, str] = {}
"""The paths of the files of this process, by their SHA-256."""
_classes: dict[tuple[str, str], type] = {}
"""The classes of this process, by the SHA-256 of their file and their name."""
_contents: dict[int, bytes] = {}
"""The contents of files when their modules were seen first, by the modules' ids."""
_modules: dict[str, str] = {}
"""The names of the modules of these files, by their SHA-256."""


def _class(sha256: str, name: str) -> type | None:
    """Return a class of a file that this process has loaded; else None."""
    if (kind := _classes.get((sha256, name))) is not None:
        return kind
    module = _modules.get(sha256, "")
    value = getattr(sys.modules.get(module), name, None)
    # A file of an agent must not choose among what the module has imported.
    is_its_own = isinstance(value, type) and value.__module__ == module
    return value if is_its_own else None


@dataclasses.dataclass(frozen=True, kw_only=True)
class OwnCode:
    """The classes of users that an agent was trained with.

    Raises:
        SettingError: this process has not loaded them, or a setting is not allowed.
    """

    file: str = ""
    """The name of the file that defines the classes; empty in a notebook."""
    sha256: str
    """The SHA-256 of the file, or of the methods of the classes in a notebook; empty
    where there is no source."""
    learner: str = ""
    """The name of the learner's class; empty: the learner of this package."""
    network: str = ""
    """The name of the network's class; empty: a network of this package."""
    settings: dict[str, Setting] = dataclasses.field(default_factory=dict, hash=False)
    """The values of the fields of the class `Settings` of the learner."""

    def __post_init__(self) -> None:
        for name in filter(None, (self.learner, self.network)):
            if _class(self.sha256, name) is None:
                raise SettingError("own", self._rule(name), name)
        kinds = self.setting_types
        for name in self.settings.keys() - kinds.keys():
            rule = f"one of {', '.join(kinds) or 'none'}"
            raise SettingError("own", f"settings of {self.learner}: {rule}", name)
        given = {**_defaults(self.settings_class), **self.settings}
        values = {name: check_value(name, kinds[name], given[name]) for name in kinds}
        object.__setattr__(self, "settings", values)

    def _rule(self, name: str) -> str:
        """Return what a reader of a saved agent must do first."""
        file = self.file or "a notebook"
        has_other = any(other == name for _, other in _classes)
        start = f"made with {name} of {file}, SHA-256 {self.sha256[:12]}..."
        if has_other:
            return f"{start}, but the {name} that is loaded has another source"
        flag = f"--learner {self.file}" if self.file else "--learner FILE"
        return (
            f"{start}, which is not loaded; name its file by {flag} in a command, or "
            "by learner=PATH in jax_ttt.load"
        )

    @property
    def learner_class(self) -> Any:  # noqa: ANN401  a class of the learners
        """The learner's class; None for the learner of this package."""
        return _class(self.sha256, self.learner) if self.learner else None

    @property
    def flag(self) -> str:
        """The flag that a command line needs, after a space; empty in a notebook."""
        path = _paths.get(self.sha256)
        return f" --learner {shlex.quote(path)}" if path else ""

    @property
    def default_preset(self) -> str:
        """The preset where a user names none; empty: the one of the game."""
        return getattr(self.learner_class, "default_preset", "")

    @property
    def network_class(self) -> Any:  # noqa: ANN401  a class of the networks
        """The network's class; None for a network of this package."""
        return _class(self.sha256, self.network) if self.network else None

    @property
    def settings_class(self) -> type | None:
        """The dataclass of the learner's own settings; None without one."""
        return getattr(self.learner_class, "Settings", None)

    @property
    def setting_types(self) -> dict[str, Any]:
        """The types of the learner's own settings, by name."""
        return _field_types(self.settings_class)

    @property
    def settings_record(self) -> Any:  # noqa: ANN401  a dataclass of a user
        """The learner's own settings as their dataclass; an empty one without it."""
        return (self.settings_class or NoSettings)(**self.settings)

    @property
    def of_network(self) -> "OwnCode | None":
        """What the use of a trained network depends on; None without an own one."""
        if not self.network:
            return None
        return OwnCode(file=self.file, sha256=self.sha256, network=self.network)


@dataclasses.dataclass(frozen=True)
class NoSettings:
    """The settings of a learner that has none of its own."""


def _field_types(settings_class: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the types of the fields of a dataclass of settings, by name."""
    if settings_class is None:
        return {}
    return typing.get_type_hints(settings_class, include_extras=True)


def _defaults(settings_class: type | None) -> dict[str, Any]:
    """Return the values of an own learner's settings that nobody gives."""
    if settings_class is None:
        return {}
    return {field.name: field.default for field in dataclasses.fields(settings_class)}


def register(
    learner: type | None,
    network: type | None,
    taken: Collection[str] = (),
    forget: Callable[[], object] = lambda: None,
) -> OwnCode:
    """Return the record of classes that a user has given, with default settings.

    `taken` are the names of settings that an own setting can't have. `forget` is called
    if a class takes the place of another one, of which something may be kept.

    Raises:
        Refused: the classes are of two files, or the class `Settings` is not a
            dataclass with defaults.
    """
    kinds = [kind for kind in (learner, network) if kind is not None]
    sources = {kind: _source(kind) for kind in kinds}
    files = {path for path, _ in sources.values()}
    if len(files) > 1:
        names = " and ".join(kind.__name__ for kind in kinds)
        raise Refused(f"{names} must be in one file, or in one notebook")
    (path,) = files
    if path is None:
        texts = [text for _, text in sources.values()]
        content = b"" if None in texts else "\n".join(map(str, texts)).encode()
    else:
        content = _content_at_import(kinds[0].__module__, path)
    digest = hashlib.sha256(content).hexdigest() if content else ""
    if learner is not None:
        _check_settings(learner, taken)
    if path is not None:
        relative = os.path.relpath(path)
        _paths[digest] = str(path) if relative.startswith("..") else relative
        _modules[digest] = kinds[0].__module__
    for kind in kinds:
        if _classes.setdefault((digest, kind.__name__), kind) is not kind:
            _classes[digest, kind.__name__] = kind
            forget()
    return OwnCode(
        file="" if path is None else path.name,
        sha256=digest,
        learner="" if learner is None else learner.__name__,
        network="" if network is None else network.__name__,
    )


def _content_at_import(module_name: str, path: Path) -> bytes:
    """Return what is in the file of a module.

    Raises:
        Refused: the file has changed since the module was seen for the first time.
    """
    module = sys.modules[module_name]
    content = path.read_bytes()
    if _contents.setdefault(id(module), content) != content:
        raise Refused(f"{path} has changed since it was imported: start again")
    return content


def _source(kind: type) -> tuple[Path | None, str | None]:
    """Return the file of a class; in a notebook, none and the source of its methods."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    if file is not None and Path(file).is_file():
        return Path(file), None
    functions = [value for value in vars(kind).values() if inspect.isfunction(value)]
    try:
        return None, "".join(map(inspect.getsource, functions)) or None
    except (OSError, TypeError):  # typed where nothing keeps it
        return None, None


def _check_settings(learner: type, taken: Collection[str]) -> None:
    """Raise `Refused` unless the class `Settings` of a learner can become flags."""
    kind = getattr(learner, "Settings", None)
    if kind is None:
        return
    name = f"{learner.__name__}.Settings"
    if not dataclasses.is_dataclass(kind):
        raise Refused(f"{name} must be a dataclass")
    for field in dataclasses.fields(kind):
        if field.default is dataclasses.MISSING:
            raise Refused(f"{name}.{field.name} must have a default")
        if field.name in taken:
            raise Refused(f"{name}.{field.name}: there is a setting of this name")
        annotated = _field_types(kind)[field.name]
        plain = ranges.plain_type(annotated)
        if plain not in (bool, int, float, str) and not ranges.choices(annotated):
            rule = "a bool, a number, a text or a Literal of words"
            raise Refused(f"{name}.{field.name} must be {rule}")
        check_value(field.name, annotated, field.default)


def with_settings(own: OwnCode, values: Mapping[str, Setting]) -> OwnCode:
    """Return the record with other values of the learner's own settings.

    Raises:
        SettingError: a value is not allowed.
    """
    return dataclasses.replace(own, settings={**own.settings, **values})
