"""The page and its data as one file, for `file://` and for static hosts.

ES modules can't be fetched from `file://`, so an import map gives each of them a
`data:` URL. A worker has no import map: its imports are nested as `data:` URLs.
"""

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path

from jax_ttt.web.security import POLICY

_IMPORT = re.compile(r'(?m)^((?:import|export)\b[^"]*|\} from )"(\./[\w./-]+)";$')
"""An import of a module of the page: what stands before its path, and the path."""
_MAIN, _WORKER = "main.js", "worker.js"


def inlined(static: Path, data: Mapping[str, object]) -> str:
    """Return the page of a folder as one HTML text with its styles, modules and data.

    Raises:
        ValueError: the page lacks a part that is replaced.
    """
    imports = {
        _name(path): data_url(_IMPORT.sub(_by_name(static, path), code))
        for path, code in _modules(static, _MAIN).items()
    }
    worker = data_url(_nested(static, static / _WORKER))
    import_map = json.dumps({"imports": imports})
    start = f'import "{_name(static / _MAIN)}";'
    # "</script>" in a name would end the element.
    plain = json.dumps({**data, "worker": worker}, separators=(",", ":"))
    plain = plain.replace("<", "\\u003c")
    text = (static / "index.html").read_text("utf-8")
    sheets = re.findall(r'<link rel="stylesheet" href="/static/([\w.-]+)">', text)
    style = "\n".join((static / name).read_text("utf-8") for name in sheets)
    policy = POLICY.format(
        scripts=f"data: {hash_source(import_map)} {hash_source(start)}",
        workers="data:",
        styles=hash_source(style),
    ).replace("connect-src 'self'; img-src 'self' data:", "img-src data:")
    text = re.sub(r'<link rel="stylesheet"[^>]*>\n?', "", text)
    parts = {
        r"<meta charset=[^>]*>": (
            '<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        ),
        r"<script type=\"module\"[^>]*></script>": (
            f"<style>{style}</style>\n"
            f'<script type="importmap">{import_map}</script>\n'
            f'<script type="application/json" id="data">{plain}</script>\n'
            f'<script type="module">{start}</script>'
        ),
    }
    for pattern, part in parts.items():
        text, count = re.subn(pattern, lambda _, p=part: p, text)
        if count != 1:
            raise ValueError(f"index.html has {count} parts like {pattern}, not 1")
    return text


def _modules(static: Path, main: str) -> dict[Path, str]:
    """Return the code of a module and of all that it needs, by path."""
    needed, modules = [static / main], {}
    while needed:
        path = needed.pop()
        if path not in modules:
            modules[path] = path.read_text("utf-8")
            needed += [path.parent / name for _, name in _IMPORT.findall(modules[path])]
    return {path: modules[path] for path in sorted(modules)}
