// job.redrive and job.discard: what a person does with a dead letter. Neither moves money.

import type { RawAnswer } from '../db/runner.ts';
import { statement } from '../db/statement.ts';
import { holdJobs, takeTurns, withoutJob } from './held.ts';

const columns = { wallet_id: 'text', id: 'text', n: 'int' } as const;

interface Move {
  guard: string;
  outcome: string;
  already: string;
  row: string;
  values: string;
  set: string;
  where: string;
}

const deadLetter = (move: Move) => (lock: string) =>
  `${holdJobs(lock, 'input')},
judged as materialized (select s.*, coalesce(${move.guard} and coalesce(n = attempt, true), false) as may from work s),
${takeTurns},
seen as materialized (
  select s.*, may and earlier = 0 as wins,
    case ${withoutJob}
      when canceled_at is not null then 'canceled'
      when succeeded_at is not null then 'succeeded'
      when earlier > 0 then 'again'
      when may then '${move.outcome}'
      when n <> attempt then 'stale'
      when state = '${move.already}' then 'duplicate'
      else 'not_dead'
    end as outcome
  from turn s),
won as (
  insert into recoup.jobs as j (wallet_id, id, queue, price, attempt, refunded_at, ${move.row})
  select wallet_id, id, queue, price, attempt, refunded_at, ${move.values} from seen where wins
  on conflict (wallet_id, id) do update set ${move.set}
  where j.${move.where}
  returning j.wallet_id, j.id)
select coalesce(json_agg(json_build_object('ord', ord, 'outcome', case when wins and w.id is null then 'again' else outcome end)), '[]')::text as answer
from seen s full join won w on w.wallet_id = s.wallet_id and w.id = s.id`;

/** Guard: dead or discarded. Queued at once; attempt numbers go on; a presumed failure stays known, so that `check` can ask. */
export const redriveJob = statement<typeof columns, RawAnswer>(
  'job.redrive',
  columns,
  deadLetter({
    guard: `state in ('dead', 'discarded')`,
    outcome: 'redriven',
    already: 'queued',
    row: 'state, failures, releases, not_before',
    values: `'queued', 0, 0, now`,
    set: `state = 'queued', failures = 0, releases = 0, not_before = excluded.not_before, dead_at = null`,
    where: `state in ('dead', 'discarded')`,
  }),
);

/** Guard: dead. Out of the dead letters; a late success still reclaims, only cancel closes that. */
export const discardJob = statement<typeof columns, RawAnswer>(
  'job.discard',
  columns,
  deadLetter({
    guard: `state = 'dead'`,
    outcome: 'discarded',
    already: 'discarded',
    row: 'state, dead_at',
    values: `'discarded', dead_at`,
    set: `state = 'discarded'`,
    where: `state = 'dead'`,
  }),
);
