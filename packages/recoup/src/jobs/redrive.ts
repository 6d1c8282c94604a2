// job.redrive and job.discard: what a person does with a dead letter. Neither moves money.

import type { RawAnswer } from '../db/runner.ts';
import { statement } from '../db/statement.ts';
import { answerMoved, asJudged, holdJobs, takeTurns, withoutJob } from './held.ts';

const columns = { wallet_id: 'text', id: 'text', n: 'int' } as const;

interface Move {
  guard: string;
  outcome: string;
  already: string;
  set: string;
}

const deadLetter = (move: Move) => (lock: string) =>
  `${holdJobs(lock, 'input')},
judged as (select s.*, coalesce(${move.guard} and coalesce(n = attempt, true), false) as may from work s),
${takeTurns()},
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
  update recoup.jobs j set ${move.set}${asJudged})${answerMoved({})}`;

/** Guard: dead or discarded. Queued at once; attempt numbers go on; a presumed failure stays known, so that `check` can ask. */
export const redriveJob = statement<typeof columns, RawAnswer>(
  'job.redrive',
  columns,
  deadLetter({
    guard: `state in ('dead', 'discarded')`,
    outcome: 'redriven',
    already: 'queued',
    set: `state = 'queued', failures = 0, releases = 0, upstream_errors = 0, not_before = s.now, dead_at = null`,
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
    set: `state = 'discarded'`,
  }),
);
