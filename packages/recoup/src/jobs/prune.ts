// job.prune: jobs that ended long ago lose their row. Their entries stay, so their ids stay used.

import type { RawAnswer } from '../db/runner.ts';
import { statement } from '../db/statement.ts';
import * as check from '../input.ts';

const columns = { older_than_ms: 'bigint', count: 'int', state: 'text' } as const;

export interface Prune {
  olderThanMs: number;
  /** Only jobs that ended so; both unless set. */
  state?: (typeof STATES)[number];
  /** 1 to 10,000; 1,000 unless set. */
  count?: number;
  dryRun?: boolean;
}

const STATES = ['succeeded', 'canceled'] as const;

export function pruneInput(options: Prune) {
  check.onlyFields('prune', options, ['olderThanMs', 'state', 'count', 'dryRun']);
  return {
    older_than_ms: check.integer('olderThanMs', options.olderThanMs, 0, check.MAX_DURATION_MS),
    state: (options.state ?? null) === null ? null : check.oneOf('state', options.state, STATES),
    count: check.optionalInteger('count', options.count, 1, 10_000) ?? 1000,
    dryRun: check.flag('dryRun', options.dryRun, false),
  };
}

export interface PruneRow extends RawAnswer {
  pruned: number;
}

/** The rows that an age and a state mean, where `i` is the input. */
const old = `state in ('succeeded', 'canceled') and (i.state is null or state = i.state)
      and coalesce(succeeded_at, canceled_at) < recoup.clock() - i.older_than_ms * interval '1 millisecond'`;

/** Guard: succeeded or canceled before clock − older_than_ms. Dead, discarded and failed jobs are never pruned. */
export const pruneJobs = statement<typeof columns, PruneRow>(
  'job.prune',
  columns,
  () => `
pick as materialized (
  select j.wallet_id, j.id
  from input i
  cross join lateral (
    select wallet_id, id from recoup.jobs
    where ${old}
    order by coalesce(succeeded_at, canceled_at) limit i.count for update skip locked) j),
gone as (
  delete from recoup.jobs j using pick p
  where j.wallet_id = p.wallet_id and j.id = p.id and j.state in ('succeeded', 'canceled')
  returning j.wallet_id, j.id),
attempts_gone as (
  delete from recoup.attempts a using pick p where a.wallet_id = p.wallet_id and a.job_id = p.id)
select json_build_array(json_build_object('ord', 1, 'outcome', 'pruned', 'pruned', (select count(*) from gone)))::text as answer`,
);

/** How many there are in all: what repeated pruning would delete. */
export const countPrunable = statement<typeof columns, PruneRow>(
  'job.countPrunable',
  columns,
  () => `
found as (select count(*) as pruned from input i cross join lateral (select 1 from recoup.jobs where ${old}) j)
select json_build_array(json_build_object('ord', 1, 'outcome', 'counted', 'pruned', pruned))::text as answer from found`,
);
