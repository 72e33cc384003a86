"""A page and its data as one file, for `file://` and for static hosts.

ES modules can't be fetched from `file://`, so an import map gives each of them a
`data:` URL.
"""

import base64
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from jax_ttt.serving import replies


def inlined(path: Path, data: Mapping[str, object]) -> str:
    """Return a page as one HTML text with its style, modules and data.

    The style sheet and the modules are files beside the page.

    Raises:
        ValueError: the page lacks a part that is replaced, or has it twice.
    """
    text = path.read_text("utf-8")
    main, scripts = modules_of(text, path.parent)
    imports = {f"page/{name}": data_url(code) for name, code in sorted(scripts.items())}
    # "</script>" in a name would end the element.
    plain = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    import_map = json.dumps({"imports": imports})
    start = f'import "page/{main}";'
    style = (path.parent / "style.css").read_text("utf-8")
    csp = content_security_policy((import_map, start), style)
    parts = {
        r"<meta charset=[^>]*>": f'<meta charset="utf-8">\n{csp}',
        r"<link rel=\"stylesheet\"[^>]*>": f"<style>{style}</style>",
        r"<script type=\"importmap\">.*?</script>": (
            f'<script type="importmap">{import_map}</script>\n'
            f'<script type="application/json" id="data">{plain}</script>'
        ),
        r"<script type=\"module\"[^>]*></script>": (
            f'<script type="module">{start}</script>'
        ),
    }
    for pattern, part in parts.items():
        text, count = re.subn(pattern, lambda _, p=part: p, text, flags=re.DOTALL)
        if count != 1:
            raise ValueError(f"{path.name} has {count} parts like {pattern}, not 1")
    return text


def modules_of(text: str, folder: Path) -> tuple[str, dict[str, str]]:
    """Return the name of a page's main module, and the code of each that it needs."""
    asked = re.findall(r'src="/static/(\w+)\.js"', text)
    main, found = "".join(asked[:1]), {}
    while asked:
        name = asked.pop()
        if name not in found:
            found[name] = (folder / f"{name}.js").read_text("utf-8")
            asked += re.findall(r'from "page/(\w+)"', found[name])
    return main, found


def data_url(code: str) -> str:
    """Return a JavaScript module as a `data:` URL."""
    encoded = base64.b64encode(code.encode()).decode()
    return f"data:text/javascript;charset=utf-8;base64,{encoded}"


def content_security_policy(scripts: Sequence[str], style: str) -> str:
    """Return the policy element that allows these inline parts and no network."""
    allowed = " ".join(["data:", *map(replies.hash_source, scripts)])
    own_style = replies.hash_source(style)
    rules = (
        f"default-src 'none'; script-src {allowed}; style-src {own_style}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return f'<meta http-equiv="Content-Security-Policy" content="{rules}">'
