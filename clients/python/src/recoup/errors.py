# The one error of the client: a refusal with its stable code, or no answer that could be read.
from typing import Any, Dict, Optional

#: Statuses that say "not now": the same request may be answered later.
NOT_NOW = frozenset((408, 429, 502, 503, 504))


class RecoupError(Exception):
    """A refusal of the service, or no answer of it.

    code: stable: decide by it. The codes of the service (docs/errors.md), and two of the client's own. ``unreachable``:
        no answer came, or it broke off, so that it is not known whether the call was done. ``unexpected_answer``: what
        answered is not Recoup (a proxy, a redirect, a page).
    status: the HTTP status; 0 where no answer came.
    details: the facts of a refusal: field and rule, what differs, balance and price.
    request_id: the ``x-request-id`` of the answer: the service's log has it too.
    retry_after: how long the service asked to wait, in seconds.
    """

    def __init__(
        self,
        code: str,
        message: str,
        status: int = 0,
        details: Optional[Dict[str, Any]] = None,
        request_id: Optional[str] = None,
        retry_after: Optional[float] = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status
        self.details: Dict[str, Any] = details or {}
        self.request_id = request_id
        self.retry_after = retry_after

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"

    @property
    def retryable(self) -> bool:
        """Whether the same call may be answered later. The client has repeated it already, until its deadline."""
        return self.code == "unreachable" or self.status in NOT_NOW


def invalid(field: str, rule: str) -> RecoupError:
    """Input that cannot be sent. Nothing was."""
    return RecoupError("invalid", f"{field}: {rule}", 400, {"field": field, "rule": rule})
