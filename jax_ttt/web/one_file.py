"""The page and its data as one file, for `file://` and for static hosts.

ES modules can't be fetched from `file://`, so an import map gives each of them a
`data:` URL. A worker has no import map: its imports are nested as `data:` URLs.
"""

import base64
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from jax_ttt.files.records import JsonObject
from jax_ttt.runtime import files
from jax_ttt.web import agent_files
from jax_ttt.web.agent_files import Listed
from jax_ttt.web.security import POLICY

_IMPORT = re.compile(r'(?m)^(import |.* from )"(\./[\w./-]+)";$')
"""An import of a module of the page: what stands before its path, and the path."""
_MAIN, _WORKER = "main.js", "worker.js"


def inlined(static: Path, data: Mapping[str, object]) -> str:
    """Return the page of a folder as one HTML text with its styles, modules and data.

    Raises:
        ValueError: the page lacks a part that is replaced.
    """
    imports = {
        _name(static, path): data_url(_with_imports(path, lambda x: _name(static, x)))
        for path in _modules(static / _MAIN)
    }
    worker = _nested(static / _WORKER)
    import_map = json.dumps({"imports": imports})
    start = f'import "{_name(static, static / _MAIN)}";'
    # "</script>" in a name would end the element.
    data_text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    text = (static / "index.html").read_text("utf-8")
    sheets = re.findall(r'<link rel="stylesheet" href="/static/([\w.-]+)"', text)
    style = "\n".join((static / name).read_text("utf-8") for name in sheets)
    policy = POLICY.format(
        scripts=f"data: {hash_source(import_map)} {hash_source(start)}",
        workers="data:",
        styles=hash_source(style),
        connections="'none'",
    )
    text = re.sub(r'<link rel="stylesheet"[^>]*>\n?', "", text)
    parts = {
        r"<meta charset=[^>]*>": (
            '<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        ),
        r"<script type=\"module\"[^>]*></script>": (
            f"<style>{style}</style>\n"
            f'<script type="importmap">{import_map}</script>\n'
            f'<script type="application/json" id="data">{data_text}</script>\n'
            f'<script type="text/plain" id="worker">{worker}</script>\n'
            f'<script type="module">{start}</script>'
        ),
    }
    for pattern, part in parts.items():
        text, count = re.subn(pattern, lambda _, p=part: p, text)
        if count != 1:
            raise ValueError(f"index.html has {count} parts like {pattern}, not 1")
    return text


def hash_source(text: str) -> str:
    """Return what a policy calls an inline script or style."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def data_url(code: str) -> str:
    """Return a JavaScript module as a `data:` URL."""
    encoded = base64.b64encode(code.encode()).decode()
    return f"data:text/javascript;charset=utf-8;base64,{encoded}"


def _modules(main: Path) -> list[Path]:
    """Return a module and all that it needs, sorted."""
    needed, modules = [main], set()
    while needed:
        path = needed.pop()
        if path not in modules:
            modules.add(path)
            names = [name for _, name in _IMPORT.findall(path.read_text("utf-8"))]
            needed += [path.parent / name for name in names]
    return sorted(modules)


def _name(static: Path, path: Path) -> str:
    """Return a module's name in the import map."""
    return f"page/{path.relative_to(static).with_suffix('').as_posix()}"


def _nested(path: Path) -> str:
    """Return a module as a `data:` URL that has its imports as such URLs."""
    return data_url(_with_imports(path, _nested))


def _with_imports(path: Path, renamed: Callable[[Path], str]) -> str:
    """Return a module's code with other names of what it imports."""
    return _IMPORT.sub(
        lambda match: f'{match[1]}"{renamed(path.parent / match[2])}";',
        path.read_text("utf-8"),
    )


STATIC = Path(__file__).parent / "static"
"""The page's files."""


def write_page(folder: Path, listed: Sequence[Listed] | None = None) -> Path:
    """Write the page to a folder, which is made, and return its file.

    By default it has the agents that come with the package.

    Raises:
        AgentError: the page can't use an agent.
        OSError: the folder can't be written.
    """
    data = page_data(agent_files.shipped_agents() if listed is None else listed)
    path = folder / "index.html"
    folder.mkdir(parents=True, exist_ok=True)
    files.write_atomic(path, inlined(STATIC, data).encode())
    return path


def page_data(listed: Sequence[Listed]) -> JsonObject:
    """Return everything that the page asks a server for, as JSON data.

    Raises:
        AgentError: the page can't use an agent.
    """
    contents = {}
    for agent in listed:
        latest = agent_files.loaded(agent.path).num_updates
        for update, path in {**agent.snapshots, latest: agent.path}.items():
            content = files.read_bounded(path, agent_files.MOST_AGENT_BYTES)
            contents[f"{agent.id}@{update}"] = base64.b64encode(content).decode()
    return {
        "agents": [agent_files.agent_entry(agent) for agent in listed],
        "files": contents,
        "tree": json.loads((STATIC / "tic_tac_toe.json").read_text("utf-8")),
    }
