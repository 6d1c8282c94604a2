// Rows that break a rule of the schema and nothing else, for every rule, beside rows that are fine.
import * as capacity from './violations-of-capacity.ts';
import * as events from './violations-of-events.ts';
import * as probes from './violations-of-probes.ts';
import * as subscriptions from './violations-of-subscriptions.ts';
import * as windows from './violations-of-windows.ts';

export type Row = Readonly<Record<string, unknown>>;

const AT = '2030-01-01T00:00:00Z';
const BYTES = `\\x${'ab'.repeat(32)}`;
const BIG = '9007199254740992';
const YEAR_MS = 31_536_000_000;

/** A row of each table that is fine. */
export const ROWS: Readonly<Record<string, Row>> = {
  wallets: {
    id: 'w',
    customer_id: 'c',
    unit: 'u',
    status: 'active',
    balance: 0,
    overdraft_limit: 0,
    last_seq: 0,
    opened_at: AT,
  },
  entries: { wallet_id: 'w', seq: 1, type: 'grant', amount: 5, balance: 5, key: 'k', created_at: AT, tx: '1' },
  notes: { wallet_id: 'w', seq: 1, note: 'n' },
  grants: { wallet_id: 'w', seq: 1, priority: 5, expires_at: AT },
  grant_entries: { wallet_id: 'w', seq: 2, of_seq: 1 },
  queues: {
    ...{ id: 'q', refund_on: 'final', backoff_base_ms: 0, backoff_max_ms: 0, retry_after_max_ms: 0, max_failures: 1 },
    ...{ max_releases: 0, max_upstream_errors: 0, lease_ms: 100, paused: false },
  },
  jobs: {
    ...{ wallet_id: 'w', id: 'j', queue: 'q', state: 'running', price: 1, priority: 0, refund_on: 'failure' },
    ...{
      max_failures: 2,
      attempt: 1,
      failures: 0,
      releases: 0,
      upstream_errors: 0,
      lease_until: AT,
      submitted_at: AT,
      payload_bytes: 0,
    },
  },
  attempts: {
    ...{ wallet_id: 'w', job_id: 'j', attempt: 1, ended_as: 'released', job_state: 'queued', ended_at: AT, tx: '1' },
  },
  lease_requests: { queue: 'q', id: 'r', jobs: [], created_at: AT },
  api_keys: { id: '0123456789ab', hash: BYTES, name: 'n', scopes: ['app'], created_at: AT },
  secrets: { name: 's', value: BYTES, created_at: AT },
  epochs: { number: 1, id: 'e', opened_at: AT, reason: 'r' },
  migrations: { number: 99, name: 'n', checksum: 'c', compatible_from: 1, applied_at: AT },
  ...capacity.ROWS,
  ...events.ROWS,
  ...probes.ROWS,
  ...subscriptions.ROWS,
  ...windows.ROWS,
};

const queued = { state: 'queued', lease_until: null, not_before: AT };
const waiting = { state: 'waiting', lease_until: null, deadline_at: AT };
const succeeded = { state: 'succeeded', lease_until: null, succeeded_at: AT, succeeded_attempt: 1 };
const canceled = { state: 'canceled', lease_until: null, canceled_at: AT, refunded_at: AT };
const dead = { state: 'dead', lease_until: null, dead_at: AT, refunded_at: AT };
const failed = { queue: null, state: 'failed', lease_until: null, refunded_at: AT };
const later = { seq: 2, balance: 9 };
const ofJob = { ...later, key: null, job_id: 'j' };

/** Changes that make other rows that are fine: a rule that is too strict refuses one of them. */
export const FINE: Readonly<Record<string, readonly Row[]>> = {
  wallets: [
    { status: 'closed' },
    { last_seq: 1, last_entry_at: AT, balance: -5 },
    { overdraft_limit: '9007199254740991' },
  ],
  entries: [
    ...[later, { ...ofJob, type: 'charge', amount: 0 }, { ...ofJob, type: 'charge', amount: -1 }],
    ...[
      { ...ofJob, type: 'refund', amount: 0 },
      { ...ofJob, type: 'reclaim', amount: -1 },
    ],
    ...[
      { ...ofJob, type: 'settle', amount: 1 },
      { ...ofJob, type: 'settle', amount: -1 },
    ],
    ...[
      { type: 'adjust', amount: -1, balance: -1 },
      { ...later, type: 'clawback', amount: -1 },
    ],
    ...[
      { ...later, type: 'expire', amount: -1, key: null },
      { ...later, type: 'restore', amount: 1, key: null },
    ],
  ],
  queues: [{ refund_on: 'failure', backoff_max_ms: YEAR_MS, retry_after_max_ms: YEAR_MS, lease_ms: 86_400_000 }],
  jobs: [
    ...[queued, waiting, { ...waiting, queue: null, deadline_at: null }, { ...waiting, queue: null }, succeeded],
    ...[
      { ...succeeded, refunded_at: AT, reclaimed_at: AT },
      { ...succeeded, settled_at: AT, final_price: 0 },
    ],
    ...[canceled, { ...canceled, settled_at: AT, final_price: 0 }, dead, { ...dead, state: 'discarded' }, failed],
    ...[
      { refunded_at: AT, failures: 1, verdict: 'presumed' },
      { verdict: 'definitive', priority: 9, refund_on: 'final' },
    ],
    { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' },
  ],
  attempts: [
    ...['failed', 'lapsed', 'confirmed', 'rejected'].map((ended_as) => ({ ended_as, verdict: 'presumed' })),
    ...['superseded', 'canceled', 'succeeded'].map((ended_as) => ({ ended_as })),
    { ended_as: 'failed', verdict: 'definitive', attempt: 0 },
  ],
  api_keys: [
    { scopes: ['viewer'], customer_id: 'c' },
    { scopes: ['app', 'worker', 'viewer', 'support', 'operator', 'admin'] },
  ],
  grants: [{ priority: 0, expires_at: null }, { priority: 9 }],
  epochs: [{ number: 32767 }],
  ...capacity.FINE,
  ...events.FINE,
  ...probes.FINE,
  ...subscriptions.FINE,
  ...windows.FINE,
};

/** For each CHECK the changes that break it. Of what has several conditions, each is broken alone. */
export const BROKEN: Readonly<Record<string, readonly Row[]>> = {
  wallets_status: [{ status: 'open' }],
  wallets_balance: [BIG, `-${BIG}`].map((balance) => ({ balance, last_seq: 1, last_entry_at: AT })),
  wallets_overdraft_limit: [{ overdraft_limit: -1 }, { overdraft_limit: BIG }],
  wallets_last_seq: [{ last_seq: -1 }],
  wallets_untouched: [{ balance: 1 }, { last_entry_at: AT }],
  grants_priority: [{ priority: -1 }, { priority: 10 }],
  grants_terms: [{ expires_at: null }],
  grant_entries_of_seq: [{ of_seq: 2 }],
  wallets_touched: [{ last_seq: 1 }],
  entries_seq: [{ seq: 0 }],
  entries_type: [{ type: 'gift' }],
  entries_amount: [
    { ...later, amount: BIG },
    { ...later, type: 'adjust', amount: `-${BIG}` },
  ],
  entries_balance: [
    { ...later, balance: BIG },
    { ...later, balance: `-${BIG}` },
  ],
  entries_first: [{ balance: 6 }],
  entries_sign: [
    ...[
      { ...later, amount: 0 },
      { ...ofJob, type: 'charge', amount: 1 },
      { ...ofJob, type: 'refund', amount: -1 },
    ],
    ...[
      { ...ofJob, type: 'reclaim', amount: 1 },
      { ...later, type: 'adjust', amount: 0 },
    ],
    ...[
      { ...later, type: 'clawback', amount: 0 },
      { ...later, type: 'expire', amount: 0 },
    ],
    { ...later, type: 'restore', amount: 0 },
  ],
  entries_of_job: [
    ...['charge', 'refund', 'reclaim', 'settle'].map((type) => ({ ...ofJob, type, amount: 0, job_id: null })),
    { ...ofJob, type: 'settle', key: 'k' },
  ],
  entries_with_key: [
    ...[
      { ...later, key: null },
      { ...later, type: 'adjust', key: null },
    ],
    { ...later, type: 'clawback', amount: -1, key: null },
  ],
  queues_refund_on: [{ refund_on: 'never' }],
  queues_backoff: [{ backoff_base_ms: 1 }, { backoff_base_ms: -1 }, { backoff_max_ms: YEAR_MS + 1 }],
  queues_retry_after: [{ retry_after_max_ms: -1 }, { retry_after_max_ms: YEAR_MS + 1 }],
  queues_max_failures: [{ max_failures: 0 }, { max_failures: 1_000_001 }],
  queues_max_releases: [{ max_releases: -1 }, { max_releases: 1_000_001 }],
  queues_lease: [{ lease_ms: 99 }, { lease_ms: 86_400_001 }],
  queues_max_upstream_errors: [{ max_upstream_errors: -1 }, { max_upstream_errors: 1_000_001 }],
  jobs_upstream_errors: [{ upstream_errors: -1 }],
  jobs_state: [{ state: 'lost', lease_until: null }],
  jobs_price: [{ price: -1 }, { price: BIG }],
  jobs_final_price: [-1, BIG].map((final_price) => ({ ...succeeded, settled_at: AT, final_price })),
  jobs_priority: [{ priority: -1 }, { priority: 10 }],
  jobs_refund_on: [{ refund_on: 'never' }],
  jobs_verdict: [{ verdict: 'perhaps' }],
  jobs_counters: [
    { failures: -1 },
    { max_failures: 9, failures: 2 },
    { releases: -1 },
    { ...succeeded, max_failures: 0 },
  ],
  jobs_reclaimed: [
    { ...succeeded, refunded_at: AT },
    { ...succeeded, reclaimed_at: AT },
    { reclaimed_at: AT, refunded_at: AT },
  ],
  jobs_canceled_not_succeeded: [],
  jobs_settled: [
    { ...succeeded, settled_at: AT },
    { ...succeeded, final_price: 1 },
    { settled_at: AT, final_price: 1 },
  ],
  jobs_succeeded: [
    { ...succeeded, succeeded_at: null, succeeded_attempt: null },
    { succeeded_at: AT, succeeded_attempt: 1 },
    { ...succeeded, succeeded_attempt: null },
    { succeeded_attempt: 1 },
  ],
  jobs_canceled: [{ canceled_at: AT }, { ...canceled, canceled_at: null }],
  jobs_ended_badly: [dead, { ...dead, state: 'discarded' }, canceled, failed].map((row) => ({
    ...row,
    refunded_at: null,
  })),
  jobs_dead: [{ dead_at: AT }, { ...dead, dead_at: null }, { ...dead, state: 'discarded', dead_at: null }],
  jobs_running: [{ lease_until: null }, { ...queued, lease_until: AT }],
  jobs_waiting: [{ ...waiting, deadline_at: null }, { deadline_at: AT }],
  jobs_failures: [{}, queued, waiting].map((row) => ({ ...row, failures: 1, max_failures: 1 })),
  jobs_queued: [{ not_before: AT }, { ...queued, not_before: null }],
  jobs_attempted: [{ attempt: 0 }, { ...waiting, attempt: 0 }],
  jobs_of_queue: [{ queue: null }, { ...failed, queue: 'q' }],
  jobs_traceparent: [
    ...['00-0-0-01', 'ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'].map((traceparent) => ({ traceparent })),
  ],
  attempts_attempt: [{ attempt: -1 }],
  attempts_ended_as: [{ ended_as: 'lost' }],
  attempts_verdict: [{ ended_as: 'failed' }, { verdict: 'presumed' }, { ended_as: 'failed', verdict: 'perhaps' }],
  api_keys_id: [{ id: '0123456789AB' }, { id: '0123456789a' }],
  api_keys_hash: [{ hash: '\\xab' }],
  api_keys_scopes: [{ scopes: [] }, { scopes: ['root'] }, { scopes: Array(7).fill('app') }],
  api_keys_of_customer: [{ customer_id: 'c' }],
  secrets_value: [{ value: '\\xab' }],
  epochs_number: [{ number: -1 }, { number: 32768 }],
  ...capacity.BROKEN,
  ...events.BROKEN,
  ...probes.BROKEN,
  ...subscriptions.BROKEN,
  ...windows.BROKEN,
};

/** For each key two changes of the row that is fine: both rows have the same key, and differ in all that is not in it. */
export const TWICE: Readonly<Record<string, readonly [Row, Row]>> = {
  wallets_pkey: [{}, { customer_id: 'other' }],
  entries_pkey: [{}, { key: 'other' }],
  entries_once_per_job: [
    { ...ofJob, type: 'charge', amount: -1 },
    { ...ofJob, seq: 3, type: 'charge', amount: -1 },
  ],
  entries_once_per_key: [{}, { ...later, type: 'adjust' }],
  notes_pkey: [{}, { note: 'other' }],
  grants_pkey: [{}, { priority: 1 }],
  grant_entries_pkey: [{}, { of_seq: 0 }],
  queues_pkey: [{}, { paused: true }],
  jobs_pkey: [{}, queued],
  attempts_pkey: [{}, { job_state: 'dead' }],
  lease_requests_pkey: [{}, { jobs: ['other'] }],
  api_keys_pkey: [{}, { name: 'other' }],
  secrets_pkey: [{}, { created_at: '2031-01-01T00:00:00Z' }],
  epochs_pkey: [{}, { id: 'other' }],
  migrations_pkey: [{}, { name: 'other' }],
  ...capacity.TWICE,
  ...events.TWICE,
  ...probes.TWICE,
  ...subscriptions.TWICE,
  ...windows.TWICE,
};
