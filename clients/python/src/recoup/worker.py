# A worker: leases jobs of one queue by long poll as slots are free, runs the handler in threads, drains when it is stopped.
import os
import signal
import socket
import sys
import threading
import time
import uuid
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Set

from .connections import Hangup
from .errors import RecoupError, invalid
from .handler import Work
from .operation import OMIT, Options
from .run import Run, RunOptions
from .transport import pause_seconds

if TYPE_CHECKING:
    from .client import RecoupClient

#: So many tries in a row that came to nothing are an outage that somebody should hear of.
OUTAGE = 3
#: Refusals of a lease that no repetition changes: the worker has nothing to do here.
FATAL = ("unauthorized", "forbidden", "invalid", "wrong_host", "schema_missing")
#: When to ask again about a lease whose answer was lost, where nothing came, in seconds: the lost request may still be on
#: its way in the database, holding jobs that the question passed over.
AGAIN = 0.2


class Worker:
    """Works on a queue. Create it with ``client.work(queue, handler, ...)``.

    concurrency: jobs at once, each in a thread.
    timeout_ms: a run longer than this is aborted and reported as presumed failed. Its late result still counts.
    lease_ms: the lease's length; the queue's unless set. It is extended by itself for as long as the handler runs.
    check: asked before a job runs again after a presumed failure: did the upstream do it after all? Returns
        ``{"status": "succeeded", "result": …, "final_price": …}``, ``{"status": "working", "deadline_ms": …}``, or
        ``{"status": "failed"}``.
    drain_ms: how long ``stop()`` lets handlers finish before it aborts and releases them.
    grace_ms: how long an aborted handler may take to return before the worker reports without it.
    name: the worker's name in leases and attempts.
    model, capability: where the queue has a pool, what the upstreams are used for.
    wait_ms: how long one poll waits for the first job, up to 60,000. Less where a proxy cuts what is silent.
    on_error: told of what goes wrong beside the jobs; prints to stderr unless set.
    """

    def __init__(
        self,
        client: "RecoupClient",
        queue: str,
        handler: Callable[[Work], Any],
        *,
        concurrency: int = 10,
        timeout_ms: Optional[int] = None,
        lease_ms: Optional[int] = None,
        check: Optional[Callable[[Work], Optional[Dict[str, Any]]]] = None,
        drain_ms: int = 20_000,
        grace_ms: int = 1_000,
        name: Optional[str] = None,
        model: Optional[str] = None,
        capability: Optional[str] = None,
        wait_ms: int = 30_000,
        on_error: Optional[Callable[[BaseException], None]] = None,
    ) -> None:
        ranges = (
            ("concurrency", concurrency, 1, 500),
            ("timeout_ms", timeout_ms, 0, 2_147_483_647),
            ("lease_ms", lease_ms, 100, 86_400_000),
            ("drain_ms", drain_ms, 0, 2_147_483_647),
            ("grace_ms", grace_ms, 0, 2_147_483_647),
            ("wait_ms", wait_ms, 0, 60_000),
        )
        for field, value, low, high in ranges:
            if value is not None and not (isinstance(value, int) and low <= value <= high):
                raise invalid(field, f"must be an integer from {low} to {high}")
        for field, call in (("handler", handler), ("check", check), ("on_error", on_error)):
            if call is not None and not callable(call):
                raise invalid(field, "must be a function")
        self.queue = queue
        self.name = name or f"{socket.gethostname()}:{os.getpid()}"[:200]
        self._client = client
        self._concurrency = concurrency
        self._lease_ms = lease_ms
        self._use = {"model": OMIT if model is None else model, "capability": OMIT if capability is None else capability}
        self._wait_ms = wait_ms
        self._drain = drain_ms / 1000
        timeout = None if timeout_ms is None else timeout_ms / 1000
        self._options = RunOptions(handler, check, timeout, grace_ms / 1000, False)
        self._tell = on_error or (lambda error: print(f"recoup: {error}", file=sys.stderr))
        self._runs: Set[Run] = set()
        self._changed = threading.Condition()
        self._stopping = threading.Event()
        self._hurried = False
        self._fatal: Optional[RecoupError] = None
        self._poll = Hangup()
        self._loop = threading.Thread(target=self._lease, name=f"recoup {queue}", daemon=True)

    @property
    def running(self) -> int:
        """How many jobs it holds now."""
        return len(self._runs)

    @property
    def error(self) -> Optional[RecoupError]:
        """What ended it where it can never work: the key is refused or may not lease, say. ``run()`` raises it."""
        return self._fatal

    def start(self) -> None:
        self._loop.start()

    def stop(self, *, now: bool = False) -> None:
        """Stops, and returns when nothing of it runs any more.

        No further lease; handlers may finish for ``drain_ms``, then they are aborted and what is left is released (no
        failure counted, no refund). ``now``: at once. Safe to call twice; the second call may hurry the first.
        """
        self._begin_stop()
        if now:
            self._hurry()
        end = time.monotonic() + self._drain
        # First: the question after the last poll could take what is released below.
        self._loop.join()
        with self._changed:
            self._changed.wait_for(lambda: not self._runs or self._hurried, max(end - time.monotonic(), 0))
            left = list(self._runs)
        for run in left:
            run.abort("shutdown")
        with self._changed:
            self._changed.wait_for(lambda: not self._runs)

    def run(self) -> None:
        """For a process that does nothing else: returns when SIGTERM or SIGINT came and the worker has drained.

        Raises the error where it can never work (a key that is refused, say), so that whoever started the process hears.
        A second signal does not wait for handlers. Call it in the main thread, on a worker of ``client.work``.
        """
        signals = (signal.SIGTERM, signal.SIGINT)

        def on_signal(*_: object) -> None:
            if self._stopping.is_set():
                self._hurry()
            self._begin_stop()

        before = [(one, signal.signal(one, on_signal)) for one in signals]
        try:
            # This thread waits for nothing that takes a lock: a signal's handler runs in it, and takes them.
            while not self._stopping.is_set():
                time.sleep(0.1)
            drain = threading.Thread(target=self.stop, name="recoup drain")
            drain.start()
            while drain.is_alive():
                time.sleep(0.02)
        finally:
            for one, handler in before:
                signal.signal(one, handler)
        if self._fatal is not None:
            raise self._fatal

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _on_error(self, error: BaseException) -> None:
        try:
            self._tell(error)
        except Exception:
            # What is told of errors must not make others.
            pass

    def _begin_stop(self) -> None:
        self._stopping.set()
        self._poll.hang_up()
        with self._changed:
            self._changed.notify_all()

    def _hurry(self) -> None:
        with self._changed:
            self._hurried = True
            self._changed.notify_all()

    def _lease(self) -> None:
        request_id: Optional[str] = None
        failures = 0
        # How often an id whose answer was lost is still asked about, without waiting: see AGAIN.
        owed = 0
        while not self._stopping.is_set():
            with self._changed:
                if len(self._runs) >= self._concurrency:
                    # Looked at with the lock in hand: a stop in between would not be heard.
                    if not self._stopping.is_set():
                        self._changed.wait()
                    continue
                free = self._concurrency - len(self._runs)
            # Only an answer that arrived uses up the request id: a lost one is asked for again.
            request_id = request_id or str(uuid.uuid4())
            try:
                wait_ms = 0 if owed else self._wait_ms
                leased = self._ask(free, request_id, wait_ms, Options(repeat=False), self._poll)
                for job in leased:
                    self._start(job, failures > 0)
                owed = 0 if leased else max(owed - 1, 0)
                if owed:
                    self._stopping.wait(AGAIN)
                    continue
                request_id = None
                failures = 0
            except RecoupError as error:
                if self._stopping.is_set():
                    break
                if error.code in FATAL:
                    self._fatal = error
                    self._on_error(error)
                    self._begin_stop()
                    return
                failures += 1
                owed = 2
                if not error.retryable or failures == OUTAGE:
                    self._on_error(error)
                self._stopping.wait(pause_seconds(failures, error.retry_after))
            except Exception as error:
                failures += 1
                self._on_error(error)
                self._stopping.wait(pause_seconds(failures))
        if request_id is not None:
            self._give_back(request_id)

    def _ask(
        self, count: int, request_id: str, wait_ms: int, options: Options, hangup: Optional[Hangup] = None
    ) -> List[Dict[str, Any]]:
        given = {
            "queue": self.queue,
            "count": count,
            "worker": self.name,
            "leaseMs": OMIT if self._lease_ms is None else self._lease_ms,
            "requestId": request_id,
            "waitMs": wait_ms,
            **self._use,
        }
        jobs: List[Dict[str, Any]] = self._client._call("queues.lease", given, options, hangup)["jobs"]
        return jobs

    def _give_back(self, request_id: str) -> None:
        """Gives back what the poll that was cut off by the stop has taken for nobody.

        Its request id brings the jobs; released now, they do not have to lapse and count as failures. Where it had taken
        none, the question may take one that is due, and gives that back too: one attempt more is the price of not losing
        a race with the poll that is still on its way.
        """
        try:
            options = Options(repeat=False, timeout=5.0)
            jobs = self._ask(1, request_id, 0, options)
            if not jobs:
                time.sleep(AGAIN)
                jobs = self._ask(1, request_id, 0, options)
            for leased in jobs:
                job = leased["job"]
                key = {"wallet": job["wallet"], "job": job["id"], "attempt": job["attempt"]}
                self._client.jobs.release(**key, reason="the worker is stopping")
        except RecoupError as error:
            self._on_error(error)

    def _start(self, leased: Dict[str, Any], asked_again: bool) -> None:
        run = Run(self._client, leased, self._options._replace(asked_again=asked_again), self._on_error)
        with self._changed:
            self._runs.add(run)
        run.start(self._ended)

    def _ended(self, run: Run) -> None:
        with self._changed:
            self._runs.discard(run)
            self._changed.notify_all()
