"""List what built pages would load from other servers: ``python .ci/foreign.py FOLDER``; exit status 1 if there is any.

Links that a reader may follow are no loads. Scripts and style sheets of the page's own folder are searched for imports.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

FOREIGN = re.compile(r"^\s*(https?:)?//", re.IGNORECASE)
IN_STYLE = re.compile(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^)\"'\s]+)", re.IGNORECASE)
NOT_LOADED = {"canonical", "alternate", "author", "license", "next", "prev", "search", "index"}
"""Relations of a ``<link>`` that browsers do not fetch."""


class Loads(HTMLParser):
    """The foreign addresses that a page loads by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at the attributes whose address a browser fetches without being asked."""
        given = {name: value or "" for name, value in attrs}
        addresses = [given.get("src", ""), given.get("poster", ""), *given.get("srcset", "").split(",")]
        if tag == "link" and not set(given.get("rel", "").lower().split()) & NOT_LOADED:
            addresses.append(given.get("href", ""))
        if tag == "object":
            addresses.append(given.get("data", ""))
        self.found += [address.strip() for address in addresses if FOREIGN.match(address)]
        self.found += IN_STYLE.findall(given.get("style", ""))


def foreign(folder: Path) -> Iterator[tuple[Path, str]]:
    """File and address of each load from another server."""
    for file in sorted(folder.rglob("*")):
        if file.suffix == ".html":
            loads = Loads()
            loads.feed(file.read_text(encoding="utf-8"))
            yield from ((file, address) for address in loads.found)
        elif file.suffix == ".css":
            yield from ((file, address) for address in IN_STYLE.findall(file.read_text(encoding="utf-8")))


if __name__ == "__main__":
    listed = list(foreign(Path(sys.argv[1])))
    for file, address in listed:
        print(f"{file}: loads {address}")
    sys.exit(bool(listed))
