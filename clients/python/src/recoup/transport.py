# Sends requests: one try with its time limit, and repeats of what may be repeated until a deadline.
import email.utils
import http.client
import json
import random
import threading
import time
from typing import Any, Dict, Iterator, Mapping, NamedTuple, Optional

from .connections import Connections, Hangup
from .errors import RecoupError, invalid
from .operation import Operation, Options, Request

TYPES = {"json": "application/json", "ndjson": "application/x-ndjson", "sse": "text/event-stream"}
#: More than any problem says.
PROBLEM_BYTES = 65_536
PIECE = 65_536


class Settings(NamedTuple):
    key: Optional[str]
    headers: Mapping[str, str]
    timeout: float
    deadline: float
    max_answer_bytes: int


class Transport:
    def __init__(self, connections: Connections, settings: Settings) -> None:
        self._connections = connections
        self.settings = settings

    def call(self, row: Operation, request: Request, options: Options, hangup: Optional[Hangup] = None) -> Any:
        """The answer of a call, repeated where that is safe."""
        headers = self.headers(request, options)
        patience = Patience(options, row.repeatable, self.settings.deadline)
        while True:
            try:
                with self.open(row, request, headers, options, patience.left, hangup) as opened:
                    return opened.json(self.settings.max_answer_bytes)
            except RecoupError as error:
                if hangup is not None and hangup.done:
                    raise
                patience.pause(error)

    def headers(self, request: Request, options: Options) -> Dict[str, str]:
        headers = {**self.settings.headers, **(options.headers or {})}
        for name, value in headers.items():
            if not isinstance(value, str) or not value.isascii() or not value.isprintable() or not name.isascii():
                raise invalid("headers", f"{name} must be printable ASCII")
        if self.settings.key is not None:
            headers["authorization"] = f"Bearer {self.settings.key}"
        if request.body is not None:
            headers["content-type"] = "application/json"
        return headers

    def open(
        self,
        row: Operation,
        request: Request,
        headers: Mapping[str, str],
        options: Options,
        left: float,
        hangup: Optional[Hangup] = None,
    ) -> "Opened":
        """One try. Raises what refuses."""
        limit = min(self.settings.timeout if options.timeout is None else options.timeout, left)
        connection: Optional[http.client.HTTPConnection] = None
        try:
            connection = self._connections.take(limit, fresh=not row.repeatable or row.stream is not None)
            if hangup is not None:
                hangup.watch(connection)
            connection.request(request.method, self._connections.prefix + request.path, request.body, dict(headers))
            response = connection.getresponse()
            opened = Opened(self._connections, connection, response, None if row.stream else limit, hangup)
        except (OSError, http.client.HTTPException) as error:
            if connection is not None:
                connection.close()
            raise lost(error) from error
        try:
            opened.check(TYPES[row.stream or "json"])
            return opened
        except (OSError, http.client.HTTPException) as error:
            opened.close()
            raise lost(error) from error
        except RecoupError:
            opened.close()
            raise


def lost(error: BaseException) -> RecoupError:
    words = "the time limit passed" if isinstance(error, TimeoutError) else (str(error) or type(error).__name__)
    return RecoupError("unreachable", f"No answer: {words}")


class Opened:
    """An answer whose body is still to come; closes its connection unless all of it was read."""

    def __init__(
        self,
        connections: Connections,
        connection: http.client.HTTPConnection,
        response: http.client.HTTPResponse,
        limit: Optional[float],
        hangup: Optional[Hangup],
    ) -> None:
        self._connections = connections
        self._connection = connection
        self.response = response
        self._end = None if limit is None else time.monotonic() + limit
        self._hangup = hangup
        self._whole = False

    def __enter__(self) -> "Opened":
        return self

    def __exit__(self, *_: object) -> None:
        if self._hangup is not None:
            self._hangup.watch(None)
        if self._whole and not self.response.will_close:
            self._connections.keep(self._connection)
        else:
            self.close()

    def close(self) -> None:
        # The response too: it holds the socket where the service said that it will close.
        self.response.close()
        self._connection.close()

    def check(self, kind: str) -> None:
        """Raises what the response refuses, or that it is not one of the service."""
        response = self.response
        media = (response.getheader("content-type") or "").split(";")[0].strip().lower()
        if 200 <= response.status < 300 and media == kind:
            return
        if media == "application/problem+json":
            problem = parsed(self._read(PROBLEM_BYTES))
            if problem is not None and isinstance(problem.get("code"), str):
                raise self.refusal(problem)
        words = f"Not Recoup answered: status {response.status}, {media or 'no content type'}."
        if 300 <= response.status < 400:
            there = response.getheader("location") or "another address"
            words = f"It redirects to {there}; the URL of the service itself is needed."
        raise RecoupError("unexpected_answer", words, response.status, None, *self._more())

    def refusal(self, problem: Dict[str, Any]) -> RecoupError:
        """A problem, with its status line or as the last words of a stream."""
        known = ("type", "title", "status", "detail", "instance", "code", "requestId")
        details = {name: value for name, value in problem.items() if name not in known}
        status = problem.get("status")
        request_id, retry_after = self._more()
        return RecoupError(
            problem["code"],
            str(problem.get("detail") or problem.get("title") or problem["code"]),
            status if isinstance(status, int) else self.response.status,
            details,
            problem.get("requestId") or request_id,
            retry_after,
        )

    def _more(self) -> Any:
        after = self.response.getheader("retry-after")
        seconds: Optional[float] = None
        if after is not None and after.isdecimal():
            seconds = float(after)
        elif after is not None:
            try:
                seconds = max(email.utils.parsedate_to_datetime(after).timestamp() - time.time(), 0)
            except (TypeError, ValueError):
                pass
        return self.response.getheader("x-request-id"), seconds

    def json(self, limit: int) -> Any:
        """The JSON of an answer. What is not whole counts as lost."""
        try:
            body = self._read(limit)
            answer = json.loads(body)
        except (OSError, http.client.HTTPException) as error:
            raise lost(error) from error
        except ValueError as error:
            raise RecoupError("unreachable", "The answer broke off: it is not whole JSON.") from error
        # Without it the connection would wait for the rest of an answer that has none.
        self.response.close()
        self._whole = True
        return answer

    def _read(self, limit: int) -> bytes:
        pieces, size = [], 0
        while True:
            piece = self.response.read1(PIECE)
            if not piece:
                break
            size += len(piece)
            if size > limit:
                raise too_large(self.response.status, limit)
            if self._end is not None and time.monotonic() > self._end:
                raise RecoupError("unreachable", "No answer: the time limit passed")
            pieces.append(piece)
        # read1 does not say that fewer bytes came than were announced.
        if self.response.length:
            raise RecoupError("unreachable", "The answer broke off.")
        return b"".join(pieces)

    def lines(self, limit: int) -> Iterator[bytes]:
        """Each line of a stream without its end, as it comes."""
        while True:
            try:
                line = self.response.readline(limit + 1)
            except (OSError, http.client.HTTPException, ValueError) as error:
                raise lost(error) from error
            if not line:
                return
            if len(line) > limit:
                raise too_large(self.response.status, limit)
            if not line.endswith(b"\n"):
                raise RecoupError("unreachable", "The answer broke off in the middle of a line.")
            yield line.rstrip(b"\r\n")


def too_large(status: int, limit: int) -> RecoupError:
    details = {"max_answer_bytes": limit}
    return RecoupError("unexpected_answer", f"The answer is larger than {limit} bytes.", status, details)


def parsed(text: bytes) -> Optional[Dict[str, Any]]:
    """None where it is not a JSON object."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def pause_seconds(tries: int, retry_after: Optional[float] = None) -> float:
    """Capped exponential back-off, between half and all of 0.1, 0.2, 0.4 … 5 s; a Retry-After counts where it is later."""
    backoff = min(0.1 * 2 ** min(tries - 1, 10), 5.0) * (0.5 + random.random() / 2)
    return max(backoff, (retry_after or 0.0) * (1 + random.random() / 4))


class Patience:
    """How long a call goes on trying, and when it gives up."""

    def __init__(self, options: Options, repeatable: bool, deadline: float) -> None:
        self._options = options
        self._repeatable = repeatable
        self._deadline = deadline if options.deadline is None else options.deadline
        self._stop = options.stop or threading.Event()
        self.renew()

    @property
    def left(self) -> float:
        return max(self._end - time.monotonic(), 0.001)

    def renew(self) -> None:
        """It was heard of: what comes now is another outage."""
        self._tries = 0
        self._end = time.monotonic() + self._deadline

    def pause(self, error: RecoupError) -> None:
        """Waits before the next try; raises the error where there is none."""
        self._tries += 1
        seconds = pause_seconds(self._tries, error.retry_after)
        # Too many requests: refused before anything was done, so that it is safe to repeat whatever it is.
        safe = self._repeatable or error.code == "rate_limited"
        if not (self._options.repeat and error.retryable and safe) or seconds >= self.left:
            raise error
        if self._stop.wait(seconds):
            raise error
