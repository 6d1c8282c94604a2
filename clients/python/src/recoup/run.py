# One attempt in a worker's hands: keeps its lease, runs the handler, reports what came of it until it is heard.
import threading
import time
from concurrent.futures import Future
from datetime import datetime
from typing import Any, Callable, Dict, NamedTuple, Optional, Tuple

from .errors import RecoupError
from .handler import Aborted, Done, Release, Work
from .operation import OMIT, Options
from .reports import ONCE, Reports, is_definitive
from .transport import pause_seconds


class RunOptions(NamedTuple):
    """timeout_s and grace_s as the worker has them; asked_again: the lease was asked for more than once."""

    handler: Callable[[Work], Any]
    check: Optional[Callable[[Work], Optional[Dict[str, Any]]]]
    timeout: Optional[float]
    grace: float
    asked_again: bool


class _CheckedDone(Done):
    """The success of an earlier attempt, found by `check`."""

    attempt: int


class Run:
    """Two threads: one runs the handler, the other keeps the lease and watches the time; a third one reports."""

    def __init__(
        self, client: Any, leased: Dict[str, Any], options: RunOptions, on_error: Callable[[BaseException], None]
    ) -> None:
        self._jobs = client.jobs
        self._leased = leased
        self._options = options
        self._on_error = on_error
        job = leased["job"]
        self._key = {"wallet": job["wallet"], "job": job["id"], "attempt": job["attempt"]}
        self._reports = Reports(self._key, client.jobs, leased.get("upstream") is not None, on_error)
        self._work = Work(leased, self._note, self._hand_over)
        # How the handler ended: (True, result) or (False, exception).
        self._ending: Optional[Tuple[bool, Any]] = None
        self._reported_without = False
        self._lock = threading.Lock()
        # Set whenever the watching thread has something to look at.
        self._news = threading.Event()
        # The worker's time to drain is over: one more report, no waiting for a service that does not answer.
        self._give_up = threading.Event()
        self._handed_over = False
        self._lease_ms = _lease_ms(job)

    def start(self, ended: Callable[["Run"], None]) -> None:
        """Runs it; `ended` is called when the attempt's end is reported, or does not need to be."""

        def watch() -> None:
            try:
                self._watch()
            except BaseException as error:
                self._on_error(error)
            finally:
                ended(self)

        name = f"recoup {self._key['job']}"
        # A handler that never returns must not keep the process from ending.
        threading.Thread(target=self._handle, name=name, daemon=True).start()
        threading.Thread(target=watch, name=f"{name} lease", daemon=True).start()

    def abort(self, cause: str) -> None:
        if cause == "shutdown":
            self._give_up.set()
        with self._lock:
            if self._work.cause is None:
                self._work.cause = cause
        self._work.aborted.set()
        self._news.set()

    def _handle(self) -> None:
        try:
            done = self._check_first()
            ending = (True, done if done is not None else self._options.handler(self._work))
        except BaseException as raised:
            ending = (False, raised)
        with self._lock:
            self._ending = ending
            late = self._reported_without
        self._news.set()
        # What the handler still finds out counts: a success after a time-out is the late success, and a failure that the
        # upstream confirms upgrades the presumed one.
        if late and (ending[0] or is_definitive(ending[1])):
            try:
                self._report(ending)
            except BaseException as error:
                self._on_error(error)

    def _check_first(self) -> Optional[Done]:
        """What the check found makes the run unnecessary, or does not."""
        earlier = self._leased["earlier"]
        if self._options.check is None or not earlier or earlier["verdict"] != "presumed":
            return None
        found = self._options.check(self._work) or {}
        if found.get("status") == "succeeded":
            done = _CheckedDone(found.get("result"), final_price=found.get("final_price"))
            done.attempt = earlier["attempt"] or self._key["attempt"]
            return done
        if found.get("status") == "working":
            self._hand_over(earlier["upstreamRef"], found.get("deadline_ms"))
            return Done()
        return None

    def _watch(self) -> None:
        started = heard = time.monotonic()
        lease = self._lease_ms / 1000
        # Where the lease was asked for twice it began some time ago: extended at once.
        extend_at: Optional[float] = started if self._options.asked_again else started + lease / 3
        end_at = None if self._options.timeout is None else started + self._options.timeout
        grace_at: Optional[float] = None
        tries = 0
        reporting: "Optional[Future[None]]" = None
        while True:
            times = [at for at in (extend_at, end_at, grace_at) if at is not None]
            self._news.wait(max(min(times) - time.monotonic(), 0) if times else None)
            self._news.clear()
            now = time.monotonic()
            if end_at is not None and now >= end_at:
                self.abort("timeout")
                end_at = None
            if reporting is not None and reporting.done():
                return reporting.result()
            if reporting is None and self._work.aborted.is_set() and grace_at is None:
                # Aborted, the handler gets a moment to end by itself; then the worker reports without it.
                grace_at = now + self._options.grace
            with self._lock:
                ending = self._ending if reporting is None else None
                if reporting is None and ending is None and grace_at is not None and now >= grace_at:
                    self._reported_without = True
                    ending = (False, Aborted(self._work.cause or "shutdown"))
            if ending is not None:
                # On a thread of its own: until the report is heard the lease must be kept, or the job runs again.
                end_at = grace_at = None
                reporting = self._report_aside(ending)
            if self._handed_over:
                extend_at = None
            if extend_at is not None and now >= extend_at:
                try:
                    if self._extend(lease):
                        heard, tries, extend_at = now, 0, now + lease / 3
                    else:
                        extend_at = None
                except RecoupError as error:
                    tries += 1
                    extend_at = time.monotonic() + min(pause_seconds(tries), lease / 3)
                    if not error.retryable:
                        self._on_error(error)
                    if time.monotonic() - heard > lease:
                        self.abort("lease_lost")

    def _extend(self, lease: float) -> bool:
        options = Options(timeout=max(lease / 3, 0.1), repeat=False)
        answer = self._jobs.extend(**self._key, lease_ms=self._lease_ms, options=options)
        if not self._handed_over:
            self._heed(answer["outcome"])
        return bool(answer["outcome"] == "extended")

    def _note(self, upstream_ref: str) -> None:
        answer = self._jobs.extend(**self._key, lease_ms=self._lease_ms, upstream_ref=upstream_ref)
        self._heed(answer["outcome"])

    def _hand_over(self, upstream_ref: Optional[str], deadline_ms: Optional[int]) -> None:
        reference = OMIT if upstream_ref is None else upstream_ref
        deadline = OMIT if deadline_ms is None else deadline_ms

        def hand_over() -> str:
            answer = self._jobs.hand_over(**self._key, upstream_ref=reference, deadline_ms=deadline, options=ONCE)
            return str(answer["outcome"])

        # Until it is heard: a lost answer must not look like a failure of what the provider is working on.
        outcome = self._until_heard(hand_over)
        # Also when it came too late: then the attempt is not this run's any more, and its callback answers for itself.
        self._handed_over = True
        if outcome not in ("handed_over", "duplicate"):
            self._heed(outcome)

    def _heed(self, outcome: str) -> None:
        """What an answer of extend means for the run."""
        cause = {"stale": "lease_lost", "canceled": "canceled", "succeeded": "succeeded"}.get(outcome)
        if cause is not None:
            self.abort(cause)

    def _report_aside(self, ending: Tuple[bool, Any]) -> "Future[None]":
        reported: "Future[None]" = Future()

        def report() -> None:
            try:
                self._report(ending)
                reported.set_result(None)
            except BaseException as error:
                reported.set_exception(error)
            self._news.set()

        threading.Thread(target=report, name=f"recoup {self._key['job']} report", daemon=True).start()
        return reported

    def _report(self, ending: Tuple[bool, Any]) -> None:
        returned, value = ending
        if self._handed_over:
            if not returned:
                self._on_error(RuntimeError(f"a handler failed after it had handed its job over: {value!r}"))
            return
        self._until_heard(lambda: self._succeed(value) if returned else self._fail(value))

    def _succeed(self, value: Any) -> None:
        done = value if isinstance(value, Done) else Done(value)
        self._reports.succeed(done.attempt if isinstance(done, _CheckedDone) else self._key["attempt"], done)

    def _fail(self, raised: BaseException) -> None:
        if self._reports.answered(raised):
            return
        cause, definitive = self._work.cause, is_definitive(raised)
        # Not this run's job any more: of what it could say only a definitive failure of its attempt would be heard.
        if cause in ("canceled", "succeeded") or (cause == "lease_lost" and not definitive):
            return
        given_back = isinstance(raised, Release) or (cause == "shutdown" and not definitive)
        if given_back and self._reports.release(raised):
            return
        self._reports.fail(raised)

    def _until_heard(self, report: Callable[[], Any]) -> Any:
        """Reports again for as long as the service does not answer; if this process goes first, the lease recovers the job."""
        tries = 0
        while True:
            try:
                return report()
            except RecoupError as error:
                again = error.retryable or error.code == "unexpected_answer"
                if not again or self._give_up.is_set():
                    raise
                tries += 1
                self._give_up.wait(pause_seconds(tries, error.retry_after))


def _lease_ms(job: Dict[str, Any]) -> int:
    """The length of this lease: extended by the same, whatever the queue's setting has become."""
    length = (_instant(job["leaseUntil"]) - _instant(job["startedAt"])).total_seconds() * 1000
    return int(min(max(length, 100), 86_400_000))


def _instant(text: str) -> datetime:
    # Python 3.9 and 3.10 do not read the Z.
    return datetime.fromisoformat(text.replace("Z", "+00:00"))
