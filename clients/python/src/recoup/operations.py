# Written by `npm run docs` from the OpenAPI document of the service: change the operations, not this file.
"""Every operation of the service as a method with typed arguments, in groups."""
from typing import Any, Dict, Generator, List, Literal, Optional, Union

from .operation import OMIT, Group, Operation, Options
from .answers import *  # noqa: F403


class Wallets(Group):
    def open(self, *, wallet: str, customer: str, unit: str = OMIT, overdraft_limit: int = OMIT, options: Optional[Options] = None) -> "Opened":
        """Open a wallet.

        wallet: The id of the wallet, yours. 1 to 200 printable characters, not "." or "..".
        customer: Who pays: an id of yours. 1 to 200 printable characters, not "." or "..".
        unit: The kind of credit; `credit` unless set. 1 to 200 printable characters, not "." or "..".
        overdraft_limit: How far below zero a submit may go; 0 unless set.
        """
        return self._client._call("wallets.open", {"wallet": wallet, "customer": customer, "unit": unit, "overdraftLimit": overdraft_limit}, options)

    def change(self, *, wallet: str, overdraft_limit: int = OMIT, status: Literal["active", "closed"] = OMIT, options: Optional[Options] = None) -> "WalletsChangeAnswer":
        """Change the overdraft limit or the status of a wallet.

        wallet: The id of the wallet, yours. 1 to 200 printable characters, not "." or "..".
        overdraft_limit: How far below zero a submit may go.
        status: Closed: no new jobs; what runs goes on.
        """
        return self._client._call("wallets.change", {"wallet": wallet, "overdraftLimit": overdraft_limit, "status": status}, options)

    def open_many(self, *, items: List[Dict[str, Any]], options: Optional[Options] = None) -> "WalletsOpenManyAnswer":
        """Open in a batch: an answer per item, in order.

        items: 1 to 1,000 of what the single form takes; each is answered at its place.
        """
        return self._client._call("wallets.openMany", {"items": items}, options)

    def balance(self, *, wallet: str, at: str = OMIT, parts: bool = OMIT, options: Optional[Options] = None) -> Union["Balance", "BalanceAt"]:
        """What a wallet holds: now, or at a past instant.

        wallet: The id of the wallet, yours. 1 to 200 printable characters, not "." or "..".
        at: RFC 3339. The balance after the last entry at or before it.
        parts: With `at`: also what stood at risk then, for which the entries up to it are read.
        """
        return self._client._call("wallets.balance", {"wallet": wallet, "at": at, "parts": parts}, options)

    def balances(self, *, wallets: List[str], options: Optional[Options] = None) -> "WalletsBalancesAnswer":
        """What many wallets hold at one moment: a balance per wallet, in order.

        wallets: Ids of wallets, 1 to 1,000.
        """
        return self._client._call("wallets.balances", {"wallets": wallets}, options)

    def list(self, *, customer: str = OMIT, cursor: str = OMIT, limit: int = OMIT, options: Optional[Options] = None) -> "WalletPage":
        """The wallets of a customer, or of everybody, in the order of their ids, page by page.

        customer: Only wallets of this customer. 1 to 200 printable characters, not "." or "..".
        cursor: Where to go on: the `cursor` of the page before, a wallet. 1 to 200 printable characters, not "." or "..".
        limit: At most this many.
        """
        return self._client._call("wallets.list", {"customer": customer, "cursor": cursor, "limit": limit}, options)

    def list_each(self, *, customer: str = OMIT, cursor: str = OMIT, limit: int = OMIT, options: Optional[Options] = None) -> Generator["Wallet", None, None]:
        """The wallets of a customer, or of everybody, in the order of their ids, page by page: one after the other, page by page, to the end.

        customer: Only wallets of this customer. 1 to 200 printable characters, not "." or "..".
        cursor: Where to go on: the `cursor` of the page before, a wallet. 1 to 200 printable characters, not "." or "..".
        limit: At most this many.
        """
        return self._client._each("wallets.list", {"customer": customer, "cursor": cursor, "limit": limit}, options)

    def remainders(self, *, wallet: str = OMIT, customer: str = OMIT, cursor: str = OMIT, limit: int = OMIT, options: Optional[Options] = None) -> "RemainderPage":
        """Unused credit by grant, wallet by wallet in the order of its use.

        wallet: The id of the wallet, yours. 1 to 200 printable characters, not "." or "..".
        customer: Only wallets of this customer. 1 to 200 printable characters, not "." or "..".
        cursor: Where to go on: the `cursor` of the page before, a wallet. 1 to 200 printable characters, not "." or "..".
        limit: At most this many.
        """
        return self._client._call("wallets.remainders", {"wallet": wallet, "customer": customer, "cursor": cursor, "limit": limit}, options)

    def remainders_each(self, *, wallet: str = OMIT, customer: str = OMIT, cursor: str = OMIT, limit: int = OMIT, options: Optional[Options] = None) -> Generator["Remainder", None, None]:
        """Unused credit by grant, wallet by wallet in the order of its use: one after the other, page by page, to the end.

        wallet: The id of the wallet, yours. 1 to 200 printable characters, not "." or "..".
        customer: Only wallets of this customer. 1 to 200 printable characters, not "." or "..".
        cursor: Where to go on: the `cursor` of the page before, a wallet. 1 to 200 printable characters, not "." or "..".
        limit: At most this many.
        """
        return self._client._each("wallets.remainders", {"wallet": wallet, "customer": customer, "cursor": cursor, "limit": limit}, options)

    def entries(self, *, wallet: str, cursor: int = OMIT, limit: int = OMIT, newest_first: bool = OMIT, options: Optional[Options] = None) -> "EntryPage":
        """The entries of a wallet, page by page.

        wallet: The id of the wallet, yours. 1 to 200 printable characters, not "." or "..".
        cursor: Where to go on: the `cursor` of the page before.
        limit: At most this many.
        newest_first: From the newest back.
        """
        return self._client._call("wallets.entries", {"wallet": wallet, "cursor": cursor, "limit": limit, "newestFirst": newest_first}, options)

    def entries_each(self, *, wallet: str, cursor: int = OMIT, limit: int = OMIT, newest_first: bool = OMIT, options: Optional[Options] = None) -> Generator["Entry", None, None]:
        """The entries of a wallet, page by page: one after the other, page by page, to the end.

        wallet: The id of the wallet, yours. 1 to 200 printable characters, not "." or "..".
        cursor: Where to go on: the `cursor` of the page before.
        limit: At most this many.
        newest_first: From the newest back.
        """
        return self._client._each("wallets.entries", {"wallet": wallet, "cursor": cursor, "limit": limit, "newestFirst": newest_first}, options)

    def replay(self, *, wallet: str, after_seq: int = OMIT, options: Optional[Options] = None) -> Generator["Entry", None, None]:
        """Why the balance is what it is: every entry in order, as a stream.

        wallet: The id of the wallet, yours. 1 to 200 printable characters, not "." or "..".
        after_seq: Start behind this entry.
        """
        return self._client._stream("wallets.replay", {"wallet": wallet, "afterSeq": after_seq}, options)

    def grant(self, *, wallet: str, key: str, amount: int, reason: str = OMIT, actor: str = OMIT, note: str = OMIT, expires_at: str = OMIT, priority: int = OMIT, options: Optional[Options] = None) -> "Granted":
        """Add credit, once per key.

        wallet: The id of the wallet, yours. 1 to 200 printable characters, not "." or "..".
        key: Your key of this entry (a payment, a ticket): once per wallet, for ever. 1 to 200 printable characters, not "." or "..".
        amount: Credits to add.
        reason: A short code that stays in the ledger.
        actor: Who did it. 1 to 200 printable characters, not "." or "..".
        note: Free text that can be erased.
        expires_at: RFC 3339. When what is left of it expires; it stays unless set.
        priority: What is used first: 0 before 1; 5 unless set. Among equals what expires first, then the oldest.
        """
        return self._client._call("wallets.grant", {"wallet": wallet, "key": key, "amount": amount, "reason": reason, "actor": actor, "note": note, "expiresAt": expires_at, "priority": priority}, options)

    def grant_many(self, *, items: List[Dict[str, Any]], options: Optional[Options] = None) -> "WalletsGrantManyAnswer":
        """Grant in a batch: an answer per item, in order.

        items: 1 to 1,000 of what the single form takes; each is answered at its place.
        """
        return self._client._call("wallets.grantMany", {"items": items}, options)

    def adjust(self, *, wallet: str, key: str, amount: int, reason: str = OMIT, actor: str = OMIT, note: str = OMIT, job: str = OMIT, options: Optional[Options] = None) -> "Adjusted":
        """Correct a balance by ±amount, with who and why.

        wallet: The id of the wallet, yours. 1 to 200 printable characters, not "." or "..".
        key: Your key of this entry (a payment, a ticket): once per wallet, for ever. 1 to 200 printable characters, not "." or "..".
        amount: Credits to add or take; not 0. May go into debt.
        reason: A short code that stays in the ledger.
        actor: Who did it. 1 to 200 printable characters, not "." or "..".
        note: Free text that can be erased.
        job: The job it is about. 1 to 200 printable characters, not "." or "..".
        """
        return self._client._call("wallets.adjust", {"wallet": wallet, "key": key, "amount": amount, "reason": reason, "actor": actor, "note": note, "job": job}, options)

    def adjust_many(self, *, items: List[Dict[str, Any]], options: Optional[Options] = None) -> "WalletsAdjustManyAnswer":
        """Adjust in a batch: an answer per item, in order.

        items: 1 to 1,000 of what the single form takes; each is answered at its place.
        """
        return self._client._call("wallets.adjustMany", {"items": items}, options)


class Plans(Group):
    def set(self, *, plan: str, credits: int = OMIT, every: Literal["day", "week", "month", "year"] = OMIT, every_count: int = OMIT, zone: str = OMIT, renews: Literal["paid", "itself"] = OMIT, expires: bool = OMIT, priority: int = OMIT, grace_ms: int = OMIT, status: Literal["on", "off"] = OMIT, options: Optional[Options] = None) -> "PlansSetAnswer":
        """Set a plan: what a period grants, and how long it is.

        plan: The id of the plan, yours. 1 to 200 printable characters, not "." or "..".
        credits: What a period grants.
        every: The length of a period, in civil time of the zone.
        every_count: So many of them; 1 unless set.
        zone: An IANA zone; UTC unless set.
        renews: Whether each period has to be paid, or begins by itself; paid unless set.
        expires: Whether what is left of a period’s credit expires with it; true unless set.
        priority: Of its grants: 0 is used before 1; 5 unless set.
        grace_ms: How long after its end a period may still be paid; 3 days unless set.
        status: Off: it takes nobody new.
        """
        return self._client._call("plans.set", {"plan": plan, "credits": credits, "every": every, "everyCount": every_count, "zone": zone, "renews": renews, "expires": expires, "priority": priority, "graceMs": grace_ms, "status": status}, options)

    def list(self, *, cursor: str = OMIT, limit: int = OMIT, options: Optional[Options] = None) -> "PlanPage":
        """Plans in the order of their ids, page by page.

        cursor: Where to go on: the `cursor` of the page before. 1 to 200 printable characters, not "." or "..".
        limit: At most this many.
        """
        return self._client._call("plans.list", {"cursor": cursor, "limit": limit}, options)

    def list_each(self, *, cursor: str = OMIT, limit: int = OMIT, options: Optional[Options] = None) -> Generator["Plan", None, None]:
        """Plans in the order of their ids, page by page: one after the other, page by page, to the end.

        cursor: Where to go on: the `cursor` of the page before. 1 to 200 printable characters, not "." or "..".
        limit: At most this many.
        """
        return self._client._each("plans.list", {"cursor": cursor, "limit": limit}, options)


class Subscriptions(Group):
    def start(self, *, subscription: str, customer: str, wallet: str, plan: str, pending_ms: int = OMIT, actor: str = OMIT, options: Optional[Options] = None) -> "SubscriptionsStartAnswer":
        """Begin a checkout, before it is paid.

        subscription: The id of the subscription, yours.
        customer: Who pays: an id of yours. 1 to 200 printable characters, not "." or "..".
        wallet: The wallet of the customer that the credit goes to. 1 to 200 printable characters, not "." or "..".
        plan: The id of the plan, yours. 1 to 200 printable characters, not "." or "..".
        pending_ms: How long it waits for its payment; a day unless set.
        actor: Who did it. 1 to 200 printable characters, not "." or "..".
        """
        return self._client._call("subscriptions.start", {"subscription": subscription, "customer": customer, "wallet": wallet, "plan": plan, "pendingMs": pending_ms, "actor": actor}, options)

    def get(self, *, subscription: str, options: Optional[Options] = None) -> "Subscription":
        """One subscription.

        subscription: The id of the subscription, yours.
        """
        return self._client._call("subscriptions.get", {"subscription": subscription}, options)

    def pay(self, *, subscription: str, key: str, actor: str = OMIT, reason: str = OMIT, options: Optional[Options] = None) -> "Paid":
        """A payment arrived: begin the subscription, or its next period.

        subscription: The id of the subscription, yours.
        key: Of the payment (an invoice, a charge): once per subscription, for ever. 1 to 200 printable characters, not "." or "..".
        actor: Who did it. 1 to 200 printable characters, not "." or "..".
        reason: A short code that stays.
        """
        return self._client._call("subscriptions.pay", {"subscription": subscription, "key": key, "actor": actor, "reason": reason}, options)

    def change(self, *, subscription: str, plan: str, from_: Literal["now", "period"], key: str = OMIT, actor: str = OMIT, reason: str = OMIT, options: Optional[Options] = None) -> "SubscriptionsChangeAnswer":
        """Another plan, now with a fair part of its credit, or from the next period.

        subscription: The id of the subscription, yours.
        plan: The id of the plan, yours. 1 to 200 printable characters, not "." or "..".
        key: Of yours: said again with it, it changes nothing more. 1 to 200 printable characters, not "." or "..".
        actor: Who did it. 1 to 200 printable characters, not "." or "..".
        reason: A short code that stays.
        """
        return self._client._call("subscriptions.change", {"subscription": subscription, "plan": plan, "from": from_, "key": key, "actor": actor, "reason": reason}, options)

    def cancel(self, *, subscription: str, at: Literal["now", "period", "never"], key: str = OMIT, actor: str = OMIT, reason: str = OMIT, options: Optional[Options] = None) -> "SubscriptionsCancelAnswer":
        """End it now or with its period, or take that back.

        subscription: The id of the subscription, yours.
        at: Never: it goes on after all.
        key: Of yours: said again with it, it changes nothing more. 1 to 200 printable characters, not "." or "..".
        actor: Who did it. 1 to 200 printable characters, not "." or "..".
        reason: A short code that stays.
        """
        return self._client._call("subscriptions.cancel", {"subscription": subscription, "at": at, "key": key, "actor": actor, "reason": reason}, options)

    def history(self, *, subscription: str, options: Optional[Options] = None) -> "SubscriptionsHistoryAnswer":
        """What happened to a subscription, oldest first.

        subscription: The id of the subscription, yours.
        """
        return self._client._call("subscriptions.history", {"subscription": subscription}, options)

    def list(self, *, customer: str = OMIT, status: Literal["pending", "active", "past_due", "expired", "revoked"] = OMIT, cursor: str = OMIT, limit: int = OMIT, options: Optional[Options] = None) -> "SubscriptionPage":
        """Subscriptions of a customer, or of everybody, in the order of their ids, page by page.

        customer: Only of this customer. 1 to 200 printable characters, not "." or "..".
        status: Only those.
        cursor: Where to go on: the `cursor` of the page before. 1 to 200 printable characters, not "." or "..".
        limit: At most this many.
        """
        return self._client._call("subscriptions.list", {"customer": customer, "status": status, "cursor": cursor, "limit": limit}, options)

    def list_each(self, *, customer: str = OMIT, status: Literal["pending", "active", "past_due", "expired", "revoked"] = OMIT, cursor: str = OMIT, limit: int = OMIT, options: Optional[Options] = None) -> Generator["Subscription", None, None]:
        """Subscriptions of a customer, or of everybody, in the order of their ids, page by page: one after the other, page by page, to the end.

        customer: Only of this customer. 1 to 200 printable characters, not "." or "..".
        status: Only those.
        cursor: Where to go on: the `cursor` of the page before. 1 to 200 printable characters, not "." or "..".
        limit: At most this many.
        """
        return self._client._each("subscriptions.list", {"customer": customer, "status": status, "cursor": cursor, "limit": limit}, options)

    def strays(self, *, before: str = OMIT, limit: int = OMIT, options: Optional[Options] = None) -> "SubscriptionsStraysAnswer":
        """Payments that could neither begin nor renew anything, newest first.

        before: RFC 3339. Only older ones.
        limit: At most this many.
        """
        return self._client._call("subscriptions.strays", {"before": before, "limit": limit}, options)


class Payments(Group):
    def tell(self, *, payment: str, purchase: Dict[str, Any] = OMIT, subscription: str = OMIT, also: str = OMIT, amount: int = OMIT, paid: bool = OMIT, refunded: int = OMIT, dispute: Dict[str, Any] = OMIT, options: Optional[Options] = None) -> "ToldPayment":
        """Say something of a payment, in any order and any number of times: its credit follows.

        payment: The payment’s id at its provider, with the provider’s name.
        subscription: Instead: the subscription whose period it pays for. 1 to 200 printable characters, not "." or "..".
        also: Another id of the same payment.
        amount: All of it, in the currency’s smallest unit.
        paid: True once the money has come.
        refunded: How much was given back so far, all refunds together.
        """
        return self._client._call("payments.tell", {"payment": payment, "purchase": purchase, "subscription": subscription, "also": also, "amount": amount, "paid": paid, "refunded": refunded, "dispute": dispute}, options)

    def list(self, *, open: bool = OMIT, before: str = OMIT, limit: int = OMIT, options: Optional[Options] = None) -> "PaymentsListAnswer":
        """Payments, newest first; or only those that are paid and granted nothing.

        open: Only those that are paid and granted nothing: somebody has to look.
        before: RFC 3339. Only older ones.
        limit: At most this many.
        """
        return self._client._call("payments.list", {"open": open, "before": before, "limit": limit}, options)

    def missing(self, *, payments: List[str], options: Optional[Options] = None) -> "PaymentsMissingAnswer":
        """Which of these are not known as paid and granted: a provider’s export against the ledger."""
        return self._client._call("payments.missing", {"payments": payments}, options)

    def take(self, *, provider: Literal["stripe", "generic"], body: Any, options: Optional[Options] = None) -> "PaymentTaken":
        """The webhook of a provider of payments.

        provider: Who sends it.
        body: As it was signed: the bytes, or an object.
        """
        return self._client._call("payments.take", {"provider": provider, "body": body}, options)


class Jobs(Group):
    def submit(self, *, wallet: str, job: str, queue: Optional[str], price: int, payload: Any = OMIT, priority: int = OMIT, not_before: str = OMIT, delay_ms: int = OMIT, max_failures: int = OMIT, labels: Dict[str, Any] = OMIT, deadline_ms: int = OMIT, upstream_ref: str = OMIT, options: Optional[Options] = None) -> "Submitted":
        """Charge the price and queue the job.

        wallet: The id of the wallet, yours. 1 to 200 printable characters, not "." or "..".
        job: The id of the job in its wallet, yours; it is the idempotency key. 1 to 200 printable characters, not "." or "..".
        price: What it is charged.
        payload: JSON for the worker, at most 1 MiB.
        priority: 0 first … 9 last; 5 unless set.
        not_before: The earliest instant of the first attempt.
        delay_ms: The same as a delay.
        max_failures: After this many failures it is a dead letter.
        labels: Your own words about the job, {"name": "value"}: for reading, nothing goes by them.
        deadline_ms: Only without a queue: when it counts as failed unless it is heard of.
        upstream_ref: Only without a queue: the reference that the upstream gave. 1 to 200 printable characters, not "." or "..".
        """
        return self._client._call("jobs.submit", {"wallet": wallet, "job": job, "queue": queue, "price": price, "payload": payload, "priority": priority, "notBefore": not_before, "delayMs": delay_ms, "maxFailures": max_failures, "labels": labels, "deadlineMs": deadline_ms, "upstreamRef": upstream_ref}, options)

    def get(self, *, wallet: str, job: str, options: Optional[Options] = None) -> "JobsGetAnswer":
        """One job with its payload and result.

        wallet: The id of the wallet, yours. 1 to 200 printable characters, not "." or "..".
        job: The id of the job in its wallet, yours; it is the idempotency key. 1 to 200 printable characters, not "." or "..".
        """
        return self._client._call("jobs.get", {"wallet": wallet, "job": job}, options)

    def submit_many(self, *, items: List[Dict[str, Any]], options: Optional[Options] = None) -> "JobsSubmitManyAnswer":
        """Submit a batch: an answer per item, as if they were submitted one by one.

        items: 1 to 1,000 of what the single form takes; each is answered at its place.
        """
        return self._client._call("jobs.submitMany", {"items": items}, options)

    def list(self, *, wallet: str, state: Literal["queued", "running", "waiting", "succeeded", "dead", "failed", "canceled", "discarded"] = OMIT, queue: str = OMIT, cursor: int = OMIT, limit: int = OMIT, options: Optional[Options] = None) -> "JobPage":
        """The jobs of a wallet, newest first, page by page.

        wallet: The id of the wallet, yours. 1 to 200 printable characters, not "." or "..".
        state: Only those in this state.
        queue: The name of the queue. 1 to 200 printable characters, not "." or "..".
        cursor: Where to go on: the `cursor` of the page before.
        limit: At most this many.
        """
        return self._client._call("jobs.list", {"wallet": wallet, "state": state, "queue": queue, "cursor": cursor, "limit": limit}, options)

    def list_each(self, *, wallet: str, state: Literal["queued", "running", "waiting", "succeeded", "dead", "failed", "canceled", "discarded"] = OMIT, queue: str = OMIT, cursor: int = OMIT, limit: int = OMIT, options: Optional[Options] = None) -> Generator["Job", None, None]:
        """The jobs of a wallet, newest first, page by page: one after the other, page by page, to the end.

        wallet: The id of the wallet, yours. 1 to 200 printable characters, not "." or "..".
        state: Only those in this state.
        queue: The name of the queue. 1 to 200 printable characters, not "." or "..".
        cursor: Where to go on: the `cursor` of the page before.
        limit: At most this many.
        """
        return self._client._each("jobs.list", {"wallet": wallet, "state": state, "queue": queue, "cursor": cursor, "limit": limit}, options)

    def attempts(self, *, wallet: str, job: str, options: Optional[Options] = None) -> "JobsAttemptsAnswer":
        """How the attempts of a job ended.

        wallet: The id of the wallet, yours. 1 to 200 printable characters, not "." or "..".
        job: The id of the job in its wallet, yours; it is the idempotency key. 1 to 200 printable characters, not "." or "..".
        """
        return self._client._call("jobs.attempts", {"wallet": wallet, "job": job}, options)

    def entries(self, *, wallet: str, job: str, options: Optional[Options] = None) -> "JobsEntriesAnswer":
        """What a job put into the ledger, with the adjusts that name it.

        wallet: The id of the wallet, yours. 1 to 200 printable characters, not "." or "..".
        job: The id of the job in its wallet, yours; it is the idempotency key. 1 to 200 printable characters, not "." or "..".
        """
        return self._client._call("jobs.entries", {"wallet": wallet, "job": job}, options)

    def by_upstream_ref(self, *, upstream_ref: str, options: Optional[Options] = None) -> "JobsByUpstreamRefAnswer":
        """The jobs that carry a reference of an upstream, with the attempt it belongs to.

        upstream_ref: The reference that the upstream gave. 1 to 200 printable characters, not "." or "..".
        """
        return self._client._call("jobs.byUpstreamRef", {"upstreamRef": upstream_ref}, options)

    def prune(self, *, older_than_ms: int, state: Literal["succeeded", "canceled"] = OMIT, count: int = OMIT, dry_run: bool = OMIT, options: Optional[Options] = None) -> "JobsPruneAnswer":
        """Delete rows of jobs that ended long ago, a bounded number at a time; their entries stay.

        older_than_ms: Only jobs that ended longer ago.
        state: Only jobs that ended so; both unless set.
        count: At most this many; 1,000 unless set.
        dry_run: Delete nothing; say how many there are in all.
        """
        return self._client._call("jobs.prune", {"olderThanMs": older_than_ms, "state": state, "count": count, "dryRun": dry_run}, options)

    def fail(self, *, wallet: str, job: str, attempt: int = OMIT, verdict: Literal["definitive", "presumed"] = OMIT, retryable: bool = OMIT, retry_after_ms: int = OMIT, reason: str = OMIT, upstream_ref: str = OMIT, options: Optional[Options] = None) -> "Failed":
        """Report a failed attempt: refunds and retries, or ends the job.

        wallet: The id of the wallet, yours. 1 to 200 printable characters, not "." or "..".
        job: The id of the job in its wallet, yours; it is the idempotency key. 1 to 200 printable characters, not "." or "..".
        attempt: The number of the attempt: the fencing token.
        verdict: What the report is worth; `presumed` unless set.
        retryable: False: straight to the dead letters.
        retry_after_ms: The Retry-After of the upstream.
        reason: Why, for people. Cut at 2,000 characters.
        upstream_ref: The reference that the upstream gave. 1 to 200 printable characters, not "." or "..".
        """
        return self._client._call("jobs.fail", {"wallet": wallet, "job": job, "attempt": attempt, "verdict": verdict, "retryable": retryable, "retryAfterMs": retry_after_ms, "reason": reason, "upstreamRef": upstream_ref}, options)

    def succeed(self, *, wallet: str, job: str, attempt: int = OMIT, result: Any = OMIT, final_price: int = OMIT, upstream_ref: str = OMIT, options: Optional[Options] = None) -> "Succeeded":
        """The work is done, whoever says so and however late.

        wallet: The id of the wallet, yours. 1 to 200 printable characters, not "." or "..".
        job: The id of the job in its wallet, yours; it is the idempotency key. 1 to 200 printable characters, not "." or "..".
        attempt: The number of the attempt: the fencing token.
        result: JSON, at most 1 MiB.
        final_price: What the job turned out to be worth: settles the difference to its price.
        upstream_ref: The reference that the upstream gave. 1 to 200 printable characters, not "." or "..".
        """
        return self._client._call("jobs.succeed", {"wallet": wallet, "job": job, "attempt": attempt, "result": result, "finalPrice": final_price, "upstreamRef": upstream_ref}, options)

    def settle(self, *, wallet: str, job: str, final_price: int, options: Optional[Options] = None) -> "JobsSettleAnswer":
        """Book what an ended job turned out to be worth.

        wallet: The id of the wallet, yours. 1 to 200 printable characters, not "." or "..".
        job: The id of the job in its wallet, yours; it is the idempotency key. 1 to 200 printable characters, not "." or "..".
        final_price: What it was worth.
        """
        return self._client._call("jobs.settle", {"wallet": wallet, "job": job, "finalPrice": final_price}, options)

    def cancel(self, *, wallet: str, job: str, keep: int = OMIT, reason: str = OMIT, options: Optional[Options] = None) -> "JobsCancelAnswer":
        """Give a job up: refunds, and keeps what was already delivered.

        wallet: The id of the wallet, yours. 1 to 200 printable characters, not "." or "..".
        job: The id of the job in its wallet, yours; it is the idempotency key. 1 to 200 printable characters, not "." or "..".
        keep: What the part already delivered is worth.
        reason: Why, for people. Cut at 2,000 characters.
        """
        return self._client._call("jobs.cancel", {"wallet": wallet, "job": job, "keep": keep, "reason": reason}, options)

    def fail_many(self, *, items: List[Dict[str, Any]], options: Optional[Options] = None) -> "JobsFailManyAnswer":
        """Report failures in a batch: an answer per item, in order.

        items: 1 to 1,000 of what the single form takes; each is answered at its place.
        """
        return self._client._call("jobs.failMany", {"items": items}, options)

    def succeed_many(self, *, items: List[Dict[str, Any]], options: Optional[Options] = None) -> "JobsSucceedManyAnswer":
        """Report successes in a batch: an answer per item, in order.

        items: 1 to 1,000 of what the single form takes; each is answered at its place.
        """
        return self._client._call("jobs.succeedMany", {"items": items}, options)

    def extend(self, *, wallet: str, job: str, attempt: int, lease_ms: int = OMIT, upstream_ref: str = OMIT, options: Optional[Options] = None) -> "JobsExtendAnswer":
        """Keep a lease.

        wallet: The id of the wallet, yours. 1 to 200 printable characters, not "." or "..".
        job: The id of the job in its wallet, yours; it is the idempotency key. 1 to 200 printable characters, not "." or "..".
        attempt: The number of the attempt: the fencing token.
        lease_ms: From now; the queue’s unless set.
        upstream_ref: The reference that the upstream gave: a callback finds the job by it. 1 to 200 printable characters, not "." or "..".
        """
        return self._client._call("jobs.extend", {"wallet": wallet, "job": job, "attempt": attempt, "leaseMs": lease_ms, "upstreamRef": upstream_ref}, options)

    def hand_over(self, *, wallet: str, job: str, attempt: int, deadline_ms: int = OMIT, upstream_ref: str = OMIT, options: Optional[Options] = None) -> "JobsHandOverAnswer":
        """The provider works on it: no lease any more, its callback or the deadline ends it.

        wallet: The id of the wallet, yours. 1 to 200 printable characters, not "." or "..".
        job: The id of the job in its wallet, yours; it is the idempotency key. 1 to 200 printable characters, not "." or "..".
        attempt: The number of the attempt: the fencing token.
        deadline_ms: When it counts as failed unless it is heard of; an hour unless set.
        upstream_ref: The reference that the upstream gave: a callback finds the job by it. 1 to 200 printable characters, not "." or "..".
        """
        return self._client._call("jobs.handOver", {"wallet": wallet, "job": job, "attempt": attempt, "deadlineMs": deadline_ms, "upstreamRef": upstream_ref}, options)

    def release(self, *, wallet: str, job: str, attempt: int, delay_ms: int = OMIT, reason: str = OMIT, upstream_ref: str = OMIT, options: Optional[Options] = None) -> "JobsReleaseAnswer":
        """Give an attempt back unfinished: no failure, no refund.

        wallet: The id of the wallet, yours. 1 to 200 printable characters, not "." or "..".
        job: The id of the job in its wallet, yours; it is the idempotency key. 1 to 200 printable characters, not "." or "..".
        attempt: The number of the attempt: the fencing token.
        delay_ms: Not before this delay.
        reason: Why, for people. Cut at 2,000 characters.
        upstream_ref: The reference that the upstream gave: a callback finds the job by it. 1 to 200 printable characters, not "." or "..".
        """
        return self._client._call("jobs.release", {"wallet": wallet, "job": job, "attempt": attempt, "delayMs": delay_ms, "reason": reason, "upstreamRef": upstream_ref}, options)

    def report(self, *, wallet: str, job: str, attempt: int, answer: "ProviderAnswer", result: Any = OMIT, final_price: int = OMIT, upstream_ref: str = OMIT, use: Dict[str, Any] = OMIT, options: Optional[Options] = None) -> "JobReported":
        """Say what the provider answered to an attempt that was leased with an upstream: for the job and the upstream in one.

        wallet: The id of the wallet, yours. 1 to 200 printable characters, not "." or "..".
        job: The id of the job in its wallet, yours; it is the idempotency key. 1 to 200 printable characters, not "." or "..".
        attempt: The number of the attempt: the fencing token.
        result: Of a success: JSON, at most 1 MiB.
        final_price: Of a success: what the job turned out to be worth.
        upstream_ref: The reference that the upstream gave: a callback finds the job by it. 1 to 200 printable characters, not "." or "..".
        use: What was used, by unit: `{"tokens": 1200}`. One of `requests` unless it says how many.
        """
        return self._client._call("jobs.report", {"wallet": wallet, "job": job, "attempt": attempt, "answer": answer, "result": result, "finalPrice": final_price, "upstreamRef": upstream_ref, "use": use}, options)


class UpstreamRefs(Group):
    def fail(self, *, upstream_ref: str, verdict: Literal["definitive", "presumed"] = OMIT, retryable: bool = OMIT, retry_after_ms: int = OMIT, reason: str = OMIT, options: Optional[Options] = None) -> "Failed":
        """Report a failure of the attempt that carries this reference.

        upstream_ref: The reference that the upstream gave. 1 to 200 printable characters, not "." or "..".
        verdict: What the report is worth; `presumed` unless set.
        retryable: False: straight to the dead letters.
        retry_after_ms: The Retry-After of the upstream.
        reason: Why, for people. Cut at 2,000 characters.
        """
        return self._client._call("upstreamRefs.fail", {"upstreamRef": upstream_ref, "verdict": verdict, "retryable": retryable, "retryAfterMs": retry_after_ms, "reason": reason}, options)

    def succeed(self, *, upstream_ref: str, result: Any = OMIT, final_price: int = OMIT, options: Optional[Options] = None) -> "Succeeded":
        """Report a success of the attempt that carries this reference.

        upstream_ref: The reference that the upstream gave. 1 to 200 printable characters, not "." or "..".
        result: JSON, at most 1 MiB.
        final_price: What the job turned out to be worth: settles the difference to its price.
        """
        return self._client._call("upstreamRefs.succeed", {"upstreamRef": upstream_ref, "result": result, "finalPrice": final_price}, options)


class Queues(Group):
    def lease(self, *, queue: str, count: int = OMIT, worker: str = OMIT, lease_ms: int = OMIT, request_id: str = OMIT, wait_ms: int = OMIT, model: str = OMIT, capability: str = OMIT, options: Optional[Options] = None) -> "QueuesLeaseAnswer":
        """Take due jobs of a queue; waits up to a minute for the first one.

        queue: The name of the queue. 1 to 200 printable characters, not "." or "..".
        count: At most this many; 1 unless set.
        worker: Who works, for people. 1 to 200 printable characters, not "." or "..".
        lease_ms: The length of the lease; the queue’s unless set.
        request_id: Makes a lost answer repeatable. 1 to 200 printable characters, not "." or "..".
        wait_ms: How long to wait where nothing is due; 0 unless set.
        model: The model it is for. 1 to 200 printable characters, not "." or "..".
        capability: The capability it is for. 1 to 200 printable characters, not "." or "..".
        """
        return self._client._call("queues.lease", {"queue": queue, "count": count, "worker": worker, "leaseMs": lease_ms, "requestId": request_id, "waitMs": wait_ms, "model": model, "capability": capability}, options)

    def list(self, *, options: Optional[Options] = None) -> "QueuesListAnswer":
        """What waits in each queue."""
        return self._client._call("queues.list", {}, options)

    def get(self, *, queue: str, options: Optional[Options] = None) -> "QueueSettings":
        """The settings in force for a queue: its own, or those of `*`.

        queue: The name of the queue. 1 to 200 printable characters, not "." or "..".
        """
        return self._client._call("queues.get", {"queue": queue}, options)

    def configure(self, *, queue: str, refund_on: Literal["failure", "final"] = OMIT, backoff_base_ms: int = OMIT, backoff_max_ms: int = OMIT, retry_after_max_ms: int = OMIT, max_failures: int = OMIT, max_releases: int = OMIT, lease_ms: int = OMIT, paused: bool = OMIT, pool: Optional[str] = OMIT, max_upstream_errors: int = OMIT, options: Optional[Options] = None) -> "QueueSettings":
        """Set what is given and leave the rest; `*` is for all queues without their own settings.

        queue: The name of the queue. 1 to 200 printable characters, not "." or "..".
        refund_on: When the price of a failed job goes back.
        backoff_base_ms: Back-off before the second run.
        backoff_max_ms: The longest back-off.
        retry_after_max_ms: The longest that a Retry-After may postpone the next run.
        max_failures: After this many failures a job is a dead letter.
        max_releases: How often a job may be given back unfinished.
        lease_ms: The length of a lease.
        paused: Nothing is leased; what runs goes on.
        max_upstream_errors: How often a job may go back to its place for trouble of its upstream that it may have caused (5xx, no answer); then that is a failure.
        """
        return self._client._call("queues.configure", {"queue": queue, "refundOn": refund_on, "backoffBaseMs": backoff_base_ms, "backoffMaxMs": backoff_max_ms, "retryAfterMaxMs": retry_after_max_ms, "maxFailures": max_failures, "maxReleases": max_releases, "leaseMs": lease_ms, "paused": paused, "pool": pool, "maxUpstreamErrors": max_upstream_errors}, options)


class DeadLetters(Group):
    def list(self, *, queue: str = OMIT, wallet: str = OMIT, reason: str = OMIT, as_of: str = OMIT, cursor: str = OMIT, limit: int = OMIT, options: Optional[Options] = None) -> "DeadLettersListAnswer":
        """Dead letters of a filter, oldest first, page by page.

        queue: The name of the queue. 1 to 200 printable characters, not "." or "..".
        wallet: The id of the wallet, yours. 1 to 200 printable characters, not "." or "..".
        reason: The exact reason of the last failure.
        as_of: Dead by this instant; what died later is not touched.
        cursor: Where to go on: the `cursor` of the page before.
        limit: At most this many.
        """
        return self._client._call("deadLetters.list", {"queue": queue, "wallet": wallet, "reason": reason, "asOf": as_of, "cursor": cursor, "limit": limit}, options)

    def list_each(self, *, queue: str = OMIT, wallet: str = OMIT, reason: str = OMIT, as_of: str = OMIT, cursor: str = OMIT, limit: int = OMIT, options: Optional[Options] = None) -> Generator["Job", None, None]:
        """Dead letters of a filter, oldest first, page by page: one after the other, page by page, to the end.

        queue: The name of the queue. 1 to 200 printable characters, not "." or "..".
        wallet: The id of the wallet, yours. 1 to 200 printable characters, not "." or "..".
        reason: The exact reason of the last failure.
        as_of: Dead by this instant; what died later is not touched.
        cursor: Where to go on: the `cursor` of the page before.
        limit: At most this many.
        """
        return self._client._each("deadLetters.list", {"queue": queue, "wallet": wallet, "reason": reason, "asOf": as_of, "cursor": cursor, "limit": limit}, options)

    def preview(self, *, queue: str = OMIT, wallet: str = OMIT, reason: str = OMIT, as_of: str = OMIT, options: Optional[Options] = None) -> "RedrivePreview":
        """What redriving a filter would do; changes nothing.

        queue: The name of the queue. 1 to 200 printable characters, not "." or "..".
        wallet: The id of the wallet, yours. 1 to 200 printable characters, not "." or "..".
        reason: The exact reason of the last failure.
        as_of: Dead by this instant; what died later is not touched.
        """
        return self._client._call("deadLetters.preview", {"queue": queue, "wallet": wallet, "reason": reason, "asOf": as_of}, options)

    def redrive_all(self, *, confirm: int, queue: str = OMIT, wallet: str = OMIT, reason: str = OMIT, as_of: str = OMIT, options: Optional[Options] = None) -> Generator["RedriveProgress", None, None]:
        """Redrive a filter in small steps, telling its progress.

        confirm: The count that the preview showed.
        queue: The name of the queue. 1 to 200 printable characters, not "." or "..".
        wallet: The id of the wallet, yours. 1 to 200 printable characters, not "." or "..".
        reason: The exact reason of the last failure.
        as_of: Dead by this instant; what died later is not touched.
        """
        return self._client._stream("deadLetters.redriveAll", {"confirm": confirm, "queue": queue, "wallet": wallet, "reason": reason, "asOf": as_of}, options)

    def redrive(self, *, wallet: str, job: str, options: Optional[Options] = None) -> "DeadLettersRedriveAnswer":
        """Run a dead or discarded job again; never charges.

        wallet: The id of the wallet, yours. 1 to 200 printable characters, not "." or "..".
        job: The id of the job in its wallet, yours; it is the idempotency key. 1 to 200 printable characters, not "." or "..".
        """
        return self._client._call("deadLetters.redrive", {"wallet": wallet, "job": job}, options)

    def discard(self, *, wallet: str, job: str, options: Optional[Options] = None) -> "DeadLettersDiscardAnswer":
        """Put a dead letter aside; a late success still reclaims.

        wallet: The id of the wallet, yours. 1 to 200 printable characters, not "." or "..".
        job: The id of the job in its wallet, yours; it is the idempotency key. 1 to 200 printable characters, not "." or "..".
        """
        return self._client._call("deadLetters.discard", {"wallet": wallet, "job": job}, options)


class Upstreams(Group):
    def list(self, *, pool: str = OMIT, provider: str = OMIT, quota_group: str = OMIT, status: Literal["on", "off", "draining", "retired"] = OMIT, usable: bool = OMIT, cursor: str = OMIT, limit: int = OMIT, options: Optional[Options] = None) -> "UpstreamPage":
        """Upstreams by their ids, each with every check that fails, page by page.

        pool: The name of the pool. 1 to 200 printable characters, not "." or "..".
        provider: Only those at this provider. 1 to 200 printable characters, not "." or "..".
        quota_group: Only those of this group. 1 to 200 printable characters, not "." or "..".
        usable: Only those that may be used now, or only those that may not.
        cursor: Where to go on: the `cursor` of the page before, an upstream. 1 to 200 printable characters, not "." or "..".
        limit: At most this many.
        """
        return self._client._call("upstreams.list", {"pool": pool, "provider": provider, "quotaGroup": quota_group, "status": status, "usable": usable, "cursor": cursor, "limit": limit}, options)

    def list_each(self, *, pool: str = OMIT, provider: str = OMIT, quota_group: str = OMIT, status: Literal["on", "off", "draining", "retired"] = OMIT, usable: bool = OMIT, cursor: str = OMIT, limit: int = OMIT, options: Optional[Options] = None) -> Generator["Upstream", None, None]:
        """Upstreams by their ids, each with every check that fails, page by page: one after the other, page by page, to the end.

        pool: The name of the pool. 1 to 200 printable characters, not "." or "..".
        provider: Only those at this provider. 1 to 200 printable characters, not "." or "..".
        quota_group: Only those of this group. 1 to 200 printable characters, not "." or "..".
        usable: Only those that may be used now, or only those that may not.
        cursor: Where to go on: the `cursor` of the page before, an upstream. 1 to 200 printable characters, not "." or "..".
        limit: At most this many.
        """
        return self._client._each("upstreams.list", {"pool": pool, "provider": provider, "quotaGroup": quota_group, "status": status, "usable": usable, "cursor": cursor, "limit": limit}, options)

    def register(self, *, upstream: str, pool: str, provider: str, quota_group: Optional[str] = OMIT, route: str = OMIT, credential_ref: str = OMIT, priority: int = OMIT, weight: int = OMIT, max_concurrency: Optional[int] = OMIT, actor: str = OMIT, reason: str = OMIT, options: Optional[Options] = None) -> "Registered":
        """Make an upstream known, or set what is given of one that is.

        upstream: The id of the upstream, yours. 1 to 200 printable characters, not "." or "..".
        pool: The name of the pool. 1 to 200 printable characters, not "." or "..".
        provider: Whose account it is: `openai`, `fal` … 1 to 200 printable characters, not "." or "..".
        route: The way there: a proxy, an egress address; `direct` unless set. 1 to 200 printable characters, not "." or "..".
        credential_ref: Where the credential is kept: a name in your secret store, never the secret.
        priority: 0 first … 9 last; 5 unless set.
        weight: Its share among those of one priority; 1 unless set.
        actor: Who did it.
        reason: Why, for people. Cut at 2,000 characters.
        """
        return self._client._call("upstreams.register", {"upstream": upstream, "pool": pool, "provider": provider, "quotaGroup": quota_group, "route": route, "credentialRef": credential_ref, "priority": priority, "weight": weight, "maxConcurrency": max_concurrency, "actor": actor, "reason": reason}, options)

    def change(self, *, upstream: str, status: Literal["on", "off", "draining", "retired"] = OMIT, quota_group: Optional[str] = OMIT, route: str = OMIT, credential_ref: str = OMIT, priority: int = OMIT, weight: int = OMIT, max_concurrency: Optional[int] = OMIT, actor: str = OMIT, reason: str = OMIT, options: Optional[Options] = None) -> "UpstreamsChangeAnswer":
        """Switch an upstream on or off, drain or retire it; change its settings.

        upstream: The id of the upstream, yours. 1 to 200 printable characters, not "." or "..".
        status: `draining`: nothing new, what is under way goes on. `retired`: for ever.
        route: The way there: a proxy, an egress address; `direct` unless set. 1 to 200 printable characters, not "." or "..".
        credential_ref: Where the credential is kept: a name in your secret store, never the secret.
        priority: 0 first … 9 last; 5 unless set.
        weight: Its share among those of one priority; 1 unless set.
        actor: Who did it.
        reason: Why, for people. Cut at 2,000 characters.
        """
        return self._client._call("upstreams.change", {"upstream": upstream, "status": status, "quotaGroup": quota_group, "route": route, "credentialRef": credential_ref, "priority": priority, "weight": weight, "maxConcurrency": max_concurrency, "actor": actor, "reason": reason}, options)

    def replace_credential(self, *, upstream: str, credential_ref: str = OMIT, actor: str = OMIT, reason: str = OMIT, options: Optional[Options] = None) -> "CredentialReplaced":
        """Another credential, or another secret behind the same reference: what was blocked because of the old one is open again.

        upstream: The id of the upstream, yours. 1 to 200 printable characters, not "." or "..".
        credential_ref: Where the credential is kept: a name in your secret store, never the secret.
        actor: Who did it.
        reason: Why, for people. Cut at 2,000 characters.
        """
        return self._client._call("upstreams.replaceCredential", {"upstream": upstream, "credentialRef": credential_ref, "actor": actor, "reason": reason}, options)

    def explain(self, *, upstream: str, model: str = OMIT, capability: str = OMIT, options: Optional[Options] = None) -> "Upstream":
        """Why an upstream may or may not be used now: every check that fails, and when it is expected back.

        upstream: The id of the upstream, yours. 1 to 200 printable characters, not "." or "..".
        model: The model it is for. 1 to 200 printable characters, not "." or "..".
        capability: The capability it is for. 1 to 200 printable characters, not "." or "..".
        """
        return self._client._call("upstreams.explain", {"upstream": upstream, "model": model, "capability": capability}, options)

    def history(self, *, upstream: str, cursor: str = OMIT, limit: int = OMIT, oldest_first: bool = OMIT, options: Optional[Options] = None) -> "HistoryPage":
        """Who changed an upstream, who blocked it and who freed it, when, on what evidence; newest first, page by page.

        upstream: The id of the upstream, yours. 1 to 200 printable characters, not "." or "..".
        cursor: Where to go on: the `cursor` of the page before.
        limit: At most this many.
        oldest_first: From the first one on.
        """
        return self._client._call("upstreams.history", {"upstream": upstream, "cursor": cursor, "limit": limit, "oldestFirst": oldest_first}, options)

    def history_each(self, *, upstream: str, cursor: str = OMIT, limit: int = OMIT, oldest_first: bool = OMIT, options: Optional[Options] = None) -> Generator["BlockEvent", None, None]:
        """Who changed an upstream, who blocked it and who freed it, when, on what evidence; newest first, page by page: one after the other, page by page, to the end.

        upstream: The id of the upstream, yours. 1 to 200 printable characters, not "." or "..".
        cursor: Where to go on: the `cursor` of the page before.
        limit: At most this many.
        oldest_first: From the first one on.
        """
        return self._client._each("upstreams.history", {"upstream": upstream, "cursor": cursor, "limit": limit, "oldestFirst": oldest_first}, options)

    def select(self, *, pool: str, model: str = OMIT, capability: str = OMIT, lease_ms: int = OMIT, holder: str = OMIT, lease: str = OMIT, sticky: str = OMIT, sticky_ms: int = OMIT, options: Optional[Options] = None) -> "Selected":
        """Lease a slot of the best upstream of a pool that may be used now.

        pool: The name of the pool. 1 to 200 printable characters, not "." or "..".
        model: The model it is for. 1 to 200 printable characters, not "." or "..".
        capability: The capability it is for. 1 to 200 printable characters, not "." or "..".
        lease_ms: How long the slot is held; 60,000 unless set.
        holder: Who uses it, for people. 1 to 200 printable characters, not "." or "..".
        lease: An id of yours for the lease: makes a lost answer repeatable. 1 to 200 printable characters, not "." or "..".
        sticky: A key of yours, such as a conversation: the same upstream while it is usable, then another, and stays there. 1 to 200 printable characters, not "." or "..".
        sticky_ms: How long a key that is not used is remembered; an hour unless set.
        """
        return self._client._call("upstreams.select", {"pool": pool, "model": model, "capability": capability, "leaseMs": lease_ms, "holder": holder, "lease": lease, "sticky": sticky, "stickyMs": sticky_ms}, options)

    def extend(self, *, lease: str, lease_ms: int = OMIT, options: Optional[Options] = None) -> "UpstreamsExtendAnswer":
        """Keep the slot of an upstream.

        lease: The id of the lease. 1 to 200 printable characters, not "." or "..".
        lease_ms: How long the slot is held; 60,000 unless set.
        """
        return self._client._call("upstreams.extend", {"lease": lease, "leaseMs": lease_ms}, options)

    def release(self, *, lease: str, model: str = OMIT, capability: str = OMIT, use: Dict[str, Any] = OMIT, key: str = OMIT, options: Optional[Options] = None) -> "UpstreamsReleaseAnswer":
        """Give the slot of an upstream back without saying how it went.

        lease: The id of the lease. 1 to 200 printable characters, not "." or "..".
        model: The model it is for. 1 to 200 printable characters, not "." or "..".
        capability: The capability it is for. 1 to 200 printable characters, not "." or "..".
        use: What was used, by unit: `{"tokens": 1200}`. One of `requests` unless it says how many.
        key: What makes the use count once: a key of yours, instead of the lease. 1 to 200 printable characters, not "." or "..".
        """
        return self._client._call("upstreams.release", {"lease": lease, "model": model, "capability": capability, "use": use, "key": key}, options)

    def report(self, *, upstream: str, answer: "ProviderAnswer" = OMIT, success: bool = OMIT, lease: str = OMIT, started_at: str = OMIT, elapsed_ms: int = OMIT, model: str = OMIT, capability: str = OMIT, block: Dict[str, Any] = OMIT, use: Dict[str, Any] = OMIT, key: str = OMIT, job: Dict[str, Any] = OMIT, actor: str = OMIT, options: Optional[Options] = None) -> "Reported":
        """Say how a use of an upstream went, and give its slot back.

        upstream: The id of the upstream, yours. 1 to 200 printable characters, not "." or "..".
        success: Whether the provider did what was asked; not beside `answer`.
        lease: The lease it was used under: it is given back. 1 to 200 printable characters, not "." or "..".
        started_at: RFC 3339. When the request started.
        elapsed_ms: How long ago the request started.
        model: The model it is for. 1 to 200 printable characters, not "." or "..".
        capability: The capability it is for. 1 to 200 printable characters, not "." or "..".
        use: What was used, by unit: `{"tokens": 1200}`. One of `requests` unless it says how many.
        key: What makes the use count once: a key of yours, instead of the lease. 1 to 200 printable characters, not "." or "..".
        job: What makes the use count once: the attempt of a job, instead of the lease.
        actor: Who did it.
        """
        return self._client._call("upstreams.report", {"upstream": upstream, "answer": answer, "success": success, "lease": lease, "startedAt": started_at, "elapsedMs": elapsed_ms, "model": model, "capability": capability, "block": block, "use": use, "key": key, "job": job, "actor": actor}, options)

    def note(self, *, upstream: str, snapshots: List[Dict[str, Any]] = OMIT, answer: "ProviderAnswer" = OMIT, subject: Literal["upstream", "quota_group"] = OMIT, started_at: str = OMIT, elapsed_ms: int = OMIT, observed_at: str = OMIT, model: str = OMIT, capability: str = OMIT, actor: str = OMIT, options: Optional[Options] = None) -> "Noted":
        """Say what a provider tells of its own windows, apart from a use.

        upstream: The id of the upstream, yours. 1 to 200 printable characters, not "." or "..".
        snapshots: The windows.
        subject: Whose quota it is; `upstream` unless set.
        started_at: RFC 3339. When the request for it started.
        elapsed_ms: How long ago the request started.
        observed_at: RFC 3339. When the `snapshots` were observed; now unless set.
        model: The model it is for. 1 to 200 printable characters, not "." or "..".
        capability: The capability it is for. 1 to 200 printable characters, not "." or "..".
        actor: Who did it.
        """
        return self._client._call("upstreams.note", {"upstream": upstream, "snapshots": snapshots, "answer": answer, "subject": subject, "startedAt": started_at, "elapsedMs": elapsed_ms, "observedAt": observed_at, "model": model, "capability": capability, "actor": actor}, options)

    def snapshots(self, *, upstream: str, options: Optional[Options] = None) -> "Snapshots":
        """The latest that is known of each window of an upstream at its provider.

        upstream: The id of the upstream, yours. 1 to 200 printable characters, not "." or "..".
        """
        return self._client._call("upstreams.snapshots", {"upstream": upstream}, options)

    def block(self, *, upstream: str, reason: str, actor: str = OMIT, options: Optional[Options] = None) -> "UpstreamsBlockAnswer":
        """Take an upstream out by hand, until it is freed by hand.

        upstream: The id of the upstream, yours. 1 to 200 printable characters, not "." or "..".
        reason: Why, for people. Cut at 2,000 characters.
        actor: Who did it.
        """
        return self._client._call("upstreams.block", {"upstream": upstream, "reason": reason, "actor": actor}, options)

    def free(self, *, block: int, as_: Literal["operator", "credential", "probe", "snapshot"] = OMIT, generation: int = OMIT, reason: str = OMIT, actor: str = OMIT, options: Optional[Options] = None) -> "UpstreamsFreeAnswer":
        """End a block, with who and why.

        block: The number of the block.
        as_: On what evidence; `operator` unless set.
        generation: The generation of the block that was seen.
        reason: Why, for people. Cut at 2,000 characters.
        actor: Who did it.
        """
        return self._client._call("upstreams.free", {"block": block, "as": as_, "generation": generation, "reason": reason, "actor": actor}, options)


class Blocks(Group):
    def list(self, *, policy: Literal["auto", "manual", "snapshot", "rolling"] = OMIT, kind: str = OMIT, subject: Literal["upstream", "quota_group", "provider", "route"] = OMIT, cursor: int = OMIT, limit: int = OMIT, options: Optional[Options] = None) -> "BlockPage":
        """Blocks that are open, oldest first, page by page.

        policy: `manual`: those that wait for a person.
        kind: Only of this class of trouble. 1 to 200 printable characters, not "." or "..".
        subject: Only those on such subjects.
        cursor: Where to go on: the `cursor` of the page before.
        limit: At most this many.
        """
        return self._client._call("blocks.list", {"policy": policy, "kind": kind, "subject": subject, "cursor": cursor, "limit": limit}, options)

    def list_each(self, *, policy: Literal["auto", "manual", "snapshot", "rolling"] = OMIT, kind: str = OMIT, subject: Literal["upstream", "quota_group", "provider", "route"] = OMIT, cursor: int = OMIT, limit: int = OMIT, options: Optional[Options] = None) -> Generator["Block", None, None]:
        """Blocks that are open, oldest first, page by page: one after the other, page by page, to the end.

        policy: `manual`: those that wait for a person.
        kind: Only of this class of trouble. 1 to 200 printable characters, not "." or "..".
        subject: Only those on such subjects.
        cursor: Where to go on: the `cursor` of the page before.
        limit: At most this many.
        """
        return self._client._each("blocks.list", {"policy": policy, "kind": kind, "subject": subject, "cursor": cursor, "limit": limit}, options)


class Limits(Group):
    def list(self, *, upstream: str = OMIT, quota_group: str = OMIT, provider: str = OMIT, route: str = OMIT, options: Optional[Options] = None) -> "Limits":
        """The limits that concern a subject, with what is used of them now.

        upstream: Of this upstream. 1 to 200 printable characters, not "." or "..".
        quota_group: Of this quota group. 1 to 200 printable characters, not "." or "..".
        provider: Of this provider. 1 to 200 printable characters, not "." or "..".
        route: Of this route. 1 to 200 printable characters, not "." or "..".
        """
        return self._client._call("limits.list", {"upstream": upstream, "quotaGroup": quota_group, "provider": provider, "route": route}, options)

    def get(self, *, limit: str, options: Optional[Options] = None) -> "Limit":
        """One limit, with what is used of it now and when there is room again.

        limit: The id of the limit, yours. 1 to 200 printable characters, not "." or "..".
        """
        return self._client._call("limits.get", {"limit": limit}, options)

    def set(self, *, limit: str, unit: str, amount: int, kind: Literal["daily", "weekly", "monthly", "first_use", "rolling"], upstream: str = OMIT, quota_group: str = OMIT, provider: str = OMIT, route: str = OMIT, scope: str = OMIT, zone: str = OMIT, start_hour: int = OMIT, weekday: int = OMIT, day: int = OMIT, length_ms: int = OMIT, options: Optional[Options] = None) -> "LimitsSetAnswer":
        """Set how much may be used in a window.

        limit: The id of the limit, yours. 1 to 200 printable characters, not "." or "..".
        unit: What is counted: `requests` are by themselves, anything else as reports say. 1 to 200 printable characters, not "." or "..".
        amount: What may be used in a window.
        kind: By the calendar, from the first use on, or the last so many ms (`rolling`).
        upstream: Of this upstream. 1 to 200 printable characters, not "." or "..".
        quota_group: Of this quota group. 1 to 200 printable characters, not "." or "..".
        provider: Of this provider. 1 to 200 printable characters, not "." or "..".
        route: Of this route. 1 to 200 printable characters, not "." or "..".
        scope: Only a model or a capability: `model:…`, `capability:…`.
        zone: Of the calendar: an IANA time zone. 1 to 200 printable characters, not "." or "..".
        start_hour: Of the calendar: the hour at which a window begins; 0 unless set.
        weekday: Of `weekly`: 0 (Sunday) to 6.
        day: Of `monthly`; where a month has no such day, its last.
        length_ms: Of `first_use` (from a minute) and `rolling` (from a second).
        """
        return self._client._call("limits.set", {"limit": limit, "unit": unit, "amount": amount, "kind": kind, "upstream": upstream, "quotaGroup": quota_group, "provider": provider, "route": route, "scope": scope, "zone": zone, "startHour": start_hour, "weekday": weekday, "day": day, "lengthMs": length_ms}, options)

    def end(self, *, limit: str, options: Optional[Options] = None) -> "LimitsEndAnswer":
        """A limit does not count any more, until it is set again; its windows stay.

        limit: The id of the limit, yours. 1 to 200 printable characters, not "." or "..".
        """
        return self._client._call("limits.end", {"limit": limit}, options)

    def reset(self, *, limit: str, window: str = OMIT, actor: str = OMIT, reason: str = OMIT, options: Optional[Options] = None) -> "LimitsResetAnswer":
        """End the window of a limit now: nothing is used, and it goes on to the same end.

        limit: The id of the limit, yours. 1 to 200 printable characters, not "." or "..".
        window: RFC 3339. The `windowStart` that was seen.
        actor: Who did it.
        reason: Why, for people. Cut at 2,000 characters.
        """
        return self._client._call("limits.reset", {"limit": limit, "window": window, "actor": actor, "reason": reason}, options)

    def windows(self, *, limit: str, count: int = OMIT, options: Optional[Options] = None) -> "LimitWindows":
        """The last windows of a limit, newest first: what was used in each, and who reset it.

        limit: The id of the limit, yours. 1 to 200 printable characters, not "." or "..".
        count: How many; 100 unless set.
        """
        return self._client._call("limits.windows", {"limit": limit, "count": count}, options)


class Pools(Group):
    def list(self, *, cursor: str = OMIT, limit: int = OMIT, options: Optional[Options] = None) -> "PoolPage":
        """Pools by their names: how many upstreams each has, how many are usable now, when it is back.

        cursor: Where to go on: the `cursor` of the page before, a pool. 1 to 200 printable characters, not "." or "..".
        limit: At most this many.
        """
        return self._client._call("pools.list", {"cursor": cursor, "limit": limit}, options)

    def list_each(self, *, cursor: str = OMIT, limit: int = OMIT, options: Optional[Options] = None) -> Generator["Pool", None, None]:
        """Pools by their names: how many upstreams each has, how many are usable now, when it is back: one after the other, page by page, to the end.

        cursor: Where to go on: the `cursor` of the page before, a pool. 1 to 200 printable characters, not "." or "..".
        limit: At most this many.
        """
        return self._client._each("pools.list", {"cursor": cursor, "limit": limit}, options)

    def get(self, *, pool: str, model: str = OMIT, capability: str = OMIT, options: Optional[Options] = None) -> "PoolState":
        """Whether a pool can be used now, and when it is back.

        pool: The name of the pool. 1 to 200 printable characters, not "." or "..".
        model: The model it is for. 1 to 200 printable characters, not "." or "..".
        capability: The capability it is for. 1 to 200 printable characters, not "." or "..".
        """
        return self._client._call("pools.get", {"pool": pool, "model": model, "capability": capability}, options)

    def explain(self, *, pool: str, model: str = OMIT, capability: str = OMIT, limit: int = OMIT, options: Optional[Options] = None) -> "PoolsExplainAnswer":
        """The upstreams of a pool in the order of picking, each with every check that fails.

        pool: The name of the pool. 1 to 200 printable characters, not "." or "..".
        model: The model it is for. 1 to 200 printable characters, not "." or "..".
        capability: The capability it is for. 1 to 200 printable characters, not "." or "..".
        limit: At most this many.
        """
        return self._client._call("pools.explain", {"pool": pool, "model": model, "capability": capability, "limit": limit}, options)


class Probes(Group):
    def set(self, *, pool: str, http: "HttpProbe" = OMIT, grace_ms: int = OMIT, every_ms: int = OMIT, timeout_ms: int = OMIT, cost: Dict[str, Any] = OMIT, actor: str = OMIT, options: Optional[Options] = None) -> "ProbesSetAnswer":
        """Say how the upstreams of a pool are asked whether they work again.

        pool: The pool. 1 to 200 printable characters, not "." or "..".
        grace_ms: How long a block waits for the answer; 30,000 unless set.
        every_ms: How often an announced reset is asked early; 900,000 unless set.
        timeout_ms: How long an answer may take; 10,000 unless set.
        cost: By unit.
        actor: Who says so. 1 to 200 printable characters, not "." or "..".
        """
        return self._client._call("probes.set", {"pool": pool, "http": http, "graceMs": grace_ms, "everyMs": every_ms, "timeoutMs": timeout_ms, "cost": cost, "actor": actor}, options)

    def remove(self, *, pool: str, options: Optional[Options] = None) -> "ProbesRemoveAnswer":
        """Nobody asks any more.

        pool: The pool. 1 to 200 printable characters, not "." or "..".
        """
        return self._client._call("probes.remove", {"pool": pool}, options)

    def probers(self, *, options: Optional[Options] = None) -> "ProbesProbersAnswer":
        """How pools are asked."""
        return self._client._call("probes.probers", {}, options)

    def list(self, *, block: int = OMIT, upstream: str = OMIT, cursor: int = OMIT, limit: int = OMIT, options: Optional[Options] = None) -> "ProbePage":
        """Probes, the newest first: of a block, of an upstream, or all.

        block: Only of this block.
        upstream: Only of this upstream. 1 to 200 printable characters, not "." or "..".
        cursor: Where to go on: the `cursor` of the page before.
        limit: At most this many.
        """
        return self._client._call("probes.list", {"block": block, "upstream": upstream, "cursor": cursor, "limit": limit}, options)

    def list_each(self, *, block: int = OMIT, upstream: str = OMIT, cursor: int = OMIT, limit: int = OMIT, options: Optional[Options] = None) -> Generator["Probe", None, None]:
        """Probes, the newest first: of a block, of an upstream, or all: one after the other, page by page, to the end.

        block: Only of this block.
        upstream: Only of this upstream. 1 to 200 printable characters, not "." or "..".
        cursor: Where to go on: the `cursor` of the page before.
        limit: At most this many.
        """
        return self._client._each("probes.list", {"block": block, "upstream": upstream, "cursor": cursor, "limit": limit}, options)

    def report(self, *, since: str = OMIT, pool: str = OMIT, options: Optional[Options] = None) -> "ProbesReportAnswer":
        """What probes cost and what they bought against waiting, by pool and source.

        since: RFC 3339. Probes of this instant or later.
        pool: The pool. 1 to 200 printable characters, not "." or "..".
        """
        return self._client._call("probes.report", {"since": since, "pool": pool}, options)

    def preview(self, *, pool: str, policy: Literal["auto", "manual", "snapshot", "rolling"] = OMIT, kind: str = OMIT, options: Optional[Options] = None) -> "ProbesPreviewAnswer":
        """How many blocks of a pool a re-check would ask.

        pool: The pool. 1 to 200 printable characters, not "." or "..".
        policy: Only blocks of this policy.
        kind: Only blocks of this kind. 1 to 200 printable characters, not "." or "..".
        """
        return self._client._call("probes.preview", {"pool": pool, "policy": policy, "kind": kind}, options)

    def recheck(self, *, pool: str, confirm: int, actor: str, policy: Literal["auto", "manual", "snapshot", "rolling"] = OMIT, kind: str = OMIT, within_ms: int = OMIT, options: Optional[Options] = None) -> Generator["RecheckProgress", None, None]:
        """Have every block of a pool asked now, telling how far that is.

        pool: The pool. 1 to 200 printable characters, not "." or "..".
        confirm: The count that the preview showed.
        actor: Who wants it. 1 to 200 printable characters, not "." or "..".
        policy: Only blocks of this policy.
        kind: Only blocks of this kind. 1 to 200 printable characters, not "." or "..".
        within_ms: How long to wait for answers; 600,000 unless set.
        """
        return self._client._stream("probes.recheck", {"pool": pool, "confirm": confirm, "actor": actor, "policy": policy, "kind": kind, "withinMs": within_ms}, options)


class Estimates(Group):
    def report(self, *, since: str = OMIT, options: Optional[Options] = None) -> "EstimateReport":
        """How often the time held at which upstreams were said to be back, and how far off it was, by who said it.

        since: Only blocks that ended at this instant or after it.
        """
        return self._client._call("estimates.report", {"since": since}, options)


class Inbox(Group):
    def list(self, *, pool: str = OMIT, owner: str = OMIT, unowned: bool = OMIT, snoozed: bool = OMIT, cursor: str = OMIT, limit: int = OMIT, options: Optional[Options] = None) -> "InboxPage":
        """What needs a person now, oldest first, page by page.

        pool: Only what concerns this pool. 1 to 200 printable characters, not "." or "..".
        owner: Only what this person took.
        unowned: Only what nobody took; not beside `owner`.
        snoozed: Those that are put off, instead of those that are not.
        cursor: Where to go on: the `cursor` of the page before, an item. 1 to 200 printable characters, not "." or "..".
        limit: At most this many.
        """
        return self._client._call("inbox.list", {"pool": pool, "owner": owner, "unowned": unowned, "snoozed": snoozed, "cursor": cursor, "limit": limit}, options)

    def list_each(self, *, pool: str = OMIT, owner: str = OMIT, unowned: bool = OMIT, snoozed: bool = OMIT, cursor: str = OMIT, limit: int = OMIT, options: Optional[Options] = None) -> Generator["InboxItem", None, None]:
        """What needs a person now, oldest first, page by page: one after the other, page by page, to the end.

        pool: Only what concerns this pool. 1 to 200 printable characters, not "." or "..".
        owner: Only what this person took.
        unowned: Only what nobody took; not beside `owner`.
        snoozed: Those that are put off, instead of those that are not.
        cursor: Where to go on: the `cursor` of the page before, an item. 1 to 200 printable characters, not "." or "..".
        limit: At most this many.
        """
        return self._client._each("inbox.list", {"pool": pool, "owner": owner, "unowned": unowned, "snoozed": snoozed, "cursor": cursor, "limit": limit}, options)

    def take(self, *, item: str, actor: str, force: bool = OMIT, note: str = OMIT, options: Optional[Options] = None) -> "Taken":
        """Say that you care about an item.

        item: The item, as the list names it: `block:12`. 1 to 200 printable characters, not "." or "..".
        actor: Who says so.
        force: Take it from whoever has it.
        note: A remark, for whoever looks next.
        """
        return self._client._call("inbox.take", {"item": item, "actor": actor, "force": force, "note": note}, options)

    def snooze(self, *, item: str, actor: str, until: str = OMIT, for_ms: int = OMIT, note: str = OMIT, options: Optional[Options] = None) -> "InboxSnoozeAnswer":
        """Put an item off until then, or show it again.

        item: The item, as the list names it: `block:12`. 1 to 200 printable characters, not "." or "..".
        actor: Who says so.
        until: RFC 3339. Until when; not beside `forMs`.
        for_ms: For how long.
        note: A remark, for whoever looks next.
        """
        return self._client._call("inbox.snooze", {"item": item, "actor": actor, "until": until, "forMs": for_ms, "note": note}, options)

    def note(self, *, item: str, actor: str, note: str, key: str = OMIT, options: Optional[Options] = None) -> "Remarked":
        """Leave a remark on an item.

        item: The item, as the list names it: `block:12`. 1 to 200 printable characters, not "." or "..".
        actor: Who says so.
        note: A remark, for whoever looks next.
        key: A key of yours. 1 to 200 printable characters, not "." or "..".
        """
        return self._client._call("inbox.note", {"item": item, "actor": actor, "note": note, "key": key}, options)


class Feed(Group):
    def read(self, *, cursor: str = OMIT, limit: int = OMIT, options: Optional[Options] = None) -> "FeedReadAnswer":
        """The events behind a cursor: entries and ends of attempts, in one order.

        cursor: Where to go on: the `cursor` of the page before.
        limit: At most this many; 500 unless set.
        """
        return self._client._call("feed.read", {"cursor": cursor, "limit": limit}, options)

    def read_each(self, *, cursor: str = OMIT, limit: int = OMIT, options: Optional[Options] = None) -> Generator[Union["EntryEvent", "AttemptEvent"], None, None]:
        """The events behind a cursor: entries and ends of attempts, in one order: one after the other, page by page, to the end.

        cursor: Where to go on: the `cursor` of the page before.
        limit: At most this many; 500 unless set.
        """
        return self._client._each("feed.read", {"cursor": cursor, "limit": limit}, options)

    def entries(self, *, wallet: str = OMIT, customer: str = OMIT, from_: str = OMIT, to: str = OMIT, cursor: str = OMIT, limit: int = OMIT, options: Optional[Options] = None) -> "LedgerPage":
        """The ledger for other books: entries with customer and unit, page by page.

        wallet: The id of the wallet, yours. 1 to 200 printable characters, not "." or "..".
        customer: Only wallets of this customer. 1 to 200 printable characters, not "." or "..".
        from_: RFC 3339. Entries of this instant or later.
        to: RFC 3339. Entries before this instant.
        cursor: Where to go on: the `cursor` of the page before.
        limit: Looks at this many; 1,000 unless set.
        """
        return self._client._call("feed.entries", {"wallet": wallet, "customer": customer, "from": from_, "to": to, "cursor": cursor, "limit": limit}, options)

    def entries_each(self, *, wallet: str = OMIT, customer: str = OMIT, from_: str = OMIT, to: str = OMIT, cursor: str = OMIT, limit: int = OMIT, options: Optional[Options] = None) -> Generator["LedgerEntry", None, None]:
        """The ledger for other books: entries with customer and unit, page by page: one after the other, page by page, to the end.

        wallet: The id of the wallet, yours. 1 to 200 printable characters, not "." or "..".
        customer: Only wallets of this customer. 1 to 200 printable characters, not "." or "..".
        from_: RFC 3339. Entries of this instant or later.
        to: RFC 3339. Entries before this instant.
        cursor: Where to go on: the `cursor` of the page before.
        limit: Looks at this many; 1,000 unless set.
        """
        return self._client._each("feed.entries", {"wallet": wallet, "customer": customer, "from": from_, "to": to, "cursor": cursor, "limit": limit}, options)

    def stream(self, *, cursor: str = OMIT, options: Optional[Options] = None) -> Generator["FeedItem", None, None]:
        """The feed as server-sent events; goes on behind Last-Event-ID.

        cursor: Where to go on: the `cursor` of the page before.
        """
        return self._client._stream("feed.stream", {"cursor": cursor}, options)


class Epochs(Group):
    def open(self, *, reason: str, actor: str = OMIT, since: str = OMIT, options: Optional[Options] = None) -> "Epoch":
        """Open the next epoch of the ledger, after a restore or a failover.

        reason: Which backup, which failover; for people.
        actor: Who did it. 1 to 200 printable characters, not "." or "..".
        since: Where work went on before this call: what was written since is told again to readers of older cursors.
        """
        return self._client._call("epochs.open", {"reason": reason, "actor": actor, "since": since}, options)

    def list(self, *, options: Optional[Options] = None) -> "EpochsListAnswer":
        """The epochs of the ledger, oldest first."""
        return self._client._call("epochs.list", {}, options)


class Keys(Group):
    def create(self, *, name: str, scopes: List[Literal["app", "worker", "viewer", "support", "operator", "admin"]], customer: str = OMIT, options: Optional[Options] = None) -> "KeysCreateAnswer":
        """Make an API key; its secret is shown this once.

        name: What it is for, for people. 1 to 200 printable characters, not "." or "..".
        scopes: What it may do: app, worker, viewer, support, operator, admin.
        customer: Bound to the wallets of this customer; only for the scope `viewer` alone. 1 to 200 printable characters, not "." or "..".
        """
        return self._client._call("keys.create", {"name": name, "scopes": scopes, "customer": customer}, options)

    def list(self, *, options: Optional[Options] = None) -> "KeysListAnswer":
        """All API keys, revoked ones too."""
        return self._client._call("keys.list", {}, options)

    def revoke(self, *, key: str, options: Optional[Options] = None) -> "KeysRevokeAnswer":
        """Revoke an API key: at once here, within seconds on other replicas.

        key: The id of the key, or its prefix. 1 to 200 printable characters, not "." or "..".
        """
        return self._client._call("keys.revoke", {"key": key}, options)


class Callbacks(Group):
    def sign(self, *, wallet: str, job: str, provider: Literal["generic", "replicate", "fal", "runpod"], attempt: int = OMIT, expires_in_ms: int = OMIT, options: Optional[Options] = None) -> "CallbacksSignAnswer":
        """A callback URL for one job, signed: give it to a provider that signs nothing.

        wallet: The id of the wallet, yours. 1 to 200 printable characters, not "." or "..".
        job: The id of the job in its wallet, yours; it is the idempotency key. 1 to 200 printable characters, not "." or "..".
        provider: Who sends it.
        attempt: The number of the attempt: the fencing token.
        expires_in_ms: A week unless set.
        """
        return self._client._call("callbacks.sign", {"wallet": wallet, "job": job, "provider": provider, "attempt": attempt, "expiresInMs": expires_in_ms}, options)


class Webhooks(Group):
    def take(self, *, provider: Literal["generic", "replicate", "fal", "runpod"], body: Any, options: Optional[Options] = None) -> "WebhookSettled":
        """The webhook of a provider that signs: the job is found by its upstream_ref.

        provider: Who sends it.
        body: As it was signed: the bytes, or an object.
        """
        return self._client._call("webhooks.take", {"provider": provider, "body": body}, options)

    def take_signed(self, *, provider: Literal["generic", "replicate", "fal", "runpod"], token: str, body: Any, options: Optional[Options] = None) -> "WebhookSettled":
        """A webhook at a signed URL: the URL names the job.

        provider: Who sends it.
        body: As it was signed: the bytes, or an object.
        """
        return self._client._call("webhooks.takeSigned", {"provider": provider, "token": token, "body": body}, options)


class WebhookEndpoints(Group):
    def register(self, *, endpoint: str, url: str, kinds: List[Literal["job.succeeded", "job.dead", "job.reclaimed", "wallet.low", "wallet.debt", "upstream.blocked", "upstream.freed", "inbox.opened", "inbox.closed", "alert.firing", "alert.recovered"]], low_balance: int = OMIT, secret: str = OMIT, status: Literal["on", "off"] = OMIT, options: Optional[Options] = None) -> "WebhookEndpointsRegisterAnswer":
        """Have a URL told of what happens from now on; its secret is shown this once.

        endpoint: The id of the endpoint, yours. 1 to 200 printable characters, not "." or "..".
        url: https or http, without user and password. Only public addresses are sent to, unless others are allowed.
        kinds: What it is told of: job.succeeded, job.dead, job.reclaimed, wallet.low, wallet.debt, upstream.blocked, upstream.freed, inbox.opened, inbox.closed, alert.firing, alert.recovered.
        low_balance: `wallet.low` is a balance that falls below it.
        secret: `whsec_` and the base64 of 24 to 64 bytes; one is made unless given.
        status: Off: nothing is sent until it is on.
        """
        return self._client._call("webhookEndpoints.register", {"endpoint": endpoint, "url": url, "kinds": kinds, "lowBalance": low_balance, "secret": secret, "status": status}, options)

    def change(self, *, endpoint: str, url: str = OMIT, kinds: List[Literal["job.succeeded", "job.dead", "job.reclaimed", "wallet.low", "wallet.debt", "upstream.blocked", "upstream.freed", "inbox.opened", "inbox.closed", "alert.firing", "alert.recovered"]] = OMIT, low_balance: Optional[int] = OMIT, status: Literal["on", "off"] = OMIT, skip: bool = OMIT, options: Optional[Options] = None) -> "WebhookEndpointsChangeAnswer":
        """Change what is given of an endpoint, and leave the rest.

        endpoint: The id of the endpoint, yours. 1 to 200 printable characters, not "." or "..".
        url: https or http, without user and password. Only public addresses are sent to, unless others are allowed.
        kinds: What it is told of: job.succeeded, job.dead, job.reclaimed, wallet.low, wallet.debt, upstream.blocked, upstream.freed, inbox.opened, inbox.closed, alert.firing, alert.recovered.
        status: Off: nothing is sent until it is on.
        skip: Leave out what happened until now and was not delivered yet.
        """
        return self._client._call("webhookEndpoints.change", {"endpoint": endpoint, "url": url, "kinds": kinds, "lowBalance": low_balance, "status": status, "skip": skip}, options)

    def remove(self, *, endpoint: str, options: Optional[Options] = None) -> "WebhookEndpointsRemoveAnswer":
        """Remove an endpoint, with its secrets and deliveries.

        endpoint: The id of the endpoint, yours. 1 to 200 printable characters, not "." or "..".
        """
        return self._client._call("webhookEndpoints.remove", {"endpoint": endpoint}, options)

    def get(self, *, endpoint: str, options: Optional[Options] = None) -> "WebhookEndpoint":
        """One endpoint.

        endpoint: The id of the endpoint, yours. 1 to 200 printable characters, not "." or "..".
        """
        return self._client._call("webhookEndpoints.get", {"endpoint": endpoint}, options)

    def rotate(self, *, endpoint: str, secret: str = OMIT, keep_ms: int = OMIT, options: Optional[Options] = None) -> "WebhookEndpointsRotateAnswer":
        """Another secret, shown this once; the one of before signs too for a while.

        endpoint: The id of the endpoint, yours. 1 to 200 printable characters, not "." or "..".
        secret: `whsec_` and the base64 of 24 to 64 bytes; one is made unless given.
        keep_ms: How long the one of before signs too; a day unless set.
        """
        return self._client._call("webhookEndpoints.rotate", {"endpoint": endpoint, "secret": secret, "keepMs": keep_ms}, options)

    def list(self, *, options: Optional[Options] = None) -> "WebhookEndpointsListAnswer":
        """All endpoints, with what is still to be sent to each."""
        return self._client._call("webhookEndpoints.list", {}, options)

    def test(self, *, endpoint: str, key: str = OMIT, options: Optional[Options] = None) -> "WebhookEndpointsTestAnswer":
        """Send something to an endpoint, for a try: its delivery tells how it went.

        endpoint: The id of the endpoint, yours. 1 to 200 printable characters, not "." or "..".
        key: A key of yours. 1 to 200 printable characters, not "." or "..".
        """
        return self._client._call("webhookEndpoints.test", {"endpoint": endpoint, "key": key}, options)

    def replay(self, *, endpoint: str, delivery: str = OMIT, since: str = OMIT, dead: bool = OMIT, options: Optional[Options] = None) -> "WebhookEndpointsReplayAnswer":
        """Send again what was delivered or given up: one, all since an instant, or all dead ones.

        endpoint: The id of the endpoint, yours. 1 to 200 printable characters, not "." or "..".
        delivery: This one alone. 1 to 200 printable characters, not "." or "..".
        since: RFC 3339. Events of this instant or later.
        dead: Dead ones only.
        """
        return self._client._call("webhookEndpoints.replay", {"endpoint": endpoint, "delivery": delivery, "since": since, "dead": dead}, options)


class WebhookDeliveries(Group):
    def list(self, *, endpoint: str, state: Literal["pending", "delivered", "dead"] = OMIT, cursor: str = OMIT, limit: int = OMIT, options: Optional[Options] = None) -> "WebhookDeliveryPage":
        """What was and is to be delivered to an endpoint, the newest events first, page by page.

        endpoint: The id of the endpoint, yours. 1 to 200 printable characters, not "." or "..".
        state: Only those.
        cursor: Where to go on: the `cursor` of the page before.
        limit: At most this many.
        """
        return self._client._call("webhookDeliveries.list", {"endpoint": endpoint, "state": state, "cursor": cursor, "limit": limit}, options)

    def list_each(self, *, endpoint: str, state: Literal["pending", "delivered", "dead"] = OMIT, cursor: str = OMIT, limit: int = OMIT, options: Optional[Options] = None) -> Generator["WebhookDelivery", None, None]:
        """What was and is to be delivered to an endpoint, the newest events first, page by page: one after the other, page by page, to the end.

        endpoint: The id of the endpoint, yours. 1 to 200 printable characters, not "." or "..".
        state: Only those.
        cursor: Where to go on: the `cursor` of the page before.
        limit: At most this many.
        """
        return self._client._each("webhookDeliveries.list", {"endpoint": endpoint, "state": state, "cursor": cursor, "limit": limit}, options)

    def get(self, *, delivery: str, options: Optional[Options] = None) -> "WebhookDelivery":
        """One delivery: what is sent, and how its last try went.

        delivery: The `webhook-id`. 1 to 200 printable characters, not "." or "..".
        """
        return self._client._call("webhookDeliveries.get", {"delivery": delivery}, options)


class Alerts(Group):
    def list(self, *, kind: Literal["exhausted", "near_exhausted", "snapshot_exhausted", "idle", "blocked_long"] = OMIT, recovered: bool = OMIT, limit: int = OMIT, options: Optional[Options] = None) -> "AlertsListAnswer":
        """What fires now, the newest first.

        kind: Only of this kind.
        recovered: Those that are over too.
        limit: At most this many.
        """
        return self._client._call("alerts.list", {"kind": kind, "recovered": recovered, "limit": limit}, options)


class System(Group):
    def info(self, *, options: Optional[Options] = None) -> "Info":
        """Which Recoup this is: version, schema, epoch of the ledger, and what an operator has to do."""
        return self._client._call("system.info", {}, options)

    def verify(self, *, limit: int = OMIT, options: Optional[Options] = None) -> "Verified":
        """Replay the ledger and hold every promise against it; names the wallet and the first wrong entry.

        limit: At most this many problems per check; 20 unless set.
        """
        return self._client._call("system.verify", {"limit": limit}, options)


class Groups:
    """The groups of a client."""

    def __init__(self) -> None:
        self.wallets = Wallets(self)
        self.plans = Plans(self)
        self.subscriptions = Subscriptions(self)
        self.payments = Payments(self)
        self.jobs = Jobs(self)
        self.upstream_refs = UpstreamRefs(self)
        self.queues = Queues(self)
        self.dead_letters = DeadLetters(self)
        self.upstreams = Upstreams(self)
        self.blocks = Blocks(self)
        self.limits = Limits(self)
        self.pools = Pools(self)
        self.probes = Probes(self)
        self.estimates = Estimates(self)
        self.inbox = Inbox(self)
        self.feed = Feed(self)
        self.epochs = Epochs(self)
        self.keys = Keys(self)
        self.callbacks = Callbacks(self)
        self.webhooks = Webhooks(self)
        self.webhook_endpoints = WebhookEndpoints(self)
        self.webhook_deliveries = WebhookDeliveries(self)
        self.alerts = Alerts(self)
        self.system = System(self)


OPERATIONS: Dict[str, Operation] = {
    "wallets.open": Operation("PUT", "/v1/wallets/{wallet}", (), "fields", None, None, 4194304, True),
    "wallets.change": Operation("PATCH", "/v1/wallets/{wallet}", (), "fields", None, None, 4194304, True),
    "wallets.openMany": Operation("POST", "/v1/batch/wallets", (), "fields", None, None, 33554432, True),
    "wallets.balance": Operation("GET", "/v1/wallets/{wallet}/balance", ("at", "parts",), None, None, None, None, True),
    "wallets.balances": Operation("POST", "/v1/batch/balances", (), "fields", None, None, 33554432, True),
    "wallets.list": Operation("GET", "/v1/wallets", ("customer", "cursor", "limit",), None, None, "wallets", None, True),
    "wallets.remainders": Operation("GET", "/v1/remainders", ("wallet", "customer", "cursor", "limit",), None, None, "remainders", None, True),
    "wallets.entries": Operation("GET", "/v1/wallets/{wallet}/entries", ("cursor", "limit", "newestFirst",), None, None, "entries", None, True),
    "wallets.replay": Operation("GET", "/v1/wallets/{wallet}/replay", ("afterSeq",), None, "ndjson", None, None, True),
    "wallets.grant": Operation("PUT", "/v1/wallets/{wallet}/grants/{key}", (), "fields", None, None, 4194304, True),
    "wallets.grantMany": Operation("POST", "/v1/batch/grants", (), "fields", None, None, 33554432, True),
    "wallets.adjust": Operation("PUT", "/v1/wallets/{wallet}/adjusts/{key}", (), "fields", None, None, 4194304, True),
    "wallets.adjustMany": Operation("POST", "/v1/batch/adjusts", (), "fields", None, None, 33554432, True),
    "plans.set": Operation("PUT", "/v1/plans/{plan}", (), "fields", None, None, 4194304, True),
    "plans.list": Operation("GET", "/v1/plans", ("cursor", "limit",), None, None, "plans", None, True),
    "subscriptions.start": Operation("PUT", "/v1/subscriptions/{subscription}", (), "fields", None, None, 4194304, True),
    "subscriptions.get": Operation("GET", "/v1/subscriptions/{subscription}", (), None, None, None, None, True),
    "subscriptions.pay": Operation("PUT", "/v1/subscriptions/{subscription}/payments/{key}", (), "fields", None, None, 4194304, True),
    "subscriptions.change": Operation("POST", "/v1/subscriptions/{subscription}/change", (), "fields", None, None, 4194304, True),
    "subscriptions.cancel": Operation("POST", "/v1/subscriptions/{subscription}/cancel", (), "fields", None, None, 4194304, True),
    "subscriptions.history": Operation("GET", "/v1/subscriptions/{subscription}/history", (), None, None, None, None, True),
    "subscriptions.list": Operation("GET", "/v1/subscriptions", ("customer", "status", "cursor", "limit",), None, None, "subscriptions", None, True),
    "subscriptions.strays": Operation("GET", "/v1/stray-payments", ("before", "limit",), None, None, None, None, True),
    "payments.tell": Operation("PUT", "/v1/payments/{payment}", (), "fields", None, None, 4194304, True),
    "payments.list": Operation("GET", "/v1/payments", ("open", "before", "limit",), None, None, None, None, True),
    "payments.missing": Operation("POST", "/v1/batch/payments/missing", (), "fields", None, None, 4194304, True),
    "payments.take": Operation("POST", "/v1/payment-webhooks/{provider}", (), "whole", None, None, 4194304, True),
    "jobs.submit": Operation("PUT", "/v1/wallets/{wallet}/jobs/{job}", (), "fields", None, None, 4194304, True),
    "jobs.get": Operation("GET", "/v1/wallets/{wallet}/jobs/{job}", (), None, None, None, None, True),
    "jobs.submitMany": Operation("POST", "/v1/batch/jobs", (), "fields", None, None, 33554432, True),
    "jobs.list": Operation("GET", "/v1/wallets/{wallet}/jobs", ("state", "queue", "cursor", "limit",), None, None, "jobs", None, True),
    "jobs.attempts": Operation("GET", "/v1/wallets/{wallet}/jobs/{job}/attempts", (), None, None, None, None, True),
    "jobs.entries": Operation("GET", "/v1/wallets/{wallet}/jobs/{job}/entries", (), None, None, None, None, True),
    "jobs.byUpstreamRef": Operation("GET", "/v1/upstream-refs/{upstreamRef}/jobs", (), None, None, None, None, True),
    "jobs.prune": Operation("POST", "/v1/prune", (), "fields", None, None, 4194304, True),
    "jobs.fail": Operation("POST", "/v1/wallets/{wallet}/jobs/{job}/fail", (), "fields", None, None, 4194304, True),
    "jobs.succeed": Operation("POST", "/v1/wallets/{wallet}/jobs/{job}/succeed", (), "fields", None, None, 4194304, True),
    "jobs.settle": Operation("POST", "/v1/wallets/{wallet}/jobs/{job}/settle", (), "fields", None, None, 4194304, True),
    "jobs.cancel": Operation("POST", "/v1/wallets/{wallet}/jobs/{job}/cancel", (), "fields", None, None, 4194304, True),
    "jobs.failMany": Operation("POST", "/v1/batch/failures", (), "fields", None, None, 33554432, True),
    "jobs.succeedMany": Operation("POST", "/v1/batch/successes", (), "fields", None, None, 33554432, True),
    "upstreamRefs.fail": Operation("POST", "/v1/upstream-refs/{upstreamRef}/fail", (), "fields", None, None, 4194304, True),
    "upstreamRefs.succeed": Operation("POST", "/v1/upstream-refs/{upstreamRef}/succeed", (), "fields", None, None, 4194304, True),
    "queues.lease": Operation("POST", "/v1/queues/{queue}/leases", (), "fields", None, None, 4194304, True),
    "jobs.extend": Operation("POST", "/v1/wallets/{wallet}/jobs/{job}/extend", (), "fields", None, None, 4194304, True),
    "jobs.handOver": Operation("POST", "/v1/wallets/{wallet}/jobs/{job}/hand-over", (), "fields", None, None, 4194304, True),
    "jobs.release": Operation("POST", "/v1/wallets/{wallet}/jobs/{job}/release", (), "fields", None, None, 4194304, True),
    "jobs.report": Operation("POST", "/v1/wallets/{wallet}/jobs/{job}/report", (), "fields", None, None, 4194304, True),
    "deadLetters.list": Operation("GET", "/v1/dead-letters", ("queue", "wallet", "reason", "asOf", "cursor", "limit",), None, None, "jobs", None, True),
    "deadLetters.preview": Operation("GET", "/v1/dead-letters/preview", ("queue", "wallet", "reason", "asOf",), None, None, None, None, True),
    "deadLetters.redriveAll": Operation("POST", "/v1/dead-letters/redrive", (), "fields", "ndjson", None, 4194304, False),
    "deadLetters.redrive": Operation("POST", "/v1/wallets/{wallet}/jobs/{job}/redrive", (), None, None, None, None, True),
    "deadLetters.discard": Operation("POST", "/v1/wallets/{wallet}/jobs/{job}/discard", (), None, None, None, None, True),
    "queues.list": Operation("GET", "/v1/queues", (), None, None, None, None, True),
    "queues.get": Operation("GET", "/v1/queues/{queue}", (), None, None, None, None, True),
    "queues.configure": Operation("PATCH", "/v1/queues/{queue}", (), "fields", None, None, 4194304, True),
    "upstreams.list": Operation("GET", "/v1/upstreams", ("pool", "provider", "quotaGroup", "status", "usable", "cursor", "limit",), None, None, "upstreams", None, True),
    "upstreams.register": Operation("PUT", "/v1/upstreams/{upstream}", (), "fields", None, None, 4194304, True),
    "upstreams.change": Operation("PATCH", "/v1/upstreams/{upstream}", (), "fields", None, None, 4194304, True),
    "upstreams.replaceCredential": Operation("POST", "/v1/upstreams/{upstream}/credential", (), "fields", None, None, 4194304, True),
    "upstreams.explain": Operation("GET", "/v1/upstreams/{upstream}/explain", ("model", "capability",), None, None, None, None, True),
    "upstreams.history": Operation("GET", "/v1/upstreams/{upstream}/history", ("cursor", "limit", "oldestFirst",), None, None, "events", None, True),
    "upstreams.select": Operation("POST", "/v1/pools/{pool}/select", (), "fields", None, None, 4194304, True),
    "upstreams.extend": Operation("POST", "/v1/upstream-leases/{lease}/extend", (), "fields", None, None, 4194304, True),
    "upstreams.release": Operation("POST", "/v1/upstream-leases/{lease}/release", (), "fields", None, None, 4194304, True),
    "upstreams.report": Operation("POST", "/v1/upstreams/{upstream}/report", (), "fields", None, None, 4194304, True),
    "upstreams.note": Operation("POST", "/v1/upstreams/{upstream}/note", (), "fields", None, None, 4194304, True),
    "upstreams.snapshots": Operation("GET", "/v1/upstreams/{upstream}/snapshots", (), None, None, None, None, True),
    "blocks.list": Operation("GET", "/v1/blocks", ("policy", "kind", "subject", "cursor", "limit",), None, None, "blocks", None, True),
    "upstreams.block": Operation("POST", "/v1/upstreams/{upstream}/block", (), "fields", None, None, 4194304, True),
    "upstreams.free": Operation("POST", "/v1/blocks/{block}/free", (), "fields", None, None, 4194304, True, ("block",)),
    "limits.list": Operation("GET", "/v1/limits", ("upstream", "quotaGroup", "provider", "route",), None, None, None, None, True),
    "limits.get": Operation("GET", "/v1/limits/{limit}", (), None, None, None, None, True),
    "limits.set": Operation("PUT", "/v1/limits/{limit}", (), "fields", None, None, 4194304, True),
    "limits.end": Operation("POST", "/v1/limits/{limit}/end", (), None, None, None, None, True),
    "limits.reset": Operation("POST", "/v1/limits/{limit}/reset", (), "fields", None, None, 4194304, True),
    "limits.windows": Operation("GET", "/v1/limits/{limit}/windows", ("count",), None, None, None, None, True),
    "pools.list": Operation("GET", "/v1/pools", ("cursor", "limit",), None, None, "pools", None, True),
    "pools.get": Operation("GET", "/v1/pools/{pool}", ("model", "capability",), None, None, None, None, True),
    "pools.explain": Operation("GET", "/v1/pools/{pool}/explain", ("model", "capability", "limit",), None, None, None, None, True),
    "probes.set": Operation("PUT", "/v1/pools/{pool}/prober", (), "fields", None, None, 4194304, True),
    "probes.remove": Operation("DELETE", "/v1/pools/{pool}/prober", (), None, None, None, None, True),
    "probes.probers": Operation("GET", "/v1/probers", (), None, None, None, None, True),
    "probes.list": Operation("GET", "/v1/probes", ("block", "upstream", "cursor", "limit",), None, None, "probes", None, True),
    "probes.report": Operation("GET", "/v1/probes/report", ("since", "pool",), None, None, None, None, True),
    "probes.preview": Operation("GET", "/v1/pools/{pool}/recheck", ("policy", "kind",), None, None, None, None, True),
    "probes.recheck": Operation("POST", "/v1/pools/{pool}/recheck", (), "fields", "ndjson", None, 4194304, False),
    "estimates.report": Operation("GET", "/v1/estimates", ("since",), None, None, None, None, True),
    "inbox.list": Operation("GET", "/v1/inbox", ("pool", "owner", "unowned", "snoozed", "cursor", "limit",), None, None, "items", None, True),
    "inbox.take": Operation("POST", "/v1/inbox/{item}/take", (), "fields", None, None, 4194304, True),
    "inbox.snooze": Operation("POST", "/v1/inbox/{item}/snooze", (), "fields", None, None, 4194304, True),
    "inbox.note": Operation("POST", "/v1/inbox/{item}/note", (), "fields", None, None, 4194304, True),
    "feed.read": Operation("GET", "/v1/feed", ("cursor", "limit",), None, None, "events", None, True),
    "feed.entries": Operation("GET", "/v1/entries", ("wallet", "customer", "from", "to", "cursor", "limit",), None, None, "entries", None, True),
    "feed.stream": Operation("GET", "/v1/feed/stream", ("cursor",), None, "sse", None, None, True),
    "epochs.open": Operation("POST", "/v1/epochs", (), "fields", None, None, 4194304, False),
    "epochs.list": Operation("GET", "/v1/epochs", (), None, None, None, None, True),
    "keys.create": Operation("POST", "/v1/keys", (), "fields", None, None, 4194304, False),
    "keys.list": Operation("GET", "/v1/keys", (), None, None, None, None, True),
    "keys.revoke": Operation("DELETE", "/v1/keys/{key}", (), None, None, None, None, True),
    "callbacks.sign": Operation("POST", "/v1/wallets/{wallet}/jobs/{job}/callback-url", (), "fields", None, None, 4194304, True),
    "webhooks.take": Operation("POST", "/v1/webhooks/{provider}", (), "whole", None, None, 4194304, True),
    "webhooks.takeSigned": Operation("POST", "/v1/webhooks/{provider}/{token}", (), "whole", None, None, 4194304, True),
    "webhookEndpoints.register": Operation("PUT", "/v1/webhook-endpoints/{endpoint}", (), "fields", None, None, 4194304, False),
    "webhookEndpoints.change": Operation("PATCH", "/v1/webhook-endpoints/{endpoint}", (), "fields", None, None, 4194304, True),
    "webhookEndpoints.remove": Operation("DELETE", "/v1/webhook-endpoints/{endpoint}", (), None, None, None, None, True),
    "webhookEndpoints.get": Operation("GET", "/v1/webhook-endpoints/{endpoint}", (), None, None, None, None, True),
    "webhookEndpoints.rotate": Operation("POST", "/v1/webhook-endpoints/{endpoint}/rotate", (), "fields", None, None, 4194304, False),
    "webhookEndpoints.list": Operation("GET", "/v1/webhook-endpoints", (), None, None, None, None, True),
    "webhookEndpoints.test": Operation("POST", "/v1/webhook-endpoints/{endpoint}/test", (), "fields", None, None, 4194304, True),
    "webhookEndpoints.replay": Operation("POST", "/v1/webhook-endpoints/{endpoint}/replay", (), "fields", None, None, 4194304, True),
    "webhookDeliveries.list": Operation("GET", "/v1/webhook-endpoints/{endpoint}/deliveries", ("state", "cursor", "limit",), None, None, "deliveries", None, True),
    "webhookDeliveries.get": Operation("GET", "/v1/webhook-deliveries/{delivery}", (), None, None, None, None, True),
    "alerts.list": Operation("GET", "/v1/alerts", ("kind", "recovered", "limit",), None, None, None, None, True),
    "system.info": Operation("GET", "/v1/info", (), None, None, None, None, True),
    "system.verify": Operation("GET", "/v1/verify", ("limit",), None, None, None, None, True),
}
