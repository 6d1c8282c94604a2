// verify: replays the ledger and holds every promise against it; names the wallet and the first wrong entry.

import { alertChecks } from './alerts/checks.ts';
import { behind, lastPosition, OPEN_EPOCH, positionAbove } from './db/epochs.ts';
import { asRefusal } from './db/failures.ts';
import { migrations } from './db/migrate.ts';
import type { Pools } from './db/pool.ts';
import { inSchema } from './db/schema.ts';
import { inboxChecks } from './inbox/checks.ts';
import { onlyFields, optionalInteger } from './input.ts';
import { paymentChecks } from './payments/checks.ts';
import { probeChecks } from './probes/checks.ts';
import { subscriptionChecks } from './subscriptions/checks.ts';
import { upstreamChecks } from './upstreams/checks.ts';
import { quotaCheck } from './upstreams/quota.ts';
import { creditChecks } from './wallets/checks.ts';
import { webhookChecks } from './webhooks/checks.ts';
import { windowChecks } from './windows/verify.ts';

/** One thing that does not add up. */
export interface Problem {
  check: string;
  wallet: string | null;
  /** The first wrong entry of the wallet, where the problem is one of entries. */
  seq: number | null;
  job: string | null;
  detail: string;
}

export interface Verified {
  ok: boolean;
  problems: Problem[];
  /** What was looked at. */
  wallets: number;
  entries: number;
  jobs: number;
  sumOfEntries: number;
  sumOfBalances: number;
  ms: number;
}

export interface VerifyOptions {
  /** At most this many problems per check; 20 unless set. */
  limit?: number;
  /** Accept a clock that a test has replaced. */
  testClock?: boolean;
  onProgress?: (check: string, done: number, of: number) => void;
}

interface Check {
  name: string;
  /** The promise in one sentence, for the docs. */
  promise: string;
  /** Rows (wallet, seq, job, detail) of what breaks it; $1 is the limit. */
  sql: string;
}

/** The checks. Each is one pass; the same texts serve tests, the command line, the health page and the metric. */
export const checks: readonly Check[] = [
  {
    name: 'entries.sequence',
    promise: 'Sequence numbers of a wallet run 1, 2, 3 … without a gap; running balances add up; instants never fall.',
    sql: `
select distinct on (wallet_id) wallet_id as wallet, seq, job_id as job,
  case when seq <> prev_seq + 1 then 'expected seq ' || (prev_seq + 1)
       when balance <> prev_balance + amount then 'balance is ' || balance || ', ' || prev_balance || ' ' || amount || ' makes ' || (prev_balance + amount)
       else 'created_at falls' end as detail
from (
  select e.*, coalesce(lag(seq) over w, 0) as prev_seq, coalesce(lag(balance) over w, 0) as prev_balance, lag(created_at) over w as prev_at
  from recoup.entries e window w as (partition by wallet_id order by seq)) x
where seq <> prev_seq + 1 or balance <> prev_balance + amount or created_at < prev_at
order by wallet_id, seq limit $1`,
  },
  {
    name: 'wallets.last_entry',
    promise: 'A wallet shows the balance, number and instant of its last entry.',
    sql: `
select coalesce(w.id, e.wallet_id) as wallet, coalesce(e.seq, w.last_seq) as seq, e.job_id as job,
  case when w.id is null then 'entries of a wallet that is not there'
       when e.wallet_id is null then 'the wallet counts ' || w.last_seq || ' entries with balance ' || w.balance || ', the ledger has none'
       else 'the wallet says seq ' || w.last_seq || ' and balance ' || w.balance || ', the ledger seq ' || e.seq || ' and balance ' || e.balance end as detail
from recoup.wallets w
full join (select distinct on (wallet_id) wallet_id, seq, balance, created_at, job_id from recoup.entries order by wallet_id, seq desc) e
  on e.wallet_id = w.id
where w.id is null or (e.wallet_id is null and (w.last_seq <> 0 or w.balance <> 0))
  or e.seq <> w.last_seq or e.balance <> w.balance or e.created_at <> w.last_entry_at
order by 1 limit $1`,
  },
  {
    name: 'jobs.entries',
    promise:
      'The flags of a job and its entries say the same, and what it took in the end is nothing, its price, or its final price.',
    sql: `
select coalesce(j.wallet_id, e.wallet_id) as wallet, e.first_seq as seq, coalesce(j.id, e.job_id) as job,
  case when e.job_id is null then 'a job without a charge'
       when e.charges = 0 then 'entries of a job without its charge'
       when j.id is null then 'a pruned job whose entries do not add up'
       when e.charge <> -j.price then 'charged ' || -e.charge || ', the price is ' || j.price
       when (e.refunds = 1) <> (j.refunded_at is not null) then 'refunded_at and the refund entry disagree'
       when (e.reclaims = 1) <> (j.reclaimed_at is not null) then 'reclaimed_at and the reclaim entry disagree'
       when (e.settles = 1) <> (j.settled_at is not null) then 'settled_at and the settle entry disagree'
       else 'it took ' || -e.net || ', which is neither nothing, nor its price, nor its final price' end as detail
from recoup.jobs j
full join (
  select wallet_id, job_id, min(seq) as first_seq, count(*) filter (where type = 'charge') as charges,
    count(*) filter (where type = 'refund') as refunds, count(*) filter (where type = 'reclaim') as reclaims,
    count(*) filter (where type = 'settle') as settles,
    sum(amount) filter (where type = 'charge') as charge, coalesce(sum(amount) filter (where type = 'refund'), 0) as refund,
    coalesce(sum(amount) filter (where type = 'reclaim'), 0) as reclaim, sum(amount) as net
  from recoup.entries where type in ('charge', 'refund', 'reclaim', 'settle') group by wallet_id, job_id) e
  on e.wallet_id = j.wallet_id and e.job_id = j.id
where e.job_id is null or e.charges <> 1 or e.refunds > 1 or e.reclaims > e.refunds or e.settles > 1
  or (e.refunds = 1 and e.refund <> -e.charge) or (e.reclaims = 1 and e.reclaim <> e.charge)
  or (j.id is not null and (e.charge <> -j.price or (e.refunds = 1) <> (j.refunded_at is not null)
    or (e.reclaims = 1) <> (j.reclaimed_at is not null) or (e.settles = 1) <> (j.settled_at is not null)
    or e.net <> case when j.settled_at is not null then -j.final_price
                     when j.succeeded_at is not null or j.refunded_at is null then -j.price else 0 end))
order by 1, 2 limit $1`,
  },
  {
    name: 'jobs.attempts',
    promise: 'Every attempt that is not running has one end, and no end belongs to an attempt that never was.',
    sql: `
select j.wallet_id as wallet, null::bigint as seq, j.id as job,
  'attempt ' || j.attempt || ' in state ' || j.state || ' has ' || coalesce(a.ended, 0) || ' ended attempts' as detail
from recoup.jobs j
left join (select wallet_id, job_id, count(distinct attempt) as ended from recoup.attempts group by wallet_id, job_id) a
  on a.wallet_id = j.wallet_id and a.job_id = j.id
where coalesce(a.ended, 0) < j.attempt - (j.state in ('running', 'waiting'))::int
   or coalesce(a.ended, 0) > j.attempt + (coalesce(j.succeeded_attempt, 1) not between 1 and j.attempt)::int
order by 1, 3 limit $1`,
  },
  {
    name: 'jobs.refunds_due',
    promise: 'A job that failed and is to be refunded at its first failure has been refunded.',
    sql: `
select wallet_id as wallet, null::bigint as seq, id as job, 'failed in attempt ' || failed_attempt || ' and was not refunded' as detail
from recoup.jobs where failed_attempt is not null and refund_on = 'failure' and refunded_at is null
order by 1, 3 limit $1`,
  },
  {
    name: 'feed.position',
    promise:
      'No entry, end of an attempt or event of a block or alert carries a transaction id that the server has not reached: the feed moves.',
    sql: `
select null::text as wallet, null::bigint as seq, null::text as job,
  case when ${lastPosition} >= ${positionAbove('e.number')}
    then 'the feed stands still before a row that no epoch gave its position and none can pass (feed.epoch names it): its position has to be corrected'
    else 'rows of another cluster are ahead of this server: run ${OPEN_EPOCH}' end as detail
from (select max(number) as number from recoup.epochs) e
where ${behind('e.number')} limit $1`,
  },
  {
    name: 'feed.epoch',
    promise:
      'No entry, end of an attempt or event of a block or alert stands above the newest epoch: no epoch gave such a position.',
    sql: `
select x.* from (select ${positionAbove('max(number)')} as above from recoup.epochs) n cross join lateral (
  (select wallet_id as wallet, seq, job_id as job, 'its position in the feed is ' || tx || ', which no epoch gave' as detail
   from recoup.entries where tx >= n.above order by tx limit $1)
  union all
  (select wallet_id, null, job_id, 'the end of attempt ' || attempt || ' has the position ' || tx || ', which no epoch gave'
   from recoup.attempts where tx >= n.above order by tx limit $1)
  union all
  (select null, null, null, 'event ' || generation || ' of block ' || block_id || ' has the position ' || tx || ', which no epoch gave'
   from recoup.block_events where tx >= n.above order by tx limit $1)
  union all
  (select null, null, null, 'an event of the alert ' || kind || ' of ' || subject || ' has the position ' || tx || ', which no epoch gave'
   from recoup.alert_events where tx >= n.above order by tx limit $1)) x
order by 1, 2, 4 limit $1`,
  },
  ...upstreamChecks,
  ...probeChecks,
  ...creditChecks,
  ...subscriptionChecks,
  ...paymentChecks,
  ...inboxChecks,
  quotaCheck,
  ...windowChecks,
  ...webhookChecks,
  ...alertChecks,
];

/** The row that holds the settings of every queue without its own: without it no job can be submitted. */
const DEFAULTS = `select 'queues: the settings of all queues (*) are missing' as name
where not exists (select from recoup.queues where id = '*')`;

/** Names of the schema's guards, read from the migrations: what must be there, valid and switched on. */
async function guards(): Promise<{ constraints: string[]; uniques: string[]; triggers: string[] }> {
  const sql = (await migrations()).map((migration) => migration.sql).join('\n');
  const names = (pattern: RegExp) => [...sql.matchAll(pattern)].map((match) => match[1]!);
  return {
    constraints: names(/\bconstraint (\w+) (?:check|primary key)/gm),
    uniques: names(/^create unique index (\w+)/gm),
    triggers: names(/^create trigger (\w+)/gm),
  };
}

const MISSING = `
select name from unnest($2::text[]) name where not exists (
  select from pg_constraint c join pg_namespace n on n.oid = c.connamespace where n.nspname = $1 and c.conname = name and c.convalidated)
union all
select name from unnest($3::text[]) name where not exists (
  select from pg_index i join pg_class c on c.oid = i.indexrelid join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = $1 and c.relname = name and i.indisunique and i.indisvalid)
union all
select name from unnest($4::text[]) name where not exists (
  select from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = $1 and t.tgname = name and t.tgenabled = 'A')
union all
select 'clock() is not now()' where not $5 and not exists (
  select from pg_proc p join pg_namespace n on n.oid = p.pronamespace
  where n.nspname = $1 and p.proname = 'clock' and btrim(p.prosrc) = 'select now()')`;

const TOTALS = `
select (select count(*) from recoup.wallets) as wallets, (select count(*) from recoup.entries) as entries,
  (select count(*) from recoup.jobs) as jobs, coalesce((select sum(amount) from recoup.entries), 0) as sum_of_entries,
  coalesce((select sum(balance) from recoup.wallets), 0) as sum_of_balances`;

/** Runs every check on one snapshot, so that what is being written meanwhile does not matter. */
export async function verify(pools: Pools, options: VerifyOptions = {}): Promise<Verified> {
  const started = performance.now();
  onlyFields('verify', options, ['limit', 'testClock', 'onProgress']);
  const limit = optionalInteger('limit', options.limit, 1, 10_000) ?? 20;
  const { schema } = pools;
  try {
    return await pools.snapshot(async (client) => {
      const problems: Problem[] = [];
      const of = checks.length + 1;
      for (const [index, check] of checks.entries()) {
        options.onProgress?.(check.name, index, of);
        const { rows } = await client.query(inSchema(check.sql, schema), [limit]);
        for (const row of rows) problems.push(problem(check.name, row));
      }
      options.onProgress?.('schema.guards', of - 1, of);
      const expected = await guards();
      const values = [schema, expected.constraints, expected.uniques, expected.triggers, options.testClock ?? false];
      const missing = (await client.query(MISSING, values)).rows.map(
        (row) => `${row.name}: missing, invalid or switched off`,
      );
      const defaults = (await client.query(inSchema(DEFAULTS, schema))).rows.map((row) => String(row.name));
      for (const detail of [...missing, ...defaults]) {
        problems.push({ check: 'schema.guards', wallet: null, seq: null, job: null, detail });
      }
      const totals = (await client.query(inSchema(TOTALS, schema))).rows[0];
      options.onProgress?.('done', of, of);
      return {
        ok: problems.length === 0,
        problems,
        wallets: Number(totals.wallets),
        entries: Number(totals.entries),
        jobs: Number(totals.jobs),
        sumOfEntries: Number(totals.sum_of_entries),
        sumOfBalances: Number(totals.sum_of_balances),
        ms: Math.round(performance.now() - started),
      };
    });
  } catch (error) {
    throw asRefusal(error, false);
  }
}

function problem(check: string, row: Record<string, unknown>): Problem {
  return {
    check,
    wallet: row.wallet as string | null,
    seq: row.seq === null || row.seq === undefined ? null : Number(row.seq),
    job: (row.job as string | null) ?? null,
    detail: String(row.detail),
  };
}
