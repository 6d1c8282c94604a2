// Estimates, scored: how often the time that was said held, how far off it was, and the range in which four of five came back.
import type { Runner } from '../db/runner.ts';
import { statement } from '../db/statement.ts';
import * as check from '../input.ts';

/** When something is expected back, as far as anybody knows. */
export interface Estimate {
  at: Date;
  /** Who says so: an order to wait, an announced reset, a guess of ours, a limit's next window. */
  source: 'retry_after' | 'reset_announced' | 'backoff' | 'operator' | 'window';
  /** Which of the estimates of its block this is; null of a limit. */
  revision: number | null;
  /** From when to when four of five that were estimated so came back; null: fewer than 20 are known, or it is sure. */
  range: { from: Date; to: Date } | null;
}

/** How good the estimates of one source were, for one class of trouble at one provider. Distances in ms: before 0 it was back earlier than said. */
export interface EstimateScore {
  /** Null: of groups and routes, which may have several. */
  provider: string | null;
  kind: string;
  source: string;
  /** Estimates whose end is known. */
  count: number;
  /** It was used with success when its time was up, or a second before or after. */
  held: number;
  /** It was back before the time that was said. */
  late: number;
  /** It was not back at the time that was said. */
  early: number;
  /** A tenth was earlier than this, half than `median`, nine tenths than `high`. */
  low: number;
  median: number;
  high: number;
  /** Blocks that ended by hand, by time or with their provider's: nobody knows when they would have. */
  unknown: number;
}

const columns = { since: 'timestamptz', count: 'int' } as const;

/** So many blocks are looked at, the newest ones. */
const BLOCKS = 10_000;

/**
 * Every estimate of a block (each opening, extension and re-opening said a time) against the instant at which it was back: the first success
 * that was heard after the last failure; where that came after its time was up, the time itself, since nobody asked before. A block that
 * opened again within five minutes was not back: its last estimate was early by that much at least.
 */
export const scoreEstimates = statement<typeof columns, EstimateScore>(
  'estimate.score',
  columns,
  () => `
blocks as materialized (
  select b.*, coalesce(case b.subject_type when 'provider' then b.subject_id
    when 'upstream' then (select provider from recoup.upstreams u where u.id = b.subject_id) end, '') as provider
  from input i
  cross join lateral (
    select * from recoup.blocks where closed_at is not null and policy <> 'manual' and closed_at >= i.since order by id desc limit i.count) b),
heard as materialized (
  select b.*, l.until as last_until,
    case when b.closed_as in ('success', 'snapshot', 'probe') then least(l.until, (
      select min(e.at) from recoup.block_events e where e.block_id = b.id and e.generation > l.generation and e.type <> 'probed')) end as back_at,
    coalesce(lead(b.opened_at) over (partition by b.subject_type, b.subject_id, b.scope, b.kind, b.source order by b.id), (
      select n.opened_at from recoup.blocks n where n.subject_type = b.subject_type and n.subject_id = b.subject_id and n.scope = b.scope
        and n.kind = b.kind and n.source = b.source and n.closed_at is null)) as next_at
  from blocks b
  cross join lateral (
    select until, generation from recoup.block_events e
    where e.block_id = b.id and e.type in ('opened', 'extended', 'reopened') order by generation desc limit 1) l),
scored as materialized (
  select h.provider, h.kind, h.source,
    extract(epoch from case when e.until = h.last_until and h.next_at > e.until and h.next_at <= h.closed_at + interval '5 minutes' then h.next_at
      else h.back_at end - e.until) * 1000 as off
  from heard h
  join recoup.block_events e on e.block_id = h.id and e.type in ('opened', 'extended', 'reopened') and e.until is not null
  where h.back_at is not null),
known as (
  select provider, kind, source, count(*) as count, count(*) filter (where abs(off) <= 1000) as held, count(*) filter (where off < -1000) as late,
    count(*) filter (where off > 1000) as early, percentile_cont(array[0.1, 0.5, 0.9]) within group (order by off) as at
  from scored group by provider, kind, source),
aside as (select provider, kind, source, count(*) as unknown from heard where back_at is null group by provider, kind, source)
select coalesce(json_agg(json_build_object('provider', nullif(provider, ''), 'kind', kind, 'source', source, 'count', coalesce(count, 0), 'held', coalesce(held, 0),
  'late', coalesce(late, 0), 'early', coalesce(early, 0), 'low', round(coalesce(at[1], 0)), 'median', round(coalesce(at[2], 0)), 'high', round(coalesce(at[3], 0)),
  'unknown', coalesce(unknown, 0)) order by provider, kind, source), '[]')::text as answer
from known full join aside using (provider, kind, source)`,
);

/** Fewer say nothing about the next one. */
const ENOUGH = 20;
const FRESH_MS = 600_000;

/** How far off estimates of this kind were, in ms. */
export type Spread = Pick<EstimateScore, 'low' | 'high'> | undefined;
export type SpreadOf = (provider: string, kind: string, source: string) => Spread;

/** What a handle knows of how good estimates were: read again every ten minutes, since it changes slowly and reads much. */
export class Estimates {
  readonly #reports: Runner;
  #readAt = Number.NEGATIVE_INFINITY;
  #scores = new Map<string, EstimateScore>();
  #reading: Promise<unknown> | undefined;

  constructor(reports: Runner) {
    this.#reports = reports;
  }

  async score(options: { since?: Date } = {}): Promise<EstimateScore[]> {
    check.onlyFields('estimates', options, ['since']);
    const since = check.instant('since', options.since);
    const scores = await this.#reports.read(scoreEstimates, [{ since: since ?? '-infinity', count: BLOCKS }]);
    if (since === null) this.#know(scores);
    return scores;
  }

  /** Nothing is known where it cannot be read just now: an estimate without its range is better than none. */
  async spreads(): Promise<SpreadOf> {
    if (performance.now() - this.#readAt > FRESH_MS) {
      this.#reading ??= this.score().catch(() => this.#know([...this.#scores.values()]));
      await this.#reading;
      this.#reading = undefined;
    }
    return (provider, kind, source) => {
      const score = this.#scores.get(keyOf(provider, kind, source));
      return score && score.count >= ENOUGH ? score : undefined;
    };
  }

  #know(scores: readonly EstimateScore[]): void {
    this.#readAt = performance.now();
    this.#scores = new Map(scores.map((one) => [keyOf(one.provider, one.kind, one.source), one]));
  }
}

const keyOf = (...parts: readonly (string | null)[]) => JSON.stringify(parts);
