# Operations, pages, streams and refusals through the client, on the running service.
import inspect
import threading
import unittest
from datetime import datetime, timedelta, timezone

from recoup import Options, RecoupClient, RecoupError
from recoup.operations import OPERATIONS

from .support import URL, client, connect, ledger, new_id, wallet


class Operations(unittest.TestCase):
    def test_every_operation_is_a_method(self) -> None:
        for name, row in OPERATIONS.items():
            group, verb = ("".join(f"_{c.lower()}" if c.isupper() else c for c in part) for part in name.split("."))
            self.assertTrue(callable(getattr(getattr(client, group), verb)), name)
            if row.page:
                self.assertTrue(callable(getattr(getattr(client, group), f"{verb}_each")), name)

    def test_the_story_of_40_credits(self) -> None:
        name, queue = wallet(), new_id("queue")
        charged = client.jobs.submit(wallet=name, job="video-1", queue=queue, price=40, payload={"ä": [1]})
        self.assertEqual((charged["outcome"], charged["balance"]), ("charged", 60))
        self.assertEqual(client.jobs.submit(wallet=name, job="video-1", queue=queue, price=40, payload={"ä": [1]})["outcome"], "duplicate")
        [leased] = client.queues.lease(queue=queue)["jobs"]
        self.assertEqual(leased["payload"], {"ä": [1]})
        key = {"wallet": name, "job": "video-1", "attempt": 1}
        self.assertTrue(client.jobs.fail(**key, reason="no answer in time")["refunded"])
        self.assertEqual(client.jobs.succeed(**key, result={"url": "x"})["outcome"], "reclaimed")
        self.assertEqual(client.jobs.succeed(**key)["outcome"], "duplicate")
        self.assertEqual(ledger(name), ["charge -40", "refund 40", "reclaim -40"])

    def test_what_is_left_out_and_what_is_none(self) -> None:
        name = wallet()
        job = client.jobs.submit(wallet=name, job="a/b ü", queue=None, price=1)["job"]
        self.assertEqual((job["id"], job["queue"], job["state"]), ("a/b ü", None, "waiting"))
        later = datetime.now(timezone.utc) + timedelta(hours=1)
        with self.assertRaises(RecoupError) as none:
            client.jobs.submit(wallet=name, job="j2", queue="q", price=None)  # type: ignore[arg-type]
        self.assertEqual((none.exception.code, none.exception.details["field"]), ("invalid", "price"))
        job = client.jobs.submit(wallet=name, job="j3", queue=new_id("q"), price=1, not_before=later)["job"]  # type: ignore[arg-type]
        self.assertIsNotNone(job["notBefore"])

    def test_pages_and_streams(self) -> None:
        name = wallet()
        client.wallets.grant_many(items=[{"wallet": name, "key": f"k{n}", "amount": 1} for n in range(25)])
        self.assertEqual(client.wallets.entries(wallet=name, limit=10)["cursor"], 10)
        seqs = [entry["seq"] for entry in client.wallets.entries_each(wallet=name, limit=10)]
        self.assertEqual(seqs, list(range(1, 27)))
        back = [entry["seq"] for entry in client.wallets.entries_each(wallet=name, limit=10, newest_first=True)]
        self.assertEqual(back, seqs[::-1])
        self.assertEqual([entry["seq"] for entry in client.wallets.replay(wallet=name, after_seq=20)], seqs[20:])
        self.assertEqual(list(client.wallets.replay(wallet=name, after_seq=26)), [])
        stream = client.feed.stream()
        seen = []
        for item in stream:
            seen.append(item)
            if item["event"]["wallet"] == name and item["event"].get("seq") == 26:
                break
        stream.close()
        pulled = [event for _, event in zip(seen, client.feed.read_each(limit=7))]
        self.assertEqual([item["event"] for item in seen], pulled)
        behind = client.feed.stream(cursor=seen[3]["cursor"])
        self.assertEqual(next(behind)["event"], pulled[4])
        behind.close()

    def test_dead_letters(self) -> None:
        name, queue = wallet(), new_id("queue")
        for job in ("a", "b"):
            client.jobs.submit(wallet=name, job=job, queue=queue, price=1)
            client.queues.lease(queue=queue)
            client.jobs.fail(wallet=name, job=job, attempt=1, verdict="definitive", retryable=False)
        self.assertEqual([job["id"] for job in client.dead_letters.list_each(wallet=name, limit=1)], ["a", "b"])
        shown = client.dead_letters.preview(wallet=name)
        done = list(client.dead_letters.redrive_all(wallet=name, as_of=shown["asOf"], confirm=2))
        self.assertEqual(done[-1], {"done": 2, "of": 2, "ended": True, "redriven": 2, "skipped": 0})
        with self.assertRaises(RecoupError) as again:
            list(client.dead_letters.redrive_all(wallet=name, confirm=2))
        self.assertEqual(again.exception.code, "count_changed")

    def test_upstreams(self) -> None:
        pool, upstream = new_id("pool"), new_id("an/upstream ä")
        client.upstreams.register(upstream=upstream, pool=pool, provider=new_id("provider"), max_concurrency=1)
        self.assertEqual(client.upstreams.change(upstream=upstream, max_concurrency=None, quota_group=None)["outcome"], "changed")
        self.assertEqual(client.upstreams.change(upstream=upstream, max_concurrency=1)["outcome"], "changed")
        lease = client.upstreams.select(pool=pool)["lease"]
        self.assertEqual(client.upstreams.select(pool=pool)["retryAfterMs"], 1000)
        limit = {"kind": "rate_limited", "policy": "auto", "source": "retry_after", "forMs": 60_000}
        reported = client.upstreams.report(upstream=upstream, lease=lease, success=False, block=limit)  # type: ignore[arg-type]
        self.assertEqual(reported["outcome"], "blocked")
        self.assertIn(reported["block"], [one["block"] for one in client.blocks.list_each(limit=1)])
        self.assertEqual(client.upstreams.free(block=reported["block"], as_="operator")["outcome"], "closed")  # type: ignore[arg-type]
        self.assertEqual([event["type"] for event in client.upstreams.history_each(upstream=upstream, limit=1)], ["closed", "opened", "changed", "changed", "registered"])
        self.assertTrue(client.pools.get(pool=pool)["usable"])
        for wrong in ("1", True, None):
            with self.assertRaises(RecoupError) as refused:
                client.upstreams.free(block=wrong)  # type: ignore[arg-type]
            self.assertEqual((refused.exception.code, refused.exception.details["field"]), ("invalid", "block"))

    def test_from_many_threads(self) -> None:
        name = wallet()
        outcomes = []

        def submit() -> None:
            outcomes.append(client.jobs.submit(wallet=name, job="one", queue=None, price=40)["outcome"])

        threads = [threading.Thread(target=submit) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(outcomes), ["charged"] + ["duplicate"] * 19)
        self.assertEqual(ledger(name), ["charge -40"])


class Refusals(unittest.TestCase):
    def test_carry_code_status_and_facts(self) -> None:
        name = wallet()
        with self.assertRaises(RecoupError) as refused:
            client.jobs.submit(wallet=name, job="dear", queue=None, price=101)
        error = refused.exception
        self.assertEqual((error.code, error.status, error.retryable), ("insufficient_credits", 402, False))
        self.assertEqual((error.details["balance"], error.details["price"]), (100, 101))
        self.assertTrue(error.request_id)
        self.assertEqual(str(error), "insufficient_credits: The wallet holds 100, the job costs 101.")

    def test_of_what_cannot_be_sent(self) -> None:
        cases = [
            ({"wallet": "", "customer": "x"}, "wallet"),
            ({"wallet": "..", "customer": "x"}, "wallet"),
            ({"wallet": 7, "customer": "x"}, "wallet"),
            ({"wallet": "\ud800", "customer": "x"}, "wallet"),
            ({"wallet": "w", "customer": object()}, "body"),
            ({"wallet": "w", "customer": "x", "overdraft_limit": float("nan")}, "body"),
            ({"wallet": "w", "customer": datetime.now()}, "body"),
        ]
        for given, field in cases:
            with self.assertRaises(RecoupError) as refused:
                client.wallets.open(**given)
            self.assertEqual((refused.exception.code, refused.exception.details["field"]), ("invalid", field))
        with self.assertRaises(RecoupError) as refused:
            client.keys.list(options=Options(headers={"x-a": "b\r\nx: y"}))
        self.assertEqual(refused.exception.details["field"], "headers")

    def test_of_a_client_that_cannot_work(self) -> None:
        cases = [({"url": "recoup"}, "url"), ({"url": "ftp://x"}, "url"), ({"url": "http://u:p@x"}, "url")]
        cases += [({"url": URL, "key": "a\nb"}, "key"), ({"url": URL, "timeout": 0}, "timeout")]
        for given, field in cases:
            with self.assertRaises(RecoupError) as refused:
                RecoupClient(**given)
            self.assertEqual((refused.exception.code, refused.exception.details["field"]), ("invalid", field))

    def test_of_keys(self) -> None:
        with self.assertRaises(RecoupError) as refused:
            connect(URL, "rcp_unknown").keys.list()
        self.assertEqual((refused.exception.code, refused.exception.status), ("unauthorized", 401))
        secret = client.keys.create(name="ben", scopes=["viewer"], customer="ben")["secret"]
        bound = connect(URL, secret)
        self.assertEqual(bound.wallets.balance(wallet=wallet("ben"))["booked"], 100)
        with self.assertRaises(RecoupError) as refused:
            bound.wallets.balance(wallet=wallet("ann"))
        self.assertEqual(refused.exception.code, "no_wallet")
        with self.assertRaises(RecoupError) as refused:
            next(bound.feed.stream())
        self.assertEqual(refused.exception.code, "forbidden")

    def test_every_public_name_says_what_it_is(self) -> None:
        import recoup

        silent = [name for name in recoup.__all__ if name != "OMIT" and not inspect.getdoc(getattr(recoup, name))]
        self.assertEqual(silent, [])
