# The client: every operation of the service as a method, pages and streams as iterators, and workers.
import uuid
from dataclasses import replace
from typing import Any, Callable, Dict, Generator, Mapping, Optional

from .connections import Connections, Hangup
from .errors import invalid
from .handler import Work
from .operation import OMIT, Options, request_of
from .operations import OPERATIONS, Groups
from .streams import stream
from .transport import Settings, Transport
from .worker import Worker


class RecoupClient(Groups):
    """Calls the service; safe to share between threads.

    Refusals are raised as ``RecoupError`` with a stable ``code``; outcomes such as ``duplicate`` are returned. A call
    that got no answer, or "not now" (408, 429, 502, 503, 504), is repeated with back-off until its deadline: what a call
    names by ids of the caller's is done once, however often it is sent. Not repeated are
    ``keys.create``, ``epochs.open``, ``dead_letters.redrive_all``, ``probes.recheck``, ``webhook_endpoints.register`` and ``.rotate``.

    url: where the service is: ``https://recoup.example``. Redirects are not followed.
    key: an API key (``rcp_…``). On loopback none is needed.
    headers: sent with every request.
    timeout: how long one try may wait for a piece of the answer, in seconds.
    deadline: how long a call may take with all its repeats, in seconds.
    max_answer_bytes: the largest answer that is read.
    """

    def __init__(
        self,
        url: str,
        key: Optional[str] = None,
        *,
        headers: Optional[Mapping[str, str]] = None,
        timeout: float = 30.0,
        deadline: float = 60.0,
        max_answer_bytes: int = 67_108_864,
    ) -> None:
        super().__init__()
        if key is not None and not (key.isascii() and key.isprintable() and key and " " not in key):
            raise invalid("key", "must be printable ASCII without spaces")
        for name, value in (("timeout", timeout), ("deadline", deadline), ("max_answer_bytes", max_answer_bytes)):
            if not value > 0:
                raise invalid(name, "must be above 0")
        self._connections = Connections(url)
        settings = Settings(key, dict(headers or {}), timeout, deadline, max_answer_bytes)
        self._transport = Transport(self._connections, settings)

    def work(self, queue: str, handler: Callable[[Work], Any], **options: Any) -> Worker:
        """A worker on a queue, started. Its options are those of ``Worker``. Stop it: ``worker.stop()``."""
        worker = Worker(self, queue, handler, **options)
        worker.start()
        return worker

    def close(self) -> None:
        """Closes the connections that are kept. The client may be used again."""
        self._connections.close()

    def __enter__(self) -> "RecoupClient":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _call(
        self, name: str, given: Dict[str, Any], options: Optional[Options] = None, hangup: Optional[Hangup] = None
    ) -> Any:
        row, options = OPERATIONS[name], options or Options()
        if name == "queues.lease":
            # With an id of its own a lost answer is asked for again: the same jobs and attempts. And it may wait.
            if given["requestId"] is OMIT:
                given = {**given, "requestId": str(uuid.uuid4())}
            wait = given["waitMs"] / 1000 if isinstance(given["waitMs"], int) else 0.0
            settings = self._transport.settings
            timeout = settings.timeout if options.timeout is None else options.timeout
            deadline = settings.deadline if options.deadline is None else options.deadline
            options = replace(options, timeout=timeout + wait, deadline=deadline + wait)
        return self._transport.call(row, request_of(row, given), options, hangup)

    def _each(self, name: str, given: Dict[str, Any], options: Optional[Options] = None) -> Generator[Any, None, None]:
        while True:
            page = self._call(name, given, options)
            yield from page[OPERATIONS[name].page]
            # A page of a filter may be empty and go on; where a cursor stays good for what comes, `ended` says that this is all now.
            if page.get("ended") or page["cursor"] is None:
                return
            given = {**given, "cursor": page["cursor"]}

    def _stream(self, name: str, given: Dict[str, Any], options: Optional[Options] = None) -> Generator[Any, None, None]:
        return stream(self._transport, name, OPERATIONS, given, options or Options())
