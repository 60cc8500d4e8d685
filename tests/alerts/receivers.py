"""Real receivers on this machine: an SMTP server and a webhook, which keep what they are sent."""

import email
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage, Message
from email.policy import default
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.servers import free_port

PATIENCE_S = 20


@dataclass
class Webhook:
    """What was posted: path, headers, JSON; `status` is what it answers, `wait_s` how long it takes."""

    port: int
    status: int = 200
    wait_s: float = 0
    posted: list[dict[str, Any]] = field(default_factory=list)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def address(self, path: str = "hook", user: str = "") -> str:
        """Its address, as Apprise has it."""
        return f"json://{user and f'{user}@'}127.0.0.1:{self.port}/{path}"

    def wait(self, count: int = 1) -> list[dict[str, Any]]:
        """The first messages, once there are so many."""
        end = time.monotonic() + PATIENCE_S
        while len(self.posted) < count and time.monotonic() < end:
            time.sleep(0.05)
        return self.posted[:count]


@contextmanager
def webhook() -> Iterator[Webhook]:
    """A server for JSON."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            found.asked.append((self.path, dict(self.headers)))
            time.sleep(found.wait_s)
            if found.status == 200:
                found.posted.append(json.loads(body))
            self.send_response(found.status)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found = Webhook(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()


@dataclass
class Mailbox:
    """The letters that came."""

    port: int
    letters: list[EmailMessage] = field(default_factory=list)

    def address(self) -> str:
        """Its address, as Apprise has it."""
        return f"mailto://127.0.0.1:{self.port}/?from=muntin@example.com&to=ops@example.com&mode=insecure"


@contextmanager
def mailbox() -> Iterator[Mailbox]:
    """A server for mail."""
    from aiosmtpd.controller import Controller

    class Handler:
        async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802 - the library's name
            letter: Message = email.message_from_bytes(envelope.content, policy=default)
            assert isinstance(letter, EmailMessage)
            found.letters.append(letter)
            return "250 taken"

    found = Mailbox(free_port())
    controller = Controller(Handler(), hostname="127.0.0.1", port=found.port)
    controller.start()
    try:
        yield found
    finally:
        controller.stop()
