# An operation of the service, and its input as a request.
import json
import re
import threading
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Dict, Mapping, NamedTuple, Optional, Tuple
from urllib.parse import quote, urlencode

from .errors import RecoupError, invalid


class _Omit:
    """Stands for an argument that was not given. ``None`` is sent, as null."""

    def __repr__(self) -> str:
        return "OMIT"


OMIT: Any = _Omit()


class Operation(NamedTuple):
    """A row of the table that is generated from the OpenAPI document."""

    method: str
    path: str
    query: Tuple[str, ...]
    body: Optional[str]
    stream: Optional[str]
    page: Optional[str]
    max_bytes: Optional[int]
    repeatable: bool
    #: Fields of the path that are integers.
    integers: Tuple[str, ...] = ()


@dataclass(frozen=True)
class Options:
    """How one call is made; what is None is as the client has it.

    timeout: how long one try may wait for a piece of the answer, in seconds; of a stream: how long it may be silent.
    deadline: how long the call may take with all its repeats, in seconds; of a stream: one outage.
    repeat: False: one try only.
    headers: sent with it.
    stop: ends the waiting between two tries when it is set; the call then fails as the last try did.
    """

    timeout: Optional[float] = None
    deadline: Optional[float] = None
    repeat: bool = True
    headers: Optional[Mapping[str, str]] = None
    stop: Optional[threading.Event] = None


class Group:
    """Operations of one kind: ``client.jobs``."""

    def __init__(self, client: Any) -> None:
        self._client = client


class Request(NamedTuple):
    method: str
    path: str
    body: Optional[bytes]


def request_of(row: Operation, given: Mapping[str, Any]) -> Request:
    """Each field goes where the operation has it: path, query or body. Refuses ``invalid`` for what cannot be sent."""
    rest = {name: value for name, value in given.items() if value is not OMIT}

    def segment(match: "re.Match[str]") -> str:
        name = match.group(1)
        value = rest.pop(name, None)
        if name in row.integers:
            if not isinstance(value, int) or isinstance(value, bool):
                raise invalid(name, "must be an integer")
            return str(value)
        if not isinstance(value, str) or value in ("", ".", ".."):
            raise invalid(name, 'must be a text that is not empty, "." or ".."')
        return quote(_utf8(name, value), safe="")

    path = re.sub(r"\{(\w+)\}", segment, row.path)
    names = row.query if row.body else tuple(rest)
    query = {name: _in_query(name, rest.pop(name)) for name in names if name in rest}
    body = None if row.body is None else _body(rest["body"] if row.body == "whole" else rest)
    if body is not None and row.max_bytes is not None and len(body) > row.max_bytes:
        # Sent, it would be cut off before the answer that says why: it would look like a network that fails.
        details = {"max_bytes": row.max_bytes}
        raise RecoupError("too_large", f"The body is larger than {row.max_bytes} bytes.", 413, details)
    return Request(row.method, f"{path}?{urlencode(query)}" if query else path, body)


def _utf8(name: str, value: str) -> bytes:
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise invalid(name, "must be valid Unicode") from None


def _in_query(name: str, value: Any) -> bytes:
    if isinstance(value, bool):
        return b"true" if value else b"false"
    return _utf8(name, _instant(value) if isinstance(value, datetime) else str(value))


def _body(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return _utf8("body", value)
    return to_json("body", value)


def to_json(field: str, value: Any) -> bytes:
    """JSON as the service reads it; an instant of Python becomes RFC 3339 text. Refuses what JSON does not have."""
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":"), default=_instant).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise invalid(field, f"must be JSON: {error}") from None


def _instant(value: Any) -> str:
    if not isinstance(value, datetime):
        raise TypeError(f"a {type(value).__name__} is no JSON")
    # Without a zone it would mean another instant on another machine.
    if value.tzinfo is None:
        raise ValueError("a datetime needs a time zone")
    return value.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")
