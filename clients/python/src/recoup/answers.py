# Written by `npm run docs` from the OpenAPI document of the service: change the operations, not this file.
"""What the service answers, as typed dictionaries. Instants are RFC 3339 text in UTC."""
from typing import Any, Dict, List, Literal, Optional, TypedDict, Union


class _ProblemOptional(TypedDict, total=False):
    field: str
    rule: str


class Problem(_ProblemOptional):
    """RFC 9457, with a stable code and the facts of the refusal as further members. Nothing was changed."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    code: Literal["invalid", "unauthorized", "forbidden", "bad_signature", "not_found", "method_not_allowed", "too_large", "headers_too_large", "unsupported_media_type", "request_timeout", "wrong_host", "foreign_origin", "rate_limited", "keys_required", "port_in_use", "no_key", "unhealthy", "internal", "no_wallet", "no_plan", "no_subscription", "already_subscribed", "subscription_ended", "no_upstream", "no_limit", "no_block", "manual_block", "no_item", "no_endpoint", "no_delivery", "upstream_busy", "upstream_retired", "no_job", "pruned", "conflict", "canceled", "insufficient_credits", "wallet_closed", "balance_limit", "attempt_required", "not_ended", "not_dead", "release_limit", "count_changed", "epoch_changed", "epoch_needed", "wallet_busy", "transaction_conflict", "transaction_aborted", "database_unavailable", "database_read_only", "database_refused", "database_error", "schema_missing", "schema_behind", "schema_ahead", "schema_altered", "migration_blocked", "server_too_old", "not_utf8", "closed"]
    requestId: str


class Opened(TypedDict):
    outcome: Literal["opened", "duplicate"]


class Refused(TypedDict):
    """Why this item was refused; the other items are not affected."""

    code: str
    message: str


class Balance(TypedDict):
    wallet: str
    customer: str
    unit: str
    status: Literal["active", "closed"]
    booked: int
    overdraftLimit: int
    spendable: int
    held: int
    atRisk: int
    expiring: List[Dict[str, Any]]
    lastSeq: int
    lastEntryAt: Optional[str]


class _BalanceAtOptional(TypedDict, total=False):
    spendable: int
    atRisk: int


class BalanceAt(_BalanceAtOptional):
    wallet: str
    at: str
    seq: int
    booked: int


class Wallet(TypedDict):
    wallet: str
    customer: str
    unit: str
    status: Literal["active", "closed"]
    booked: int
    overdraftLimit: int


class WalletPage(TypedDict):
    wallets: List["Wallet"]
    cursor: Optional[str]


class Remainder(TypedDict):
    wallet: str
    customer: str
    unit: str
    seq: int
    type: Literal["grant", "adjust", "restore"]
    key: Optional[str]
    reason: Optional[str]
    amount: int
    remaining: int
    priority: int
    expiresAt: Optional[str]
    createdAt: str


class RemainderPage(TypedDict):
    remainders: List["Remainder"]
    cursor: Optional[str]


class Entry(TypedDict):
    wallet: str
    seq: int
    type: Literal["grant", "charge", "refund", "reclaim", "settle", "adjust", "clawback", "expire", "restore"]
    amount: int
    balance: int
    job: Optional[str]
    key: Optional[str]
    reason: Optional[str]
    actor: Optional[str]
    note: Optional[str]
    jobState: Optional[str]
    jobReason: Optional[str]
    createdAt: str


class EntryPage(TypedDict):
    entries: List["Entry"]
    cursor: Optional[int]


class Granted(TypedDict):
    outcome: Literal["granted", "duplicate"]
    seq: int
    amount: int
    balance: int
    createdAt: str


class Adjusted(TypedDict):
    outcome: Literal["adjusted", "duplicate"]
    seq: int
    amount: int
    balance: int
    createdAt: str


class Plan(TypedDict):
    plan: str
    credits: int
    every: Literal["day", "week", "month", "year"]
    everyCount: int
    zone: str
    renews: Literal["paid", "itself"]
    expires: bool
    priority: int
    graceMs: int
    status: Literal["on", "off"]


class PlanPage(TypedDict):
    plans: List["Plan"]
    cursor: Optional[str]


class Paid(TypedDict):
    outcome: Literal["activated", "renewed", "duplicate"]
    status: Literal["pending", "active", "past_due", "expired", "revoked"]
    plan: str
    period: Optional[int]
    periodStart: Optional[str]
    periodEnd: Optional[str]
    granted: int


class Subscription(TypedDict):
    subscription: str
    customer: str
    wallet: str
    plan: str
    nextPlan: Optional[str]
    status: Literal["pending", "active", "past_due", "expired", "revoked"]
    period: Optional[int]
    periodStart: Optional[str]
    periodEnd: Optional[str]
    endsWithPeriod: bool
    startedAt: str
    endedAt: Optional[str]


class SubscriptionEvent(TypedDict):
    number: int
    type: str
    at: str
    plan: str
    period: Optional[int]
    key: Optional[str]
    actor: Optional[str]
    reason: Optional[str]


class SubscriptionPage(TypedDict):
    subscriptions: List["Subscription"]
    cursor: Optional[str]


class StrayPayment(TypedDict):
    subscription: str
    customer: str
    number: int
    key: str
    reason: Optional[str]
    at: str


class ToldPayment(TypedDict):
    outcome: Literal["granted", "adjusted", "told"]
    granted: int
    taken: int


class Payment(TypedDict):
    payment: str
    wallet: Optional[str]
    subscription: Optional[str]
    amount: Optional[int]
    paid: bool
    refunded: int
    disputes: Dict[str, Any]
    granted: int
    taken: int
    firstAt: str
    toldAt: str


class PaymentTaken(TypedDict):
    outcome: str
    payment: Optional[str]
    code: Optional[str]


class Job(TypedDict):
    wallet: str
    id: str
    queue: Optional[str]
    state: Literal["queued", "running", "waiting", "succeeded", "dead", "failed", "canceled", "discarded"]
    price: int
    finalPrice: Optional[int]
    priority: int
    refundOn: Literal["failure", "final"]
    attempt: int
    failures: int
    maxFailures: int
    releases: int
    verdict: Optional[Literal["definitive", "presumed"]]
    reason: Optional[str]
    worker: Optional[str]
    upstream: Optional[str]
    upstreamRef: Optional[str]
    labels: Optional[Dict[str, Any]]
    traceparent: Optional[str]
    succeededAttempt: Optional[int]
    submittedAt: str
    startedAt: Optional[str]
    notBefore: Optional[str]
    leaseUntil: Optional[str]
    deadlineAt: Optional[str]
    deadAt: Optional[str]
    refundedAt: Optional[str]
    succeededAt: Optional[str]
    reclaimedAt: Optional[str]
    settledAt: Optional[str]
    canceledAt: Optional[str]


class Submitted(TypedDict):
    outcome: Literal["charged", "duplicate"]
    job: "Job"
    seq: int
    balance: int


class JobPage(TypedDict):
    jobs: List["Job"]
    cursor: Optional[int]


class Attempt(TypedDict):
    attempt: int
    endedAs: Literal["failed", "lapsed", "confirmed", "rejected", "released", "superseded", "canceled", "succeeded"]
    verdict: Optional[Literal["definitive", "presumed"]]
    jobState: str
    reason: Optional[str]
    worker: Optional[str]
    upstream: Optional[str]
    upstreamRef: Optional[str]
    startedAt: Optional[str]
    endedAt: str


class Failed(TypedDict):
    outcome: Literal["retrying", "dead", "refunded", "canceled", "succeeded", "stale", "duplicate"]
    state: str
    attempt: int
    failures: int
    notBefore: Optional[str]
    refunded: bool


class Succeeded(TypedDict):
    outcome: Literal["succeeded", "reclaimed", "duplicate"]
    succeededAttempt: int
    succeededAt: str
    reclaimed: bool
    finalPrice: Optional[int]


class LeasedUpstream(TypedDict):
    """The upstream to run it on, where the queue has a pool."""

    upstream: str
    provider: str
    credentialRef: Optional[str]
    lease: str


class LeasedJob(TypedDict):
    job: "Job"
    payload: Any
    earlier: Optional[Dict[str, Any]]
    upstream: Optional["LeasedUpstream"]


class Estimate(TypedDict):
    """What the estimate rests on."""

    at: str
    source: Literal["retry_after", "reset_announced", "backoff", "operator", "window"]
    revision: Optional[int]
    range: Optional[Dict[str, Any]]


class PoolOut(TypedDict):
    """Jobs are due and no upstream of the queue’s pool is usable."""

    pool: str
    reason: str
    retryAfterMs: int
    expectedRecoveryAt: Optional[str]
    estimate: Optional["Estimate"]


class _ProviderAnswerOptional(TypedDict, total=False):
    status: Optional[int]
    headers: Dict[str, Any]
    body: Any
    error: Optional[str]
    ageMs: int


class ProviderAnswer(_ProviderAnswerOptional):
    """One of `status`, `body` and `error` is needed. Nothing of it is logged."""

    pass


class Dropped(TypedDict):
    field: str
    value: str
    rule: str


_ReportedReserved = TypedDict("_ReportedReserved", {"class": Optional[str]})


class Reported(_ReportedReserved):
    outcome: Literal["noted", "blocked", "reopened", "extended", "duplicate"]
    block: Optional[int]
    until: Optional[str]
    step: Optional[int]
    closed: int
    use: Optional[Literal["booked", "duplicate", "none"]]
    reason: Optional[str]
    nextStep: Optional[str]
    rule: Optional[str]
    blocks: List[Dict[str, Any]]
    dropped: List["Dropped"]


class JobReported(TypedDict):
    means: Literal["success", "failure", "release"]
    outcome: Literal["succeeded", "reclaimed", "duplicate", "retrying", "dead", "refunded", "canceled", "stale", "released"]
    notBefore: Optional[str]
    refunded: bool
    reclaimed: bool
    upstream: "Reported"


class RedrivePreview(TypedDict):
    count: int
    mayReclaim: int
    walletsIntoDebt: int
    asOf: str


class _RedriveProgressOptional(TypedDict, total=False):
    redriven: int
    skipped: int


class RedriveProgress(_RedriveProgressOptional):
    done: int
    of: int
    ended: bool


class QueueDepth(TypedDict):
    queue: str
    ready: int
    later: int
    running: int
    waiting: int
    dead: int
    oldestReadyMs: Optional[int]


class QueueSettings(TypedDict):
    refundOn: Literal["failure", "final"]
    backoffBaseMs: int
    backoffMaxMs: int
    retryAfterMaxMs: int
    maxFailures: int
    maxReleases: int
    leaseMs: int
    paused: bool
    pool: Optional[str]
    maxUpstreamErrors: int


class FailingCheck(TypedDict):
    check: Literal["off", "draining", "retired", "blocked", "gated", "trial", "quota", "slots"]
    block: Optional[int]
    kind: Optional[str]
    source: Optional[str]
    policy: Optional[str]
    subject: Optional[str]
    scope: Optional[str]
    until: Optional[str]
    reason: Optional[str]
    revision: Optional[int]
    nextStep: Optional[str]
    limit: Optional[str]
    unit: Optional[str]
    used: Optional[int]
    amount: Optional[int]


class Upstream(TypedDict):
    upstream: str
    pool: str
    provider: str
    quotaGroup: Optional[str]
    route: str
    credentialRef: Optional[str]
    status: Literal["on", "off", "draining", "retired"]
    priority: int
    weight: int
    maxConcurrency: Optional[int]
    slotsOut: int
    usable: bool
    failing: List["FailingCheck"]
    expectedRecoveryAt: Optional[str]
    estimate: Optional["Estimate"]
    tightUntil: Optional[str]
    lastUsedAt: Optional[str]
    registeredAt: str


class UpstreamPage(TypedDict):
    upstreams: List["Upstream"]
    cursor: Optional[str]


class Registered(TypedDict):
    outcome: Literal["registered", "changed", "duplicate"]


class CredentialReplaced(TypedDict):
    outcome: Literal["replaced", "duplicate"]
    closed: int


class BlockEvent(TypedDict):
    block: Optional[int]
    generation: int
    subject: str
    scope: str
    kind: Optional[str]
    source: Optional[str]
    policy: Optional[Literal["auto", "manual", "snapshot", "rolling"]]
    type: Literal["opened", "extended", "reopened", "trial", "probed", "closed", "contradicted", "registered", "changed", "credential"]
    at: str
    until: Optional[str]
    step: Optional[int]
    evidenceAt: Optional[str]
    closedAs: Optional[str]
    actor: Optional[str]
    reason: Optional[str]
    settings: Optional[Dict[str, Any]]


class HistoryPage(TypedDict):
    events: List["BlockEvent"]
    cursor: Optional[str]


class Selected(TypedDict):
    outcome: Literal["selected", "none"]
    upstream: Optional[str]
    provider: Optional[str]
    credentialRef: Optional[str]
    lease: Optional[str]
    leaseUntil: Optional[str]
    retryAfterMs: Optional[int]
    expectedRecoveryAt: Optional[str]
    estimate: Optional["Estimate"]


class Noted(TypedDict):
    outcome: Literal["noted", "duplicate"]
    closed: int
    dropped: List["Dropped"]


class KnownWindow(TypedDict):
    subject: str
    scope: str
    name: str
    kind: Literal["short", "daily", "weekly", "monthly", "other", "unknown"]
    lengthMs: Optional[int]
    used: Optional[float]
    exhausted: bool
    resetsAt: Optional[str]
    observedAt: str


class Snapshots(TypedDict):
    snapshots: List["KnownWindow"]


class Block(TypedDict):
    block: int
    subject: str
    scope: str
    kind: str
    source: Literal["retry_after", "reset_announced", "backoff", "operator"]
    policy: Literal["auto", "manual", "snapshot", "rolling"]
    halfOpen: bool
    openedAt: str
    evidenceAt: str
    until: Optional[str]
    gatedUntil: Optional[str]
    nextCheckAt: Optional[str]
    step: int
    trials: int
    generation: int
    reason: Optional[str]
    nextStep: Optional[str]


class BlockPage(TypedDict):
    blocks: List["Block"]
    cursor: Optional[int]


class Limit(TypedDict):
    limit: str
    subject: str
    scope: str
    unit: str
    amount: int
    used: int
    kind: Literal["daily", "weekly", "monthly", "first_use", "rolling"]
    zone: Optional[str]
    startHour: Optional[int]
    weekday: Optional[int]
    day: Optional[int]
    lengthMs: Optional[int]
    windowStart: Optional[str]
    windowEnd: Optional[str]
    until: Optional[str]
    endedAt: Optional[str]


class Limits(TypedDict):
    limits: List["Limit"]


class LimitWindow(TypedDict):
    start: str
    end: str
    used: int
    begunBy: Literal["use", "roll", "reset"]
    actor: Optional[str]
    reason: Optional[str]


class LimitWindows(TypedDict):
    windows: List["LimitWindow"]


class Pool(TypedDict):
    pool: str
    total: int
    on: int
    usable: int
    slotsOut: int
    expectedRecoveryAt: Optional[str]


class PoolPage(TypedDict):
    pools: List["Pool"]
    cursor: Optional[str]


class PoolState(TypedDict):
    pool: str
    usable: bool
    retryAfterMs: Optional[int]
    expectedRecoveryAt: Optional[str]
    estimate: Optional["Estimate"]


class _HttpProbeOptional(TypedDict, total=False):
    method: Literal["GET", "HEAD", "POST"]
    headers: Dict[str, Any]
    body: str
    yes: Dict[str, Any]


class HttpProbe(_HttpProbeOptional):
    url: str


class Prober(TypedDict):
    pool: str
    kind: Literal["function", "http"]
    http: Optional["HttpProbe"]
    graceMs: int
    everyMs: int
    timeoutMs: int
    cost: Dict[str, Any]
    setAt: str
    actor: Optional[str]


class Probe(TypedDict):
    probe: int
    block: int
    upstream: str
    pool: str
    kind: Literal["due", "early", "asked"]
    startedAt: str
    endedAt: Optional[str]
    result: Optional[Literal["yes", "no", "unavailable"]]
    outcome: Optional[Literal["confirmed", "denied", "unavailable", "superseded", "lapsed"]]
    latencyMs: Optional[int]
    cost: Dict[str, Any]
    reason: Optional[str]
    claimedBy: Optional[str]
    askedBy: Optional[str]


class ProbePage(TypedDict):
    probes: List["Probe"]
    cursor: Optional[int]


class ProbeScore(TypedDict):
    pool: str
    source: str
    probes: int
    yes: int
    no: int
    unavailable: int
    ignored: int
    cost: Dict[str, Any]
    minutesRegained: float
    minutesPerRequest: Optional[float]
    medianLatencyMs: Optional[float]


class RecheckProgress(TypedDict):
    done: int
    of: int
    ended: bool
    open: int
    yes: int
    no: int
    unavailable: int
    moved: int


class EstimateScore(TypedDict):
    provider: Optional[str]
    kind: str
    source: Literal["retry_after", "reset_announced", "backoff", "operator", "window"]
    count: int
    held: int
    late: int
    early: int
    low: int
    median: int
    high: int
    unknown: int


class EstimateReport(TypedDict):
    scores: List["EstimateScore"]


class InboxItem(TypedDict):
    item: str
    since: str
    subject: str
    scope: str
    kind: str
    reason: Optional[str]
    nextStep: Optional[str]
    block: int
    generation: int
    contradictedAt: Optional[str]
    owner: Optional[str]
    snoozedUntil: Optional[str]
    pools: List[Dict[str, Any]]
    notes: List[Dict[str, Any]]


class InboxPage(TypedDict):
    items: List["InboxItem"]
    cursor: Optional[str]


class Taken(TypedDict):
    outcome: Literal["taken", "held", "duplicate"]
    owner: Optional[str]


class Remarked(TypedDict):
    outcome: Literal["noted", "duplicate"]
    number: Optional[int]


class EntryEvent(TypedDict):
    """Money moved."""

    kind: Literal["entry"]
    wallet: str
    seq: int
    type: Literal["grant", "charge", "refund", "reclaim", "settle", "adjust", "clawback", "expire", "restore"]
    amount: int
    balance: int
    job: Optional[str]
    key: Optional[str]
    reason: Optional[str]
    actor: Optional[str]
    at: str


class AttemptEvent(TypedDict):
    """An attempt ended."""

    kind: Literal["attempt"]
    wallet: str
    job: str
    attempt: int
    endedAs: Literal["failed", "lapsed", "confirmed", "rejected", "released", "superseded", "canceled", "succeeded"]
    verdict: Optional[Literal["definitive", "presumed"]]
    jobState: str
    at: str


class LedgerEntry(TypedDict):
    wallet: str
    customer: str
    unit: str
    seq: int
    type: Literal["grant", "charge", "refund", "reclaim", "settle", "adjust", "clawback", "expire", "restore"]
    amount: int
    balance: int
    job: Optional[str]
    key: Optional[str]
    reason: Optional[str]
    actor: Optional[str]
    createdAt: str


class LedgerPage(TypedDict):
    entries: List["LedgerEntry"]
    cursor: Optional[str]
    ended: bool


class Epoch(TypedDict):
    number: int
    openedAt: str
    reason: str
    actor: Optional[str]


class ApiKey(TypedDict):
    id: str
    prefix: str
    name: str
    scopes: List[Literal["app", "worker", "viewer", "support", "operator", "admin"]]
    customer: Optional[str]
    createdAt: str
    revokedAt: Optional[str]
    lastUsedAt: Optional[str]


class WebhookSettled(TypedDict):
    outcome: str
    wallet: str
    job: str


class WebhookEndpoint(TypedDict):
    endpoint: str
    url: str
    kinds: List[Literal["job.succeeded", "job.dead", "job.reclaimed", "wallet.low", "wallet.debt", "upstream.blocked", "upstream.freed", "inbox.opened", "inbox.closed", "alert.firing", "alert.recovered"]]
    status: Literal["on", "off", "gone"]
    lowBalance: Optional[int]
    registeredAt: str
    lookedAt: str
    pending: int
    dead: int
    oldestDueMs: Optional[int]


class WebhookDelivery(TypedDict):
    delivery: str
    endpoint: str
    kind: Literal["job.succeeded", "job.dead", "job.reclaimed", "wallet.low", "wallet.debt", "upstream.blocked", "upstream.freed", "inbox.opened", "inbox.closed", "alert.firing", "alert.recovered", "endpoint.test"]
    state: Literal["pending", "delivered", "dead"]
    happenedAt: str
    dueAt: Optional[str]
    attempt: int
    tries: int
    lastAt: Optional[str]
    lastStatus: Optional[int]
    lastError: Optional[str]
    endedAt: Optional[str]
    payload: Any


class WebhookDeliveryPage(TypedDict):
    deliveries: List["WebhookDelivery"]
    cursor: Optional[str]


class Alert(TypedDict):
    kind: Literal["exhausted", "near_exhausted", "snapshot_exhausted", "idle", "blocked_long"]
    subject: str
    number: int
    firedAt: str
    recoveredAt: Optional[str]
    facts: Dict[str, Any]


class Info(TypedDict):
    version: str
    schema: str
    epoch: "Epoch"
    notices: List[str]


class Verified(TypedDict):
    ok: bool
    problems: List[Dict[str, Any]]
    wallets: int
    entries: int
    jobs: int
    sumOfEntries: float
    sumOfBalances: float
    ms: int


class WalletsChangeAnswer(TypedDict):
    outcome: Literal["changed"]


class WalletsOpenManyAnswer(TypedDict):
    items: List[Union["Opened", "Refused"]]


class WalletsBalancesAnswer(TypedDict):
    items: List[Union["Balance", "Refused"]]


class WalletsGrantManyAnswer(TypedDict):
    items: List[Union["Granted", "Refused"]]


class WalletsAdjustManyAnswer(TypedDict):
    items: List[Union["Adjusted", "Refused"]]


class PlansSetAnswer(TypedDict):
    outcome: Literal["set", "duplicate"]


class SubscriptionsStartAnswer(TypedDict):
    outcome: Literal["started", "duplicate"]


class SubscriptionsChangeAnswer(TypedDict):
    outcome: Literal["plan_changed", "plan_planned", "duplicate"]
    granted: int
    periodEnd: Optional[str]


class SubscriptionsCancelAnswer(TypedDict):
    outcome: Literal["revoked", "canceling", "resumed", "duplicate"]
    status: Literal["pending", "active", "past_due", "expired", "revoked"]


class SubscriptionsHistoryAnswer(TypedDict):
    events: List["SubscriptionEvent"]


class SubscriptionsStraysAnswer(TypedDict):
    payments: List["StrayPayment"]


class PaymentsListAnswer(TypedDict):
    payments: List["Payment"]


class PaymentsMissingAnswer(TypedDict):
    missing: List[str]


class JobsGetAnswer(TypedDict):
    job: "Job"
    payload: Any
    result: Any


class JobsSubmitManyAnswer(TypedDict):
    items: List[Union["Submitted", "Refused"]]


class JobsAttemptsAnswer(TypedDict):
    attempts: List["Attempt"]


class JobsEntriesAnswer(TypedDict):
    entries: List["Entry"]


class JobsByUpstreamRefAnswer(TypedDict):
    jobs: List[Dict[str, Any]]


class _JobsPruneAnswerOptional(TypedDict, total=False):
    prunable: int


class JobsPruneAnswer(_JobsPruneAnswerOptional):
    pruned: int


class JobsSettleAnswer(TypedDict):
    outcome: Literal["settled", "duplicate"]
    finalPrice: int
    amount: int


class JobsCancelAnswer(TypedDict):
    outcome: Literal["canceled", "succeeded", "duplicate"]
    state: str
    refunded: bool
    kept: Optional[int]


class JobsFailManyAnswer(TypedDict):
    items: List[Union["Failed", "Refused"]]


class JobsSucceedManyAnswer(TypedDict):
    items: List[Union["Succeeded", "Refused"]]


class QueuesLeaseAnswer(TypedDict):
    jobs: List["LeasedJob"]
    out: Optional["PoolOut"]


class JobsExtendAnswer(TypedDict):
    outcome: Literal["extended", "canceled", "succeeded", "stale"]
    leaseUntil: Optional[str]


class JobsHandOverAnswer(TypedDict):
    outcome: Literal["handed_over", "canceled", "succeeded", "stale", "duplicate"]
    deadlineAt: Optional[str]


class JobsReleaseAnswer(TypedDict):
    outcome: Literal["released", "canceled", "succeeded", "stale", "duplicate"]
    notBefore: Optional[str]


class DeadLettersListAnswer(TypedDict):
    jobs: List["Job"]
    cursor: Optional[str]


class DeadLettersRedriveAnswer(TypedDict):
    outcome: Literal["redriven", "canceled", "succeeded", "stale", "duplicate"]


class DeadLettersDiscardAnswer(TypedDict):
    outcome: Literal["discarded", "canceled", "succeeded", "stale", "duplicate"]


class QueuesListAnswer(TypedDict):
    queues: List["QueueDepth"]


class UpstreamsChangeAnswer(TypedDict):
    outcome: Literal["changed", "duplicate"]


class UpstreamsExtendAnswer(TypedDict):
    outcome: Literal["extended", "stale"]
    leaseUntil: Optional[str]


class UpstreamsReleaseAnswer(TypedDict):
    outcome: Literal["released", "duplicate"]


class UpstreamsBlockAnswer(TypedDict):
    outcome: Literal["blocked", "duplicate"]
    block: int


class UpstreamsFreeAnswer(TypedDict):
    outcome: Literal["closed", "duplicate"]


class LimitsSetAnswer(TypedDict):
    outcome: Literal["set", "changed", "duplicate"]


class LimitsEndAnswer(TypedDict):
    outcome: Literal["ended", "duplicate"]


class LimitsResetAnswer(TypedDict):
    outcome: Literal["reset", "duplicate"]


class PoolsExplainAnswer(TypedDict):
    upstreams: List["Upstream"]


class ProbesSetAnswer(TypedDict):
    outcome: Literal["set", "duplicate"]


class ProbesRemoveAnswer(TypedDict):
    outcome: Literal["removed", "duplicate"]


class ProbesProbersAnswer(TypedDict):
    probers: List["Prober"]


class ProbesReportAnswer(TypedDict):
    scores: List["ProbeScore"]


class ProbesPreviewAnswer(TypedDict):
    count: int
    left: int


class InboxSnoozeAnswer(TypedDict):
    outcome: Literal["snoozed", "woken", "duplicate"]


class FeedReadAnswer(TypedDict):
    events: List[Union["EntryEvent", "AttemptEvent"]]
    cursor: Optional[str]
    ended: bool


class EpochsListAnswer(TypedDict):
    epochs: List["Epoch"]


class KeysCreateAnswer(TypedDict):
    outcome: Literal["created"]
    key: "ApiKey"
    secret: str


class KeysListAnswer(TypedDict):
    keys: List["ApiKey"]


class KeysRevokeAnswer(TypedDict):
    outcome: Literal["revoked", "duplicate"]
    key: "ApiKey"


class CallbacksSignAnswer(TypedDict):
    path: str
    url: Optional[str]
    expiresAt: str


class WebhookEndpointsRegisterAnswer(TypedDict):
    outcome: Literal["registered", "duplicate"]
    secret: Optional[str]


class WebhookEndpointsChangeAnswer(TypedDict):
    outcome: Literal["changed", "duplicate"]


class WebhookEndpointsRemoveAnswer(TypedDict):
    outcome: Literal["removed", "duplicate"]


class WebhookEndpointsRotateAnswer(TypedDict):
    outcome: Literal["rotated"]
    secret: str


class WebhookEndpointsListAnswer(TypedDict):
    endpoints: List["WebhookEndpoint"]


class WebhookEndpointsTestAnswer(TypedDict):
    outcome: Literal["sent", "duplicate"]
    delivery: str


class WebhookEndpointsReplayAnswer(TypedDict):
    replayed: int


class AlertsListAnswer(TypedDict):
    alerts: List["Alert"]


class FeedItem(TypedDict):
    """An event of the feed, and the cursor right behind it: keep it, and give it back to go on."""

    cursor: str
    event: Union["EntryEvent", "AttemptEvent"]
