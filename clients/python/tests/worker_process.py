# A process of its own: a worker that says which attempt it began; `hang`: it never ends, `slow`: it ends after SIGTERM came.
import sys
import time
from typing import Any

from recoup import RecoupClient, Work

url, queue, mode = sys.argv[1:]


def handler(work: Work) -> Any:
    print(f"began {work.attempt}", flush=True)
    if mode == "hang":
        while True:
            time.sleep(1)
    # SIGTERM lets it finish.
    sys.stdin.readline()
    return "finished"


RecoupClient(url).work(queue, handler, lease_ms=500, concurrency=1).run()
print("drained", flush=True)
