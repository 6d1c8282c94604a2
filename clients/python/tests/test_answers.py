# Lost answers, and what is not Recoup: cut off, huge, slow, no JSON, redirects.
import http.server
import socketserver
import threading
import time
import unittest
from typing import Any, Callable, List

from recoup import Options, RecoupClient, RecoupError

from .support import client, connect, far, ledger, new_id, wallet

Answer = Callable[[http.server.BaseHTTPRequestHandler], None]


class LostAnswers(unittest.TestCase):
    """The proxy cuts the answers about wallets whose name starts with `cut` off, once or twice; see python.test.ts."""

    def test_one_charge_and_the_same_answer(self) -> None:
        client.wallets.open(wallet="cut-1", customer="ann")
        client.wallets.grant(wallet="cut-1", key="start", amount=100)
        charged = far.jobs.submit(wallet="cut-1", job="j", queue="cut-queue", price=40)
        self.assertEqual((charged["outcome"], charged["balance"]), ("duplicate", 60))
        self.assertEqual(ledger("cut-1"), ["charge -40"])
        [leased] = far.queues.lease(queue="cut-queue")["jobs"]
        self.assertEqual(leased["job"]["attempt"], 1)

    def test_a_key_is_not_made_twice(self) -> None:
        with self.assertRaises(RecoupError) as lost:
            far.keys.create(name="cut-key", scopes=["app"])
        self.assertEqual((lost.exception.code, lost.exception.status), ("unreachable", 0))
        self.assertEqual([key["name"] for key in client.keys.list()["keys"]].count("cut-key"), 1)

    def test_nobody_at_the_address_until_the_deadline(self) -> None:
        nobody = connect("http://127.0.0.1:9", deadline=0.5)
        with self.assertRaises(RecoupError) as lost:
            nobody.queues.list()
        self.assertEqual(lost.exception.code, "unreachable")
        stop = threading.Event()
        stop.set()
        with self.assertRaises(RecoupError):
            nobody.queues.list(options=Options(deadline=3600, stop=stop))


class Strangers(unittest.TestCase):
    def before(self, answer: Answer, **options: Any) -> RecoupClient:
        """A client of something that answers so."""

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                try:
                    answer(self)
                except OSError:
                    pass
                self.close_connection = True

            do_POST = do_GET

            def log_message(self, *_: Any) -> None:
                pass

        class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
            daemon_threads = True

        server = Server(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return connect(f"http://127.0.0.1:{server.server_port}", **{"deadline": 1.5, **options})

    def refused(self, call: Callable[[], Any]) -> RecoupError:
        with self.assertRaises(RecoupError) as refused:
            call()
        return refused.exception

    @staticmethod
    def say(status: int, kind: str, body: bytes, *headers: Any) -> Answer:
        def answer(request: http.server.BaseHTTPRequestHandler) -> None:
            request.send_response(status)
            request.send_header("content-type", kind)
            for name, value in headers or [("content-length", str(len(body)))]:
                request.send_header(name, value)
            request.end_headers()
            request.wfile.write(body)

        return answer

    def test_pages(self) -> None:
        for status in (200, 404, 413):
            error = self.refused(self.before(self.say(status, "text/html", b"<h1>nginx</h1>")).queues.list)
            self.assertEqual((error.code, error.status, error.retryable), ("unexpected_answer", status, False))
        error = self.refused(self.before(self.say(502, "text/html", b"")).queues.list)
        self.assertEqual((error.code, error.status, error.retryable), ("unexpected_answer", 502, True))

    def test_a_proxy_whose_server_comes_back(self) -> None:
        answers = [self.say(503, "text/html", b""), self.say(200, "application/json", b'{"que'), self.say(200, "application/json", b'{"queues":[]}')]
        asked: List[Answer] = []

        def answer(request: http.server.BaseHTTPRequestHandler) -> None:
            asked.append(answers[len(asked)])
            asked[-1](request)

        self.assertEqual(self.before(answer).queues.list(), {"queues": []})
        self.assertEqual(len(asked), 3)

    def test_an_announced_length_that_does_not_come_counts_as_lost(self) -> None:
        short = self.say(200, "application/json", b'{"queues":[]}', ("content-length", "100"))
        self.assertEqual(self.refused(self.before(short).queues.list).code, "unreachable")

    def test_a_redirect_is_not_followed(self) -> None:
        for status in (301, 302, 307, 308):
            moved = self.say(status, "text/html", b"", ("location", "http://elsewhere/"), ("content-length", "0"))
            error = self.refused(self.before(moved, key="rcp_secret").keys.list)
            self.assertEqual((error.code, error.status), ("unexpected_answer", status))
            self.assertIn("http://elsewhere/", error.message)

    def test_a_retry_after_later_than_the_deadline(self) -> None:
        busy = self.say(503, "application/problem+json", b'{"code":"wallet_busy"}', ("retry-after", "3600"), ("content-length", "22"))
        started = time.monotonic()
        error = self.refused(self.before(busy).queues.list)
        self.assertEqual((error.code, error.retry_after), ("wallet_busy", 3600.0))
        self.assertLess(time.monotonic() - started, 60)

    def test_an_answer_without_end(self) -> None:
        def answer(request: http.server.BaseHTTPRequestHandler) -> None:
            self.say(200, "application/json", b"", ("connection", "close"))(request)
            while True:
                request.wfile.write(b" " * 65_536)

        error = self.refused(self.before(answer, max_answer_bytes=1_000_000).queues.list)
        self.assertEqual((error.code, error.details), ("unexpected_answer", {"max_answer_bytes": 1_000_000}))

    def test_no_answer_and_one_that_comes_drop_by_drop(self) -> None:
        silent = self.before(lambda _: time.sleep(3), timeout=0.2, deadline=0.5)
        self.assertEqual(self.refused(silent.queues.list).code, "unreachable")

        def drops(request: http.server.BaseHTTPRequestHandler) -> None:
            self.say(200, "application/json", b"", ("connection", "close"))(request)
            for _ in range(1000):
                request.wfile.write(b" ")
                time.sleep(0.01)

        error = self.refused(self.before(drops, timeout=0.3, deadline=0.5).queues.list)
        self.assertEqual((error.code, error.message), ("unreachable", "No answer: the time limit passed"))

    def test_streams(self) -> None:
        def redrive(text: bytes, **options: Any) -> RecoupError:
            stranger = self.before(self.say(200, "application/x-ndjson", text), **options)
            return self.refused(lambda: list(stranger.dead_letters.redrive_all(confirm=1)))

        progress = b'{"done":1,"of":2,"ended":false}\n'
        self.assertEqual(redrive(progress + b'{"error":{"code":"internal","status":500}}\n').code, "internal")
        self.assertEqual(redrive(progress + b"<html>\n").code, "unexpected_answer")
        self.assertEqual(redrive(progress).message, "The stream ended before its end.")
        self.assertEqual(redrive(b"x" * 5000, max_answer_bytes=1000).code, "unexpected_answer")

        event = 'id: a\r\ndata: {"kind":\r\ndata: "ä"}\r\n\r\n: alive\n\nid: b\ndata: {}\n\nid: c\ndata: {"cut'.encode()
        asked: List[str] = []

        def feed(request: http.server.BaseHTTPRequestHandler) -> None:
            asked.append(request.path)
            self.say(200, "text/event-stream", event, ("connection", "close"))(request)

        items = self.before(feed).feed.stream()
        self.assertEqual(next(items), {"cursor": "a", "event": {"kind": "ä"}})
        self.assertEqual([next(items)["cursor"], next(items)["cursor"]], ["b", "a"])
        items.close()
        self.assertEqual(asked, ["/v1/feed/stream", "/v1/feed/stream?cursor=b"])

    def test_a_payload_that_is_too_large(self) -> None:
        name = wallet()
        for size in (2_000_000, 20_000_000):
            with self.assertRaises(RecoupError) as refused:
                client.jobs.submit(wallet=name, job=new_id("job"), queue="q", price=1, payload="x" * size, options=Options(deadline=5))
            self.assertEqual(refused.exception.code, "invalid" if size < 4_000_000 else "too_large")
