// job.hold: the job and its wallet held for a report of several statements, with the upstream that the attempt was leased with.

import type { RawAnswer } from '../db/runner.ts';
import { answerEach, statement } from '../db/statement.ts';
import { withoutJob } from './held.ts';
import { slotOf } from './slots.ts';

export interface HoldRow extends RawAnswer {
  queue: string | null;
  /** Of that attempt; null: it was leased without one. */
  upstream: string | null;
  provider: string | null;
  slot: string;
  /** What its slot was taken for; null where it is gone. */
  scopes: string[] | null;
}

const columns = { wallet_id: 'text', id: 'text', n: 'int' } as const;

/** Wallet, then job: what follows in the transaction takes the upstream behind them, as everybody does. */
export const holdJob = statement<typeof columns, HoldRow>(
  'job.hold',
  columns,
  (lock) => `
held as materialized (
  select i.*, j.*, ${slotOf('i', 'i.n')} as slot
  from input i
  left join lateral (select id as has_wallet from recoup.wallets where id = i.wallet_id for no key update ${lock}) w on true
  left join lateral (
    select true as has_job, queue, attempt, upstream_id from recoup.jobs
    where wallet_id = w.has_wallet and id = i.id for no key update ${lock}) j on true),
seen as materialized (
  select s.*, l.scopes, u.id as upstream, u.provider
  from held s
  left join lateral (select upstream_id, scopes from recoup.upstream_leases where id = s.slot) l on true
  left join lateral (
    select upstream_id from recoup.attempts a
    where a.wallet_id = s.wallet_id and a.job_id = s.id and a.attempt = s.n and a.upstream_id is not null limit 1) a on true
  left join lateral (
    select id, provider from recoup.upstreams
    where id = coalesce(l.upstream_id, case when s.attempt = s.n then s.upstream_id end, a.upstream_id)) u on true)${answerEach(
      'seen s',
      `case ${withoutJob} else 'held' end`,
      { queue: 'queue', upstream: 'upstream', provider: 'provider', slot: 'slot', scopes: 'to_json(scopes)' },
    )}`,
);
