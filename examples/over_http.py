# The story of 40 credits over HTTP with the Python client, and a worker in threads.
import json
import os
import sys
import uuid

from recoup import Done, Failure, RecoupClient, RecoupError

url = os.environ.get("RECOUP_URL")
if not url:
    sys.exit("Set RECOUP_URL to the URL of a server: recoup start prints it.")
wallet = f"wallet-{uuid.uuid4()}"
queue = f"video-{wallet}"


def render(prompt):
    """A provider whose work is known beforehand."""
    if prompt == "forbidden":
        raise Failure("content policy", verdict="definitive", retryable=False)
    return f"{prompt}.mp4", 30


# docs: story
recoup = RecoupClient(url)
recoup.wallets.open(wallet=wallet, customer="ann")
recoup.wallets.grant(wallet=wallet, key="payment-1", amount=100)
# Charged 40: sent once or ten times, it is one job and one charge.
recoup.jobs.submit(wallet=wallet, job="video-1", queue=queue, price=40, payload={"prompt": "a cat"})
[leased] = recoup.queues.lease(queue=queue)["jobs"]
attempt = {"wallet": wallet, "job": "video-1", "attempt": leased["job"]["attempt"]}
# No answer in time: the 40 go back.
recoup.jobs.fail(**attempt, reason="no answer within 30 s")
# The result lands late: the 40 are taken again. Its callback, once more, changes nothing.
late = recoup.jobs.succeed(**attempt, result={"file": "cat.mp4"})
again = recoup.jobs.succeed(**attempt, result={"file": "cat.mp4"})
# end

try:
    recoup.jobs.submit(wallet=wallet, job="video-2", queue=queue, price=61)
except RecoupError as error:
    if error.code != "insufficient_credits":
        raise
    print(f"{error.details['balance']} credits are left, it costs {error.details['price']}", file=sys.stderr)


# docs: worker
def handler(work):
    # Set when the lease is lost, the job canceled, the time over, or the worker stopped for good.
    work.check_aborted()
    file, cost = render(work.payload["prompt"])
    # Charged 40 at submit, worth 30 in the end.
    return Done({"file": file}, final_price=cost)


worker = recoup.work(queue, handler, concurrency=4, timeout_ms=60_000)
# end
recoup.jobs.submit(wallet=wallet, job="video-3", queue=queue, price=40, payload={"prompt": "a dog"})
recoup.jobs.submit(wallet=wallet, job="video-4", queue=queue, price=20, payload={"prompt": "forbidden"})

ended = set()
for item in recoup.feed.stream():
    event = item["event"]
    if event["kind"] == "attempt" and event["wallet"] == wallet and event["job"] != "video-1":
        ended.add(event["job"])
    if len(ended) == 2:
        break
# A process that only works calls worker.run() instead: it drains on SIGTERM.
worker.stop()

lines = [f"{e['type']} {e['amount']}: {e['balance']}" for e in recoup.wallets.entries_each(wallet=wallet)]
shown = {"late": late["outcome"], "again": again["outcome"], "story": lines[:4], "balance": lines[-1].split(": ")[1]}
print(json.dumps(shown))
recoup.close()
