# What the tests share: clients of the running service, wallets, jobs, and waiting for what becomes true.
import atexit
import http.client
import http.server
import itertools
import json
import os
import threading
import time
import urllib.parse
import uuid
from typing import Any, Callable, List, Tuple

from recoup import RecoupClient

RUN = uuid.uuid4().hex[:8]
_counter = itertools.count(1)

#: Straight to the service, and through a proxy that cuts answers off (see python.test.ts for which).
URL = os.environ["RECOUP_URL"]
FAR = os.environ["RECOUP_FAR"]
def connect(*given: Any, **options: Any) -> RecoupClient:
    made = RecoupClient(*given, **options)
    atexit.register(made.close)
    return made



client = connect(URL)
far = connect(FAR, deadline=20)


def new_id(kind: str) -> str:
    return f"{kind}-{RUN}-{next(_counter)}"


def wallet(customer: str = "ann") -> str:
    """A wallet with 100 credits."""
    name = new_id("wallet")
    client.wallets.open(wallet=name, customer=customer)
    client.wallets.grant(wallet=name, key="start", amount=100)
    return name


def queued(payload: Any = None) -> Tuple[str, str, str]:
    """A queued job of 40 credits in a wallet and a queue of its own, which retries at once: wallet, job, queue."""
    name, job, queue = wallet(), new_id("job"), new_id("queue")
    client.queues.configure(queue=queue, backoff_base_ms=1, backoff_max_ms=1)
    client.jobs.submit(wallet=name, job=job, queue=queue, price=40, payload=payload)
    return name, job, queue


def ledger(name: str) -> List[str]:
    entries = client.wallets.entries_each(wallet=name)
    return [f"{entry['type']} {entry['amount']}" for entry in entries if entry["type"] != "grant"]


def until(condition: Callable[[], Any], seconds: float = 60) -> Any:
    """Polls until it holds; generous: what never becomes true must end."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError("it did not become true")


def state(name: str, job: str) -> str:
    return client.jobs.get(wallet=name, job=job)["job"]["state"]


class BusyProxy:
    """The service, which says of reports of success that the wallet is busy until the lease was extended `times` more."""

    def __init__(self, times: int) -> None:
        self.refused = 0
        left = times
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                nonlocal left
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                if self.path.endswith("/extend") and outer.refused:
                    left -= 1
                if self.path.endswith("/succeed") and left > 0:
                    outer.refused += 1
                    problem = {"type": "about:blank", "title": "busy", "status": 503, "detail": "busy", "code": "wallet_busy"}
                    self.answer(503, "application/problem+json", json.dumps(problem).encode())
                    return
                onward = http.client.HTTPConnection(urllib.parse.urlsplit(URL).netloc)
                onward.request("POST", self.path, body, {"content-type": "application/json"})
                answer = onward.getresponse()
                self.answer(answer.status, answer.headers["content-type"], answer.read())
                onward.close()

            def answer(self, status: int, kind: str, body: bytes) -> None:
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
