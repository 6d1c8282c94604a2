// job.submit: a job comes to be and its price is charged.

import type { RawAnswer } from '../db/runner.ts';
import { answerEach, statement } from '../db/statement.ts';
import { bookEntries, holdWallets, walletMoved, withoutWallet } from '../wallets/booking.ts';
import { chargeThere, jobThere, queueOf } from './held.ts';
import type { submitInput } from './inputs.ts';
import type { Job } from './job.ts';

export interface SubmitRow extends RawAnswer {
  seq: number | null;
  balance: number | null;
  overdraft_limit: number | null;
  at: string;
  not_before: string | null;
  max_failures: number | null;
  refund_on: 'failure' | 'final' | null;
}

const columns = {
  wallet_id: 'text',
  id: 'text',
  queue: 'text',
  price: 'bigint',
  priority: 'smallint',
  max_failures: 'int',
  delay_ms: 'bigint',
  not_before: 'timestamptz',
  deadline_ms: 'bigint',
  upstream_ref: 'text',
  labels: 'jsonb',
  payload: 'jsonb',
  payload_bytes: 'int',
  traceparent: 'text',
} as const;

/**
 * Guard: no such job, no charge entry of that id (it would be pruned), wallet active, and balance − price ≥ −overdraft.
 *
 * The price test works on running sums of the batch. Prices are not negative, so the inputs of a wallet that fit form a
 * prefix; `rest` is what that prefix leaves. An input behind it whose price exceeds `rest` is refused, as it would be
 * one by one: nothing in between can raise the balance. One that would still fit runs again without the refused ones. So
 * does one that would be refused and whose wallet moved before it was held: what moved it may have been this very job, submitted by a rival.
 * `expiry_due` reaches no caller: credit of the wallet has to be looked at first (see wallets/expire.ts), so that none is spent after its time.
 */
export const submitJob = statement<typeof columns, SubmitRow>(
  'job.submit',
  columns,
  (lock) => `${holdWallets(lock)},
judged as (
  select s.*, q.refund_on, coalesce(s.max_failures, q.max_failures) as failures_allowed,
    case
      when ${chargeThere} then case when ${jobThere} then 'duplicate' else 'pruned' end
      when not has_wallet then ${withoutWallet('no_wallet')}
      when row_number() over (partition by s.wallet_id, s.id order by s.ord) > 1 then 'again'
      when status <> 'active' then case when ${walletMoved} then 'again' else 'wallet_closed' end
      when next_expiry_at <= at then 'expiry_due'
    end as refused
  from held s
  cross join lateral (${queueOf('s.queue', 'refund_on, max_failures')}) q),
summed as (
  select s.*, balance + overdraft_limit as available,
    sum(price) filter (where refused is null) over (partition by wallet_id order by ord rows unbounded preceding) as total
  from judged s),
seen as materialized (
  select s.*, refused is null and total <= available as wins,
    available - coalesce(max(total) filter (where refused is null and total <= available) over (partition by wallet_id), 0) as rest
  from summed s),
won as (
  insert into recoup.jobs (wallet_id, id, queue, state, price, priority, refund_on, max_failures, attempt, not_before,
    deadline_at, upstream_ref, submitted_at, started_at, labels, payload, payload_bytes, traceparent)
  select wallet_id, id, queue, case when queue is null then 'waiting' else 'queued' end, price, coalesce(priority, 5),
    refund_on, failures_allowed, case when queue is null then 1 else 0 end,
    case when queue is not null then coalesce(not_before, now + coalesce(delay_ms, 0) * interval '1 millisecond') end,
    case when queue is null then now + deadline_ms * interval '1 millisecond' end,
    upstream_ref, at, case when queue is null then at end, labels, payload, coalesce(payload_bytes, 0), traceparent
  from seen where wins
  on conflict (wallet_id, id) do nothing
  returning wallet_id, id, not_before),
done as (
  select s.*, coalesce(s.wins and w.id is not null, false) as booked, s.id as job_id, null::text as key, null::text as actor,
    w.not_before as starts_at,
    'charge' as type1, -price as amount1, null::text as reason1, null::text as type2, null::bigint as amount2, null::text as reason2
  from seen s full join won w on w.wallet_id = s.wallet_id and w.id = s.id),
${bookEntries}${answerEach(
  'book s',
  `case when booked then 'charged' when refused is not null then refused when wins then 'again'
         when price > rest and not ${walletMoved} then 'insufficient_credits' else 'again' end`,
  {
    seq: 'seq',
    balance: 'balance_after',
    overdraft_limit: 'overdraft_limit',
    at: 'at',
    not_before: 'starts_at',
    max_failures: 'failures_allowed',
    refund_on: 'refund_on',
  },
)}`,
  // The one transition that comes in floods: more than one batch at once keeps both ends busy.
  { atOnce: 3 },
);

/** The job as submit just wrote it: known without reading it back. */
export function newJob(answer: SubmitRow, row: ReturnType<typeof submitInput>): Job {
  const at = new Date(answer.at);
  const external = row.queue === null;
  return {
    wallet: row.wallet_id,
    id: row.id,
    queue: row.queue,
    state: external ? 'waiting' : 'queued',
    price: row.price,
    finalPrice: null,
    priority: row.priority ?? 5,
    refundOn: answer.refund_on!,
    attempt: external ? 1 : 0,
    failures: 0,
    maxFailures: answer.max_failures!,
    releases: 0,
    verdict: null,
    reason: null,
    worker: null,
    upstream: null,
    upstreamRef: row.upstream_ref,
    labels: row.labels,
    traceparent: row.traceparent ?? null,
    succeededAttempt: null,
    submittedAt: at,
    startedAt: external ? at : null,
    notBefore: answer.not_before === null ? null : new Date(answer.not_before),
    leaseUntil: null,
    deadlineAt: row.deadline_ms === null ? null : new Date(at.getTime() + row.deadline_ms),
    deadAt: null,
    refundedAt: null,
    succeededAt: null,
    reclaimedAt: null,
    settledAt: null,
    canceledAt: null,
  };
}
