// The face of the library: what users import.
export type { Alert, AlertFilter } from './alerts/alerts.ts';
export { ALERT_KINDS, type AlertKind } from './alerts/conditions.ts';
export { type CreditOutcome, creditTransitions } from './credit-outcomes.ts';
export { addressProblem } from './db/address.ts';
export type { Database, Queryable } from './db/database.ts';
export { type EpochState, epochState } from './db/epochs.ts';
export { asRefusal, isConflict } from './db/failures.ts';
export { checkGrantee, grantTo } from './db/grants.ts';
export { type MigrateOptions, migrate, pendingMigrations, type SchemaState, schemaState } from './db/migrate.ts';
export type { PoolUsage } from './db/pool.ts';
export type { Labels } from './db/runner.ts';
export type { Begun, EndSpan, TracedJob, Tracer } from './db/tracing.ts';
export type { Epoch, OpenEpoch } from './epochs.ts';
export { type ErrorCode, errors, InvalidInput, Refusal, TransactionAborted, TransactionConflict } from './errors.ts';
export { eventTransitions } from './event-outcomes.ts';
export type { FeedEvent } from './feed/events.ts';
export type { LedgerEntry, LedgerFilter } from './feed/ledger.ts';
export type { InboxFilter, InboxItem, InboxNote, Remark, Snooze, Take } from './inbox/inbox.ts';
export { idProblem } from './input.ts';
export type { DeadLetterFilter, RedriveAll } from './jobs/dead-letters.ts';
export { jsonProblem } from './jobs/inputs.ts';
export type { Job } from './jobs/job.ts';
export type { LeasedUpstream } from './jobs/lease.ts';
export type { ListOptions } from './jobs/list.ts';
export type { PoolOut } from './jobs/pooled-claims.ts';
export type { Prune } from './jobs/prune.ts';
export type { Attempt } from './jobs/queries.ts';
export type {
  Answer,
  Answered,
  AttemptKey,
  Cancel,
  Canceled,
  Claimed,
  Each,
  Extend,
  Fail,
  Failed,
  HandOver,
  JobKey,
  Lease,
  LeasedJob,
  Settled,
  Submit,
  Submitted,
  Succeed,
  Succeeded,
} from './jobs/signals.ts';
export { open } from './open.ts';
export type { OpenOptions } from './options.ts';
export {
  type CapacityOutcome,
  capacityTransitions,
  ENTRY_TYPES,
  type EntryType,
  JOB_STATES,
  type JobState,
  type Outcome,
  type Transition,
  type TransitionName,
  transitions,
  type Verdict,
} from './outcomes.ts';
export type { Payment, TellPayment, ToldPayment } from './payments/payments.ts';
export { probeTransitions } from './probe-outcomes.ts';
export type { HttpProber, ProbeOutcome } from './probes/asking.ts';
export { type HttpProbe, METHODS as PROBE_METHODS } from './probes/http.ts';
export type { ProbeQuestion, ProbeResult, Prober, ProbeSaid, SetProber } from './probes/inputs.ts';
export type { Probe, ProberOf, Probes, Progress, Recheck, RecheckFilter } from './probes/probes.ts';
export type { Probed } from './probes/probing.ts';
export type { ProbeScore } from './probes/report.ts';
export type { QueueDepth, QueueSettings } from './queues/configure.ts';
export type { InTransaction, Recoup } from './recoup.ts';
export type {
  CancelSubscription,
  ChangePlan,
  PaySubscription,
  SetPlan,
  StartSubscription,
} from './subscriptions/inputs.ts';
export type { Plan } from './subscriptions/set-plan.ts';
export type { Advanced, StrayPayment, Subscription, SubscriptionEvent } from './subscriptions/subscriptions.ts';
export type { Swept } from './sweeps/sweeper.ts';
export type { DroppedHint, ProviderAnswer } from './upstreams/answer.ts';
export type { Block, ListBlocks } from './upstreams/blocks.ts';
export type { Estimate, EstimateScore } from './upstreams/estimates.ts';
export type { Explained, Failing, WhenBack } from './upstreams/explained.ts';
export type { BlockEvent, HistoryOptions } from './upstreams/history.ts';
export {
  type BlockFacts,
  type Change,
  POLICIES as BLOCK_POLICIES,
  type Register,
  type ReplaceCredential,
  type Report,
  type Select,
  SOURCES as BLOCK_SOURCES,
  STATUSES as UPSTREAM_STATUSES,
  SUBJECTS as BLOCK_SUBJECTS,
  type UpstreamStatus,
} from './upstreams/inputs.ts';
export type { KnownWindow } from './upstreams/known-windows.ts';
export type { ListUpstreams } from './upstreams/list.ts';
export type { Note, WindowFacts } from './upstreams/note-input.ts';
export type { Pool, PoolState } from './upstreams/pools.ts';
export type { Noted, Reported, ReportedBlock } from './upstreams/reporting.ts';
export type { Selected } from './upstreams/selecting.ts';
export type { Problem, Verified, VerifyOptions } from './verify.ts';
export type {
  Adjust,
  Balance,
  BalanceAt,
  Entry,
  Grant,
  KeyedEntry,
  Opened,
  OpenInput,
  Remainder,
  WalletRow,
} from './wallets/wallets.ts';
export type { DeliveryReport, LeasedDelivery } from './webhooks/sender.ts';
export {
  type ChangeEndpoint,
  type DeliveryFilter,
  EVENT_KINDS,
  type EventKind,
  type RegisterEndpoint,
  type Replay,
  type RotateSecret,
  type WebhookDelivery,
  type WebhookEndpoint,
} from './webhooks/webhooks.ts';
export {
  KINDS as LIMIT_KINDS,
  type LimitKind,
  type LimitSubject,
  type SetLimit,
  type Used,
  type UseKey,
} from './windows/inputs.ts';
export type { Limit, Limits, LimitWindow } from './windows/windows.ts';
export {
  type AbortCause,
  Aborted,
  type Check,
  type Checked,
  Done,
  Failure,
  type Handler,
  Release,
  type Work,
} from './worker/handler.ts';
export type { Worker, WorkOptions } from './worker/worker.ts';
