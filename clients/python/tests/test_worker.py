# The worker: what a handler's end means, leases kept and lost, kills, lost answers, and how it drains.
import os
import signal
import subprocess
import sys
import threading
import time
import unittest
from typing import Any, Callable, List

from recoup import Aborted, Done, Failure, RecoupClient, RecoupError, Release, Work

from .support import URL, BusyProxy, client, connect, far, ledger, new_id, queued, state, until


def run_once(queue: str, handler: Callable[[Work], Any], on: RecoupClient = client, **options: Any) -> List[BaseException]:
    """Runs one job with a handler until it has left the handler's hands; then stops the worker."""
    errors: List[BaseException] = []
    begun = threading.Event()

    def run(work: Work) -> Any:
        begun.set()
        return handler(work)

    with on.work(queue, run, concurrency=1, on_error=errors.append, **options):
        assert begun.wait(60)
    return errors


def endings(wallet: str, job: str) -> List[str]:
    attempts = client.jobs.attempts(wallet=wallet, job=job)["attempts"]
    return [f"{one['attempt']} {one['endedAs']}" for one in attempts]


def raising(error: BaseException) -> Callable[[Work], Any]:
    def handler(_: Work) -> Any:
        raise error

    return handler


class Endings(unittest.TestCase):
    def test_results(self) -> None:
        wallet, job, queue = queued({"n": 5})
        run_once(queue, lambda work: {"doubled": work.payload["n"] * 2}, name="the worker")
        got = client.jobs.get(wallet=wallet, job=job)
        self.assertEqual((got["result"], got["job"]["worker"]), ({"doubled": 10}, "the worker"))
        wallet, job, queue = queued()
        run_once(queue, lambda _: Done("x", final_price=30, upstream_ref="ref"))
        self.assertEqual(ledger(wallet), ["charge -40", "settle 10"])

    def test_what_is_raised(self) -> None:
        cases = [
            (ValueError("boom"), {"failures": 1, "verdict": "presumed", "reason": "boom"}),
            (ValueError("\ud800"), {"failures": 1, "reason": "?"}),
            (Failure("no", verdict="definitive", retry_after_ms=60_000), {"failures": 1, "verdict": "definitive", "reason": "no"}),
            (Failure("never", verdict="definitive", retryable=False), {"state": "dead", "failures": 1}),
            (Failure("odd", verdict="odd"), {"failures": 1, "verdict": "presumed", "reason": "odd"}),
            (Release("not now", delay_ms=60_000), {"state": "queued", "failures": 0, "releases": 1}),
        ]
        for error, expected in cases:
            wallet, job, queue = queued()
            client.queues.configure(queue=queue, backoff_base_ms=60_000, backoff_max_ms=60_000)
            run_once(queue, raising(error))
            found = client.jobs.get(wallet=wallet, job=job)["job"]
            self.assertEqual({name: found[name] for name in expected}, expected)  # type: ignore[literal-required]
            self.assertEqual(ledger(wallet), ["charge -40"] + ([] if isinstance(error, Release) else ["refund 40"]))

    def test_results_that_cannot_be_kept_are_dead_letters(self) -> None:
        for result in (object(), "x" * 1_048_577, float("inf"), "a\0b"):
            wallet, job, queue = queued()
            errors = run_once(queue, lambda _, result=result: result)  # type: ignore[misc]
            self.assertEqual(state(wallet, job), "dead")
            self.assertEqual([error.code for error in errors], ["invalid"])  # type: ignore[attr-defined]

    def test_hand_over(self) -> None:
        wallet, job, queue = queued()
        ref = new_id("ref")

        def handler(work: Work) -> None:
            work.note(ref)
            work.hand_over(upstream_ref=ref)

        run_once(queue, handler)
        self.assertEqual(state(wallet, job), "waiting")
        client.upstream_refs.succeed(upstream_ref=ref, result=1)
        self.assertEqual(endings(wallet, job), ["1 succeeded"])

    def test_the_check_after_a_presumed_failure(self) -> None:
        wallet, job, queue = queued()
        client.queues.lease(queue=queue)
        client.jobs.extend(wallet=wallet, job=job, attempt=1, upstream_ref="the run")
        client.jobs.fail(wallet=wallet, job=job, attempt=1)
        asked: List[Any] = []

        def check(work: Work) -> Any:
            asked.append(work.earlier and work.earlier["upstreamRef"])
            return {"status": "succeeded", "result": "found", "final_price": 35}

        with client.work(queue, raising(AssertionError("not asked for")), check=check):
            until(lambda: state(wallet, job) == "succeeded")
        self.assertEqual(asked, ["the run"])
        self.assertEqual(client.jobs.get(wallet=wallet, job=job)["job"]["succeededAttempt"], 1)
        self.assertEqual(ledger(wallet), ["charge -40", "refund 40", "reclaim -40", "settle 5"])


class Leases(unittest.TestCase):
    def test_are_kept_for_as_long_as_the_handler_runs(self) -> None:
        wallet, job, queue = queued()

        def handler(_: Work) -> str:
            seen = set()

            def extended() -> bool:
                seen.add(client.jobs.get(wallet=wallet, job=job)["job"]["leaseUntil"])
                return len(seen) > 3

            until(extended)
            return "slow"

        run_once(queue, handler, lease_ms=300)
        self.assertEqual(endings(wallet, job), ["1 succeeded"])

    def test_are_kept_for_as_long_as_the_report_is_not_heard(self) -> None:
        wallet, job, queue = queued()
        proxy = BusyProxy(8)
        self.addCleanup(proxy.close)
        ran: List[int] = []
        run_once(queue, lambda work: ran.append(work.attempt), connect(proxy.url), lease_ms=900)
        self.assertGreater(proxy.refused, 0)
        self.assertEqual((ran, endings(wallet, job), ledger(wallet)), ([1], ["1 succeeded"], ["charge -40"]))

    def test_that_are_lost_and_jobs_that_end_elsewhere_abort_the_work(self) -> None:
        def ended_by(act: Callable[[str, str], Any], **options: Any) -> Any:
            wallet, job, queue = queued()
            causes: List[str] = []

            def handler(work: Work) -> None:
                act(wallet, job)
                assert work.aborted.wait(60)
                try:
                    work.check_aborted()
                except Aborted as aborted:
                    causes.append(aborted.cause)
                    raise

            run_once(queue, handler, lease_ms=300, **options)
            return causes, wallet, job

        causes, wallet, _ = ended_by(lambda wallet, job: client.jobs.cancel(wallet=wallet, job=job))
        self.assertEqual((causes, ledger(wallet)), (["canceled"], ["charge -40", "refund 40"]))
        causes, wallet, _ = ended_by(lambda wallet, job: client.jobs.succeed(wallet=wallet, job=job))
        self.assertEqual((causes, ledger(wallet)), (["succeeded"], ["charge -40"]))
        # Reported as failed by somebody else: another attempt may be running.
        causes, wallet, job = ended_by(lambda wallet, job: client.jobs.fail(wallet=wallet, job=job, attempt=1, verdict="definitive", retryable=False))
        self.assertEqual((causes, endings(wallet, job)), (["lease_lost"], ["1 failed"]))
        causes, wallet, job = ended_by(lambda *_: None, timeout_ms=50)
        self.assertEqual((causes, endings(wallet, job)[0]), (["timeout"], "1 failed"))

    def test_a_late_success_is_reclaimed(self) -> None:
        wallet, job, queue = queued()
        client.queues.configure(queue=queue, backoff_base_ms=60_000, backoff_max_ms=60_000)
        finish = threading.Event()

        def handler(_: Work) -> str:
            finish.wait(60)
            return "late"

        with client.work(queue, handler, timeout_ms=10, grace_ms=0, concurrency=1):
            until(lambda: ledger(wallet) == ["charge -40", "refund 40"])
        finish.set()
        until(lambda: state(wallet, job) == "succeeded")
        self.assertEqual(ledger(wallet), ["charge -40", "refund 40", "reclaim -40"])


class LostAnswers(unittest.TestCase):
    def test_of_lease_and_report_the_job_runs_once(self) -> None:
        client.wallets.open(wallet="cut-2", customer="ann")
        client.wallets.grant(wallet="cut-2", key="start", amount=100)
        client.jobs.submit(wallet="cut-2", job="j", queue="cut-worker", price=40)
        ran: List[int] = []
        run_once("cut-worker", lambda work: ran.append(work.attempt), far)
        self.assertEqual((ran, endings("cut-2", "j"), ledger("cut-2")), ([1], ["1 succeeded"], ["charge -40"]))

    def test_a_key_that_does_not_work_ends_it(self) -> None:
        viewer = client.keys.create(name="viewer", scopes=["viewer"])["secret"]
        for key, code in (("rcp_none", "unauthorized"), (viewer, "forbidden")):
            errors: List[BaseException] = []
            worker = connect(URL, key).work(new_id("queue"), lambda _: None, on_error=errors.append)
            with self.assertRaises(RecoupError) as ended:
                worker.run()
            self.assertEqual(ended.exception.code, code)
            self.assertEqual((errors, worker.error), ([ended.exception], ended.exception))
            worker.stop()


class Draining(unittest.TestCase):
    def process(self, queue: str, mode: str) -> "subprocess.Popen[str]":
        argv = [sys.executable, "-W", "error", "-m", "tests.worker_process", URL, queue, mode]
        child = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ)
        self.addCleanup(child.communicate)
        self.addCleanup(child.kill)
        assert child.stdout is not None
        self.assertEqual(child.stdout.readline(), "began 1\n")
        return child

    def test_a_process_that_is_killed_and_the_lease_that_lapses(self) -> None:
        wallet, job, queue = queued()
        child = self.process(queue, "hang")
        child.kill()
        child.wait()
        until(lambda: endings(wallet, job) == ["1 lapsed"])
        with client.work(queue, lambda _: "done"):
            until(lambda: state(wallet, job) == "succeeded")
        self.assertEqual(ledger(wallet), ["charge -40", "refund 40", "reclaim -40"])

    def test_sigterm_lets_the_handler_finish(self) -> None:
        wallet, job, queue = queued()
        child = self.process(queue, "slow")
        child.send_signal(signal.SIGTERM)
        out, _ = child.communicate("\n", timeout=60)
        self.assertEqual((out, child.returncode), ("drained\n", 0))
        self.assertEqual(client.jobs.get(wallet=wallet, job=job)["result"], "finished")

    def test_what_comes_while_it_drains_is_left_to_others(self) -> None:
        wallet, job, queue = queued()
        finish = threading.Event()
        worker = client.work(queue, lambda _: finish.wait(60), concurrency=1)
        until(lambda: worker.running == 1)
        stopping = threading.Thread(target=worker.stop)
        stopping.start()
        until(worker._stopping.is_set)
        client.jobs.submit(wallet=wallet, job="later", queue=queue, price=1)
        finish.set()
        stopping.join()
        later = client.jobs.get(wallet=wallet, job="later")["job"]
        self.assertEqual((state(wallet, job), later["state"], later["attempt"]), ("succeeded", "queued", 0))

    def test_a_second_sigterm_gives_back(self) -> None:
        wallet, job, queue = queued()
        child = self.process(queue, "hang")
        child.send_signal(signal.SIGTERM)
        # Two at once would be one.
        time.sleep(0.5)
        child.send_signal(signal.SIGTERM)
        self.assertEqual(child.wait(60), 0)
        found = client.jobs.get(wallet=wallet, job=job)["job"]
        self.assertEqual((found["state"], found["failures"], found["releases"]), ("queued", 0, 1))
        self.assertEqual(ledger(wallet), ["charge -40"])

    def test_stop_is_quick_where_nothing_runs(self) -> None:
        worker = client.work(new_id("queue"), lambda _: None)
        time.sleep(0.2)
        worker.stop()
        worker.stop(now=True)
        self.assertEqual(worker.running, 0)

    def test_options_that_cannot_work(self) -> None:
        for options, field in (({"concurrency": 0}, "concurrency"), ({"wait_ms": 60_001}, "wait_ms"), ({"check": 1}, "check")):
            with self.assertRaises(RecoupError) as refused:
                client.work("q", lambda _: None, **options)
            self.assertEqual(refused.exception.details["field"], field)
