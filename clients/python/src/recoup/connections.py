# Connections to the service, kept for the next call; each can be hung up from another thread.
import http.client
import socket
import threading
from typing import List, Optional
from urllib.parse import urlsplit

from .errors import invalid


class Hangup:
    """Ends a call that is waiting for its answer, from another thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connection: Optional[http.client.HTTPConnection] = None
        self.done = False

    def watch(self, connection: Optional[http.client.HTTPConnection]) -> None:
        with self._lock:
            self._connection = connection
            if self.done:
                _cut(connection)

    def hang_up(self) -> None:
        with self._lock:
            self.done = True
            _cut(self._connection)


def _cut(connection: Optional[http.client.HTTPConnection]) -> None:
    sock = getattr(connection, "sock", None)
    if sock is not None:
        try:
            sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


class Connections:
    """A few open connections, newest first. Redirects and proxies of the environment are not followed."""

    KEPT = 16

    def __init__(self, url: str) -> None:
        try:
            parts = urlsplit(url)
            self._port = parts.port
        except (ValueError, TypeError, AttributeError):
            raise invalid("url", "must be the http or https URL of the service") from None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise invalid("url", "must be the http or https URL of the service")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise invalid("url", "must be without user, query and fragment")
        self._class = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._host = parts.hostname
        self.prefix = parts.path.rstrip("/")
        self._lock = threading.Lock()
        self._kept: List[http.client.HTTPConnection] = []

    def take(self, timeout: float, fresh: bool) -> http.client.HTTPConnection:
        """One that was kept, or a new one. `fresh`: a new one, for calls that a stale connection must not lose."""
        with self._lock:
            kept = self._kept.pop() if self._kept and not fresh else None
        if kept is None:
            connection = self._class(self._host, self._port, timeout=timeout)
            connection.connect()
            # A body goes out in two pieces, headers first: they must not wait for one another.
            connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connection
        kept.timeout = timeout
        kept.sock.settimeout(timeout)
        return kept

    def keep(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if connection.sock is not None and len(self._kept) < self.KEPT:
                self._kept.append(connection)
                return
        connection.close()

    def close(self) -> None:
        with self._lock:
            kept, self._kept = self._kept, []
        for connection in kept:
            connection.close()
