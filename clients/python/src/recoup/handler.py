# What a handler gets and gives: the job in its hands, and the ways to say how it went. The same words as the library's.
import threading
from typing import Any, Callable, Dict, Optional

CAUSES = {
    "timeout": "the time-out passed",
    "lease_lost": "the lease was lost: another attempt may be running",
    "canceled": "the job was canceled",
    "succeeded": "the job has succeeded elsewhere",
    "shutdown": "the worker is stopping",
}


class Aborted(Exception):
    """Raised by ``work.check_aborted()``. ``cause``: timeout, lease_lost, canceled, succeeded or shutdown."""

    def __init__(self, cause: str) -> None:
        super().__init__(CAUSES[cause])
        self.cause = cause


class Failure(Exception):
    """Raise it to say what a failure is worth. Anything else that a handler raises is a presumed, retryable failure.

    verdict: ``definitive``: the upstream said so. ``presumed``: the work may still be done somewhere.
    retryable: False: no further attempt.
    retry_after_ms: the upstream's Retry-After, in ms.
    answer: what the provider answered, of a job that was leased with an upstream (``status``, ``headers``, ``body``,
        ``error``): it says what the failure is worth, and of whom.
    """

    def __init__(
        self,
        reason: str,
        *,
        verdict: str = "presumed",
        retryable: bool = True,
        retry_after_ms: Optional[int] = None,
        upstream_ref: Optional[str] = None,
        answer: Optional[Dict[str, Any]] = None,
    ) -> None:
        super().__init__(reason)
        self.verdict = verdict
        self.retryable = retryable
        self.retry_after_ms = retry_after_ms
        self.upstream_ref = upstream_ref
        self.answer = answer


class Release(Exception):
    """Raise it to give the attempt back: queued again after ``delay_ms``, no failure counted, no refund."""

    def __init__(self, reason: str, *, delay_ms: Optional[int] = None) -> None:
        super().__init__(reason)
        self.delay_ms = delay_ms


class Done:
    """Return it to say more than the result: the final price, the upstream's reference, what was used.

    answer, use: of a job that was leased with an upstream, what the provider answered and what was used, by unit.
    """

    def __init__(
        self,
        result: Any = None,
        *,
        final_price: Optional[int] = None,
        upstream_ref: Optional[str] = None,
        answer: Optional[Dict[str, Any]] = None,
        use: Optional[Dict[str, int]] = None,
    ) -> None:
        self.result = result
        self.final_price = final_price
        self.upstream_ref = upstream_ref
        self.answer = answer
        self.use = use


class Work:
    """A job in a handler's hands.

    aborted: an event that is set on a time-out, when the lease was lost, the job canceled or done elsewhere, or the
        worker stops. A thread cannot be ended from outside: look at it, or call ``check_aborted()``.
    cause: why it was set.
    earlier: what is known of an attempt that ended without success.
    upstream: the upstream to run it on, where the queue has a pool; None: it has none.
    """

    def __init__(
        self,
        leased: Dict[str, Any],
        note: Callable[[str], None],
        hand_over: Callable[[Optional[str], Optional[int]], None],
    ) -> None:
        self.job: Dict[str, Any] = leased["job"]
        self.wallet: str = self.job["wallet"]
        self.id: str = self.job["id"]
        self.attempt: int = self.job["attempt"]
        self.payload: Any = leased["payload"]
        self.earlier: Optional[Dict[str, Any]] = leased["earlier"]
        self.upstream: Optional[Dict[str, Any]] = leased.get("upstream")
        self.aborted = threading.Event()
        self.cause: Optional[str] = None
        self._note = note
        self._hand_over = hand_over

    def check_aborted(self) -> None:
        """Raises ``Aborted`` where the job should not go on."""
        if self.cause is not None and self.aborted.is_set():
            raise Aborted(self.cause)

    def note(self, upstream_ref: str) -> None:
        """Keeps the upstream's reference with the job, so that a later attempt can ask about it."""
        self._note(upstream_ref)

    def hand_over(self, *, upstream_ref: Optional[str] = None, deadline_ms: Optional[int] = None) -> None:
        """The provider works on it now and will call back: no lease any more, the handler's return value is not used."""
        self._hand_over(upstream_ref, deadline_ms)
