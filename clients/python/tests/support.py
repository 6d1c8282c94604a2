# What the tests share: clients of the running service, wallets, jobs, and waiting for what becomes true.
import atexit
import itertools
import os
import time
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
