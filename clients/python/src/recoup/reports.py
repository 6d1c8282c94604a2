# What a run tells the service of its end; what is wrong with the words around it must not hold it up.
from typing import Any, Callable, Dict, Optional

from .errors import RecoupError, invalid
from .handler import Done, Failure, Release
from .operation import OMIT, Options, to_json

ONCE = Options(repeat=False)
#: What the service takes. Sent, a much larger one would be cut off without an answer that says so.
RESULT_BYTES = 1_048_576


class Reports:
    def __init__(
        self, key: Dict[str, Any], jobs: Any, joined: bool, on_error: Callable[[BaseException], None]
    ) -> None:
        self._key = key
        #: It was leased with an upstream: what is said of it is said of both.
        self._joined = joined
        self._jobs = jobs
        self._on_error = on_error

    def succeed(self, attempt: int, done: Done) -> None:
        key = {**self._key, "attempt": attempt, "result": done.result}
        more = {"final_price": _or_omit(done.final_price), "upstream_ref": _or_omit(done.upstream_ref)}
        try:
            if len(to_json("result", done.result)) > RESULT_BYTES:
                raise invalid("result", f"must be at most {RESULT_BYTES} bytes of JSON")
            try:
                # What was done with an upstream says that it works; what a check has found was done before.
                if self._joined and attempt == self._key["attempt"]:
                    answer = {"status": 200} if done.answer is None else done.answer
                    self._jobs.report(**key, **more, answer=answer, use=_or_omit(done.use), options=ONCE)
                else:
                    self._jobs.succeed(**key, **more, options=ONCE)
            except RecoupError as error:
                # The work was done, whatever is wrong with what the handler told beside its result.
                if not is_invalid(error) or _is_of_result(error):
                    raise
                self._on_error(error)
                self._jobs.succeed(**key, options=ONCE)
        except RecoupError as error:
            # Canceled meanwhile: the result must not be handed out, and nothing is left to report.
            if error.code in ("canceled", "pruned"):
                return
            if not is_invalid(error):
                raise
            self._on_error(error)
            # A result that cannot be kept: a failure that another run would only repeat.
            self.fail(Failure(error.message, verdict="definitive", retryable=False))

    def answered(self, raised: BaseException) -> bool:
        """With what the provider answered, whoever has the job now. Whether there was such an answer."""
        if not (self._joined and isinstance(raised, Failure) and raised.answer is not None):
            return False
        try:
            ref = _or_omit(raised.upstream_ref)
            self._jobs.report(**self._key, answer=raised.answer, upstream_ref=ref, options=ONCE)
        except RecoupError as error:
            if error.code == "canceled":
                return True
            if not is_invalid(error):
                raise
            # The failure stands, whatever was wrong with the answer.
            self._on_error(error)
            return False
        return True

    def release(self, raised: BaseException) -> bool:
        """Whether it was given back: as often as the queue allows, and it counts as a failure."""
        delay_ms = raised.delay_ms if isinstance(raised, Release) else None
        try:
            self._jobs.release(**self._key, reason=in_words(raised), delay_ms=_or_omit(delay_ms), options=ONCE)
            return True
        except RecoupError as error:
            # A delay that is none counts as a failure too.
            if is_invalid(error):
                self._on_error(error)
            elif error.code != "release_limit":
                raise
            return False

    def fail(self, raised: BaseException) -> None:
        failure = raised if isinstance(raised, Failure) else Failure(in_words(raised))
        report = {**self._key, "verdict": failure.verdict, "retryable": failure.retryable, "reason": in_words(failure)}
        more = {
            "retry_after_ms": _or_omit(failure.retry_after_ms),
            "upstream_ref": _or_omit(failure.upstream_ref),
        }
        try:
            self._jobs.fail(**report, **more, options=ONCE)
        except RecoupError as error:
            if not is_invalid(error):
                raise
            # The failure stands, whatever was wrong with what the handler told of it.
            self._on_error(error)
            report["verdict"] = "definitive" if is_definitive(failure) else "presumed"
            report["retryable"] = failure.retryable is not False
            self._jobs.fail(**report, options=ONCE)


def _or_omit(value: Optional[Any]) -> Any:
    return OMIT if value is None else value


def is_invalid(error: RecoupError) -> bool:
    """Refused for what it said, not for what it is about."""
    return error.code in ("invalid", "too_large")


def _is_of_result(error: RecoupError) -> bool:
    return error.code == "too_large" or str(error.details.get("field")).startswith(("result", "body"))


def is_definitive(raised: object) -> bool:
    return isinstance(raised, Failure) and raised.verdict == "definitive"


def in_words(raised: BaseException) -> str:
    """What was raised, in words that can be sent."""
    try:
        words = str(raised) or type(raised).__name__
    except Exception:
        words = "something that cannot be printed"
    return words.encode("utf-8", "replace").decode()
