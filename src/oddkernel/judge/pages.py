"""The pages' own files: read once, served from memory, and cached by browsers until they change."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from html import escape
from pathlib import Path

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

FOLDER = Path(__file__).with_name("static")

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}


FOREVER = "public, max-age=31536000, immutable"
"""Browsers may cache a file for a year without asking again, because its address changes with its content."""


class Pages:
    """All files below ``static``, as an ASGI application to be mounted there.

    Each address holds a hash of all the files: ``static/<hash>/participant/judge.js``. So a browser may cache a file
    for ever. Modules import one another by relative addresses, so that all are of the same version.

    Examples
    --------
    >>> pages = Pages()
    >>> f"static/{pages.version}/participant/judge.js" in pages.page("participant/index.html").body.decode()
    True
    """

    def __init__(self, folder: Path = FOLDER) -> None:
        self._files = {
            file.relative_to(folder).as_posix(): file.read_bytes()
            for file in sorted(folder.rglob("*"))
            if file.suffix in TYPES
        }
        hashed = hashlib.sha256()
        for name, content in self._files.items():
            hashed.update(f"{name}\0{len(content)}\0".encode() + content)
        self.version = hashed.hexdigest()[:16]

    def page(self, name: str, headers: Mapping[str, str] | None = None, **texts: str) -> Response:
        """A page, which names its files with the hash; browsers ask for it each time.

        Parameters
        ----------
        name : str
            The file below ``static``.
        headers : mapping of str to str, optional
            Headers of the response.
        **texts : str
            What each {{key}} in the file is replaced by.
        """
        content = self._files[name].replace(b'"static/', f'"static/{self.version}/'.encode())
        for key, text in texts.items():
            content = content.replace(f"{{{{{key}}}}}".encode(), escape(text).encode())
        return Response(content, media_type=TYPES[".html"], headers={"cache-control": "no-cache", **(headers or {})})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request for a file. Browsers may cache it only if the address holds the current hash."""
        path = scope["path"].removeprefix(scope.get("root_path", "")).lstrip("/")
        version, _, name = path.partition("/")
        is_current = version == self.version
        found = self._files.get(name if is_current or path not in self._files else path)
        if found is None or scope["method"] not in ("GET", "HEAD"):
            status = 404 if found is None else 405
            await Response(b'{"error": "There is no such file."}', status, media_type=TYPES[".json"])(
                scope, receive, send
            )
            return
        headers = {"cache-control": FOREVER if is_current else "no-cache"}
        type = TYPES[Path(path).suffix]
        await Response(found, media_type=type, headers=headers)(scope, receive, send)
