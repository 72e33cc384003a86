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

from jax_ttt.files.json_records import JsonObject
from jax_ttt.runtime import atomic_files
from jax_ttt.web import agent_files
from jax_ttt.web.agent_files import ListedAgent

STATIC = Path(__file__).resolve().parent / "static"
"""The page's files."""
POLICY = (
    "default-src 'none'; script-src {scripts}; worker-src {workers}; "
    "style-src {styles}; connect-src {connections}; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'"
)
"""The Content-Security-Policy of the page."""
_IMPORT = re.compile(r'(?m)^(import |.* from )"(\.{1,2}/[\w./-]+)";$')
"""An import of a module of the page: the code before its path, and the path."""
_MAIN, _WORKER = "main.js", "worker.js"


def write_page(folder: Path, agents: Sequence[ListedAgent] | None = None) -> Path:
    """Write the page to a folder, made if it is missing, and return its file.

    The page has these agents, by default those that come with the package.

    Raises:
        AgentError: the page can't use an agent.
        OSError: the folder can't be written.
    """
    data = page_data(agent_files.shipped_agents() if agents is None else agents)
    path = folder / "index.html"
    folder.mkdir(parents=True, exist_ok=True)
    atomic_files.write_atomic(path, inline_page(STATIC, data).encode())
    return path


def page_data(agents: Sequence[ListedAgent]) -> JsonObject:
    """Return everything that the page requests from a server, as JSON data.

    Raises:
        AgentError: the page can't use an agent.
    """
    contents = {}
    for agent in agents:
        latest = agent_files.read_without_weights(agent.path).num_updates
        for update, path in {**agent.snapshots, latest: agent.path}.items():
            content = atomic_files.read_bounded(path, agent_files.MAX_AGENT_BYTES)
            contents[f"{agent.id}@{update}"] = base64.b64encode(content).decode()
    return {
        "agents": [agent_files.agent_entry(agent) for agent in agents],
        "files": contents,
        "tree": json.loads((STATIC / "tic_tac_toe.json").read_text("utf-8")),
    }


def inline_page(static: Path, data: Mapping[str, object]) -> str:
    """Return a folder's page as one HTML text with its styles, modules and data.

    Raises:
        ValueError: index.html lacks a part that this replaces.
    """
    imports = {
        _module_name(static, path): data_url(
            _code_with_imports(path, lambda module: _module_name(static, module))
        )
        for path in _imported_modules(static / _MAIN)
    }
    worker = _nested_url(static / _WORKER)
    import_map = json.dumps({"imports": imports})
    start = f'import "{_module_name(static, static / _MAIN)}";'
    # "</script>" in a name of the data would end the element.
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
    """Return the name of an inline script or style in a policy: its SHA-256."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def data_url(code: str) -> str:
    """Return a JavaScript module as a `data:` URL."""
    encoded = base64.b64encode(code.encode()).decode()
    return f"data:text/javascript;charset=utf-8;base64,{encoded}"


def _imported_modules(main: Path) -> list[Path]:
    """Return a module and all modules that it imports, sorted."""
    paths, modules = [main], set()
    while paths:
        path = paths.pop()
        if path not in modules:
            modules.add(path)
            names = [name for _, name in _IMPORT.findall(path.read_text("utf-8"))]
            paths += [(path.parent / name).resolve() for name in names]
    return sorted(modules)


def _module_name(static: Path, path: Path) -> str:
    """Return a module's name in the import map."""
    return f"page/{path.relative_to(static).with_suffix('').as_posix()}"


def _nested_url(path: Path) -> str:
    """Return a module as a `data:` URL, in which its imports are such URLs too."""
    return data_url(_code_with_imports(path, _nested_url))


def _code_with_imports(path: Path, name_of: Callable[[Path], str]) -> str:
    """Return a module's code; `name_of` gives the new name of each imported module."""
    return _IMPORT.sub(
        lambda match: f'{match[1]}"{name_of((path.parent / match[2]).resolve())}";',
        path.read_text("utf-8"),
    )
