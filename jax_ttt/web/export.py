"""The page as files that need no server: a folder for a static host, and one file.

A browser runs no module from `file://` and fetches nothing there, so a second page has
everything in itself. In both pages, the modules are concatenated to one script.
"""

import base64
import graphlib
import hashlib
import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
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
INDEX, OFFLINE = "index.html", "offline.html"
"""The page that fetches its parts, and the one that has all of them."""
_MAIN, _WORKER, _TREE = "main.js", "worker.js", "tic_tac_toe.json"
_TO_OFFLINE = (
    f'if (location.protocol === "file:") location.replace("{OFFLINE}" + location.hash);'
)
"""The script of the first page that leads to the second one."""
_IMPORT = re.compile(
    r'(?m)^import (?:\{([^}]*)\}|\* as (\w+)) from "(\.{1,2}/[\w./-]+)";$'
)
"""An import: its names, or the name of the whole module, and the module's path."""
_EXPORT = re.compile(
    r"(?m)^export (?=(?:async )?(?:function\*?|class|const) (\w+))|export ?\{([^}]*)\};"
)
"""An export of a declaration, its name; or a list of names."""


def write_page(
    folder: Path, agents: Sequence[ListedAgent] | None = None, static: Path = STATIC
) -> Path:
    """Write the page to a folder, made if it is missing, and return its first file.

    The page has these agents, by default those that come with the package.

    Raises:
        AgentError: the page can't use an agent.
        OSError: the folder can't be written.
        ValueError: the folder `static` has code or HTML that can't be exported.
    """
    agents = agent_files.shipped_agents() if agents is None else agents
    text = (static / INDEX).read_text("utf-8")
    sheets = re.findall(r'<link rel="stylesheet" href="/static/([\w.-]+)"', text)
    scripts = {name: join_modules(static / name) for name in (_MAIN, _WORKER)}
    # "</script>" in a name would end the element of the data.
    data = json.dumps(_list_of(agents), separators=(",", ":")).replace("<", "\\u003c")
    files = {name: (static / name).read_bytes() for name in (*sheets, _TREE)}
    files |= {name: code.encode() for name, code in scripts.items()}
    files |= dict(_agent_contents(agents))
    files[INDEX] = _hosted_page(text, data).encode()
    files[OFFLINE] = _offline_page(text, sheets, data, files).encode()
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_files.write_atomic(path, content)
    return folder / INDEX


def _list_of(agents: Sequence[ListedAgent]) -> JsonObject:
    """Return the list of the agents, and the evaluations of each agent's training."""
    return {
        "agents": [agent_files.agent_entry(agent) for agent in agents],
        "histories": {agent.id: agent_files.history_of(agent) for agent in agents},
    }


def _agent_contents(agents: Sequence[ListedAgent]) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of the file of each agent at each update."""
    for agent in agents:
        latest = agent_files.read_without_weights(agent.path).num_updates
        for update, path in {**agent.snapshots, latest: agent.path}.items():
            content = atomic_files.read_bounded(path, agent_files.MAX_AGENT_BYTES)
            yield f"agents/{agent.id}/{update}.safetensors", content


def _hosted_page(text: str, data: str) -> str:
    """Return the page that fetches its parts from its own folder."""
    policy = POLICY.format(
        scripts=f"'self' {hash_source(_TO_OFFLINE)}",
        workers="'self'",
        styles="'self'",
        connections="'self'",
    )
    head = f"{_policy_element(policy)}\n<script>{_TO_OFFLINE}</script>"
    text = text.replace('"/static/', '"')
    return _with_parts(text, head, _data_element("data", data))


def _offline_page(
    text: str, sheets: Sequence[str], data: str, files: Mapping[str, bytes]
) -> str:
    """Return the page that has all files in itself, at its end."""
    style = "\n".join(files[name].decode() for name in sheets)
    main = files[_MAIN].decode()
    policy = POLICY.format(
        scripts=hash_source(main),
        workers="data:",
        styles=hash_source(style),
        connections="'none'",
    )
    elements = [_data_element("data", data)]
    elements += [_data_element(name, files[name].decode()) for name in (_WORKER, _TREE)]
    elements += [
        _data_element(name, base64.b64encode(content).decode())
        for name, content in files.items()
        if name.startswith("agents/")
    ]
    elements.append(f'<script type="module">{_checked(main)}</script>')
    text = re.sub(r'<link rel="stylesheet"[^>]*>\n', "", text)
    text = re.sub(r'<script type="module"[^>]*></script>\n', "", text)
    head = f"{_policy_element(policy)}\n<style>{style}</style>"
    return _with_parts(text, head, "\n".join(elements))


def _with_parts(text: str, head: str, end: str) -> str:
    """Return a page with a part after its `charset`, and one at the end of its body."""
    charset = '<meta charset="utf-8">\n'
    text = _replace_once(text, charset, f"{charset}{head}\n")
    return _replace_once(text, "</body>", f"{end}\n</body>")


def _replace_once(text: str, old: str, new: str) -> str:
    """Return a text with a new part in place of one that it has once.

    Raises:
        ValueError: it has the old part not once.
    """
    if text.count(old) != 1:
        raise ValueError(f"{INDEX} needs one {old}")
    return text.replace(old, new)


def _policy_element(policy: str) -> str:
    return f'<meta http-equiv="Content-Security-Policy" content="{policy}">'


def _data_element(name: str, text: str) -> str:
    """Return an element with a text that the page reads by its name."""
    name = html.escape(name)
    return f'<script type="text/plain" id="{name}">{_checked(text)}</script>'


def _checked(text: str) -> str:
    """Return the text of an element `script`.

    Raises:
        ValueError: a part of the text would end the element, or hide its end.
    """
    if re.search(r"<!--|</?script", text, re.IGNORECASE):
        raise ValueError("the text of a script has a tag")
    return text


def hash_source(text: str) -> str:
    """Return the name of an inline script or style in a policy: its SHA-256."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def join_modules(main: Path) -> str:
    """Return a module and all that it imports as one module without imports.

    Each imported module is a function that returns its exports. It stands before the
    modules that import it.

    Raises:
        ValueError: the modules import each other in a circle, or have another form of
            import or export than those of the page, for instance `export let`, which
            importers could not see change.
    """
    codes: dict[Path, str] = {}
    imports: dict[Path, list[Path]] = {}
    paths = [main]
    while paths:
        path = paths.pop()
        if path not in codes:
            codes[path] = path.read_text("utf-8")
            names = [match[3] for match in _IMPORT.finditer(codes[path])]
            imports[path] = [(path.parent / name).resolve() for name in names]
            paths += imports[path]
    parts = []
    for path in graphlib.TopologicalSorter(imports).static_order():
        code, exports = _without_exports(
            _with_constants(path, codes[path], main.parent)
        )
        if re.search(r"(?m)^(import|export)\b", code):
            raise ValueError(f"{path.name} has an unknown form of import or export")
        if path == main:
            parts.append(f"(() => {{\n{code}}})();\n")
        else:
            name = _constant_of(path, main.parent)
            parts.append(
                f"const {name} = (() => {{\n{code}return {{ {exports} }};\n}})();\n"
            )
    return "\n".join(parts)


def _constant_of(path: Path, folder: Path) -> str:
    """Return the name of the constant with a module's exports: `engine_rules`."""
    return re.sub(r"\W", "_", path.relative_to(folder).with_suffix("").as_posix())


def _with_constants(path: Path, code: str, folder: Path) -> str:
    """Return a module's code with constants in place of its imports."""

    def constant(match: re.Match[str]) -> str:
        module = _constant_of((path.parent / match[3]).resolve(), folder)
        if match[2] is not None:
            return f"const {match[2]} = {module};"
        return f"const {{{match[1].replace(' as ', ': ')}}} = {module};"

    return _IMPORT.sub(constant, code)


def _without_exports(code: str) -> tuple[str, str]:
    """Return a module's code without `export`, and the names that it exports."""
    names: list[str] = []

    def note(match: re.Match[str]) -> str:
        if match[1] is not None:
            names.append(match[1])
        else:
            pairs = [part.split(" as ") for part in match[2].split(",")]
            names.extend(f"{pair[-1].strip()}: {pair[0].strip()}" for pair in pairs)
        return ""

    return _EXPORT.sub(note, code), ", ".join(names)
