"""The page's files, read once: a path in a request is a name in a dictionary."""

import hashlib
import json
import re
from pathlib import Path
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from jax_ttt.serving import replies
from jax_ttt.serving.replies import Refusal

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
"""The types of the files that are served; other files are not."""
_MAP = re.compile(r'(<script type="importmap">)(.*?)(</script>)', re.DOTALL)


class File(NamedTuple):
    """A file as it is sent."""

    contents: bytes
    kind: str
    tag: str
    policy: str


def read_files(folder: Path) -> dict[str, File]:
    """Return the files of a folder by their names; links are left out.

    The import map of a page names each module `page/NAME`.
    """
    found: dict[str, File] = {}
    paths = [path for path in sorted(folder.iterdir()) if path.suffix in TYPES]
    paths = [path for path in paths if path.is_file() and not path.is_symlink()]
    for path in paths:
        contents, policy = path.read_bytes(), ""
        if path.suffix == ".html":
            modules = [p.stem for p in paths if p.suffix == ".js"]
            contents, policy = _with_imports(contents, modules)
        found[path.name] = as_file(contents, TYPES[path.suffix], policy)
    return found


def as_file(contents: bytes, kind: str, policy: str = "") -> File:
    """Return contents of a type (a MIME type) as a file."""
    tag = f'"{hashlib.sha256(contents).hexdigest()[:32]}"'
    return File(contents, kind, tag, policy or replies.POLICY.format(scripts=""))


def file_reply(request: Request, file: File | None) -> Response:
    """Return the reply with a file, or that the client has it already.

    Raises:
        Refusal: there is no such file.
    """
    if file is None:
        raise Refusal(404, "no such page")
    headers = {
        "etag": file.tag,
        "cache-control": "no-cache",  # ask each time; the tag saves the transfer
        "content-security-policy": file.policy,
    }
    known = [tag.strip() for tag in request.headers.get("if-none-match", "").split(",")]
    if file.tag in known:
        return Response(status_code=304, headers=headers)
    return Response(file.contents, headers=headers, media_type=file.kind)


def _with_imports(page: bytes, modules: list[str]) -> tuple[bytes, str]:
    """Return the page with its import map, and the policy that allows the map."""
    imports = {f"page/{name}": f"/static/{name}.js" for name in modules}
    text = json.dumps({"imports": imports})
    whole = _MAP.sub(lambda found: f"{found[1]}{text}{found[3]}", page.decode())
    policy = replies.POLICY.format(scripts=f" {replies.hash_source(text)}")
    return whole.encode(), policy
