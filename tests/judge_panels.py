"""A stub of a panel's own pages: one that sends people to the study, one that takes them back."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


class Stub(BaseHTTPRequestHandler):
    """The panel's own pages: one that sends people, one that takes them back."""

    arrived: list[dict[str, list[str]]]
    study: str = ""

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        if address.path == "/complete":
            self.arrived.append(parse_qs(address.query))
        link = f'<a href="{self.study}">Take part</a>' if address.path == "/" else "<h1>Welcome back</h1>"
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        # An icon of its own, so that no browser asks for one while the stub is being closed.
        head = '<!doctype html><title>Panel</title><link rel="icon" href="data:,">'
        self.wfile.write(f"{head}{link}".encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def stub_panel() -> Iterator[tuple[str, type[Stub]]]:
    """A panel's server; the class records who came back."""
    handler = type("Arrivals", (Stub,), {"arrived": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", handler
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
