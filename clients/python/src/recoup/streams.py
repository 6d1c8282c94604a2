# Streams as iterators: JSON lines and server-sent events, taken up again where they broke off.
import math
from typing import Any, Dict, Generator, Iterator, Mapping

from .errors import RecoupError
from .operation import OMIT, Operation, Options, request_of
from .transport import Opened, Patience, Transport, parsed


def stream(
    transport: Transport, name: str, operations: Mapping[str, Operation], given: Dict[str, Any], options: Options
) -> Generator[Any, None, None]:
    """What a stream tells, to its end; the feed has none."""
    row = operations[name]
    goal = 0
    if name == "wallets.replay":
        # What was cut off can look whole behind a proxy: a replay has to come at least this far.
        balance = operations["wallets.balance"]
        goal = transport.call(balance, request_of(balance, {"wallet": given["wallet"]}), options)["lastSeq"]
    # Who follows the feed follows it through outages, unless told how long one may last.
    patience = Patience(options, row.repeatable, math.inf if row.stream == "sse" else transport.settings.deadline)
    ended = False
    while True:
        request = request_of(row, given)
        headers = transport.headers(request, options)
        try:
            with transport.open(row, request, headers, options, patience.left) as opened:
                for item in _items(opened, row.stream, transport.settings.max_answer_bytes):
                    if name == "wallets.replay":
                        given = {**given, "afterSeq": item["seq"]}
                    elif name == "feed.stream":
                        given = {**given, "cursor": item["cursor"]}
                    else:
                        ended = item["ended"]
                    yield item
                    patience.renew()
            after = given.get("afterSeq", OMIT)
            if ended or (name == "wallets.replay" and (0 if after is OMIT else after) >= goal):
                return
            raise RecoupError("unreachable", "The stream ended before its end.")
        except RecoupError as error:
            patience.pause(error)


def _items(opened: Opened, kind: Any, limit: int) -> Iterator[Dict[str, Any]]:
    if kind == "sse":
        for cursor, event, data in _events(opened.lines(limit)):
            value = _whole(opened, data)
            if event != "error":
                yield {"cursor": cursor, "event": value}
    else:
        for line in opened.lines(limit):
            if line:
                yield _whole(opened, line)


def _whole(opened: Opened, text: bytes) -> Dict[str, Any]:
    """One object of a stream; the last one may say why there are no more."""
    value = parsed(text)
    if value is None:
        raise RecoupError("unexpected_answer", "A part of the stream is not a JSON object.", opened.response.status)
    problem = value.get("error")
    if isinstance(problem, dict) and isinstance(problem.get("code"), str):
        raise opened.refusal(problem)
    return value


def _events(lines: Iterator[bytes]) -> Iterator[Any]:
    """Server-sent events: id, event and data of each."""
    cursor, event, data = "", "", []
    for line in lines:
        if line == b"":
            if data:
                yield cursor, event, b"\n".join(data)
            event, data = "", []
            continue
        field, _, value = line.partition(b":")
        value = value[1:] if value.startswith(b" ") else value
        if field == b"data":
            data.append(value)
        elif field == b"event":
            event = value.decode()
        elif field == b"id":
            cursor = value.decode()
