// queue.configure: the settings of one queue, or of all queues that have none of their own (`*`).

import type { RawAnswer, Runner } from '../db/runner.ts';
import { statement } from '../db/statement.ts';
import { InvalidInput, Refusal } from '../errors.ts';
import * as check from '../input.ts';

/** How a queue behaves. Jobs copy `refundOn` and `maxFailures` at submit; the rest applies as it is when it is needed. */
export interface QueueSettings {
  /** When a failed job's price goes back: at its first failed attempt, or when it will not run again by itself. */
  refundOn: 'failure' | 'final';
  /** Back-off before the second run, doubled with each failure up to `backoffMaxMs`; the delay is half to all of it. */
  backoffBaseMs: number;
  backoffMaxMs: number;
  /** The longest that an upstream's Retry-After may postpone the next run. */
  retryAfterMaxMs: number;
  /** After this many failures a job is a dead letter. */
  maxFailures: number;
  /** How often a job may be given back unfinished. */
  maxReleases: number;
  /** A worker's right to an attempt, unless it asks for another or extends it. */
  leaseMs: number;
  /** Paused: nothing is leased; what runs goes on. */
  paused: boolean;
  /** The pool whose upstreams its jobs run on: each is leased together with one, or not at all. null: none. */
  pool: string | null;
  /**
   * How often a job may go back to its place because its upstream failed in a way that the job may have brought about (5xx, no answer); after
   * that such an answer is a failure.
   */
  maxUpstreamErrors: number;
}

const columns = {
  queue: 'text',
  refund_on: 'text',
  backoff_base_ms: 'bigint',
  backoff_max_ms: 'bigint',
  retry_after_max_ms: 'bigint',
  max_failures: 'int',
  max_releases: 'int',
  lease_ms: 'bigint',
  paused: 'boolean',
  pool: 'text',
  max_upstream_errors: 'int',
  no_pool: 'boolean',
} as const;
const SETTINGS = Object.keys(columns).slice(1, -1);
/** What is given of a setting, else what it is now. */
const given = (name: string, now: string) =>
  name === 'pool' ? `case when i.no_pool then null else coalesce(i.pool, ${now}) end` : `coalesce(i.${name}, ${now})`;

interface QueueRow extends RawAnswer {
  settings: Record<string, unknown>;
}

const settingsJson = (q: string) =>
  `json_build_object('refundOn', ${q}.refund_on, 'backoffBaseMs', ${q}.backoff_base_ms, 'backoffMaxMs', ${q}.backoff_max_ms,
  'retryAfterMaxMs', ${q}.retry_after_max_ms, 'maxFailures', ${q}.max_failures, 'maxReleases', ${q}.max_releases,
  'leaseMs', ${q}.lease_ms, 'paused', ${q}.paused, 'pool', ${q}.pool, 'maxUpstreamErrors', ${q}.max_upstream_errors)`;

/** What is not given stays as it is, or is taken from `*` where the queue has no row yet. */
export const configureQueue = statement<typeof columns, QueueRow>(
  'queue.configure',
  columns,
  () => `
won as (
  insert into recoup.queues as q (id, ${SETTINGS.join(', ')})
  select i.queue, ${SETTINGS.map((name) => given(name, `o.${name}`)).join(', ')}
  from input i
  cross join lateral (select * from recoup.queues where id = coalesce((select id from recoup.queues where id = i.queue), '*')) o
  on conflict (id) do update set ${SETTINGS.map((name) => `${name} = (select ${given(name, `q.${name}`)} from input i)`).join(', ')}
  returning q.*)
select json_build_array(json_build_object('ord', 1, 'outcome', 'configured', 'settings', (select ${settingsJson('w')} from won w)))::text as answer`,
);

const oneQueue = { queue: 'text' } as const;
const getQueue = statement<typeof oneQueue, { settings: Record<string, unknown> }>(
  'queue.get',
  oneQueue,
  () => `
found as (
  select q.* from input i
  cross join lateral (select * from recoup.queues where id = coalesce((select id from recoup.queues where id = i.queue), '*')) q)
select (select json_agg(json_build_object('settings', ${settingsJson('q')})) from found q)::text as answer`,
);

/** What waits in one queue, and how long the oldest has been due. */
export interface QueueDepth {
  queue: string;
  ready: number;
  later: number;
  running: number;
  waiting: number;
  dead: number;
  oldestReadyMs: number | null;
}

const none = { nothing: 'boolean' } as const;
const queueDepths = statement<typeof none, QueueDepth>(
  'queue.depths',
  none,
  () => `
counts as (
  select queue, count(*) filter (where state = 'queued' and not_before <= recoup.clock()) as ready,
    count(*) filter (where state = 'queued' and not_before > recoup.clock()) as later,
    count(*) filter (where state = 'running') as running, count(*) filter (where state = 'waiting') as waiting,
    count(*) filter (where state = 'dead') as dead,
    extract(epoch from recoup.clock() - min(not_before) filter (where state = 'queued' and not_before <= recoup.clock())) * 1000 as oldest
  from recoup.jobs where queue is not null and state in ('queued', 'running', 'waiting', 'dead') group by queue)
select coalesce(json_agg(json_build_object('queue', queue, 'ready', ready, 'later', later, 'running', running, 'waiting', waiting,
  'dead', dead, 'oldestReadyMs', floor(oldest)) order by queue), '[]')::text as answer
from counts`,
);

/** `spaced`: the queue has a back-off of its own already. */
function checkTogether(now: QueueSettings, given: Partial<QueueSettings>, spaced: boolean): void {
  if (now.backoffBaseMs > now.backoffMaxMs) {
    const rule = `must not exceed backoffMaxMs (${now.backoffMaxMs}); got ${now.backoffBaseMs}`;
    throw new InvalidInput('backoffBaseMs', rule);
  }
  const told = given.backoffBaseMs !== undefined || given.backoffMaxMs !== undefined;
  if (now.maxFailures === 1 && (spaced || told)) {
    const field = told ? 'backoffBaseMs' : 'maxFailures';
    throw new InvalidInput(
      field,
      'maxFailures 1 and a back-off of its own do not go together: one attempt never backs off',
    );
  }
}

/** Queues exist by being used; configuring one only gives it settings of its own. */
export class Queues {
  readonly #runner: Runner;
  readonly #reports: Runner;

  constructor(runner: Runner, reports: Runner) {
    this.#runner = runner;
    this.#reports = reports;
  }

  /** Sets what is given and leaves the rest. Refuses `invalid` where the settings do not fit together. */
  async configure(queue: string, settings: Partial<QueueSettings>): Promise<QueueSettings> {
    check.onlyFields('queue settings', settings, [
      'refundOn',
      'backoffBaseMs',
      'backoffMaxMs',
      'retryAfterMaxMs',
      'maxFailures',
      'maxReleases',
      'leaseMs',
      'paused',
      'pool',
      'maxUpstreamErrors',
    ]);
    const input = {
      queue: check.id('queue', queue),
      refund_on:
        settings.refundOn === undefined ? null : check.oneOf('refundOn', settings.refundOn, ['failure', 'final']),
      backoff_base_ms: check.duration('backoffBaseMs', settings.backoffBaseMs),
      backoff_max_ms: check.duration('backoffMaxMs', settings.backoffMaxMs),
      retry_after_max_ms: check.duration('retryAfterMaxMs', settings.retryAfterMaxMs),
      max_failures: check.optionalInteger('maxFailures', settings.maxFailures, 1, 1_000_000),
      max_releases: check.optionalInteger('maxReleases', settings.maxReleases, 0, 1_000_000),
      lease_ms: check.optionalInteger('leaseMs', settings.leaseMs, 100, 86_400_000),
      paused: settings.paused === undefined ? null : check.flag('paused', settings.paused, false),
      pool: check.optionalId('pool', settings.pool),
      max_upstream_errors: check.optionalInteger('maxUpstreamErrors', settings.maxUpstreamErrors, 0, 1_000_000),
      no_pool: settings.pool === null || null,
    };
    const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
    const [own, others] = [await this.get(queue), await this.get('*')];
    checkTogether(
      { ...own, ...given },
      given,
      own.backoffBaseMs !== others.backoffBaseMs || own.backoffMaxMs !== others.backoffMaxMs,
    );
    try {
      const [answer] = await this.#runner.read(configureQueue, [input]);
      this.#runner.observe('queue.configure', 'configured');
      return answer!.settings as unknown as QueueSettings;
    } catch (error) {
      // Two callers at once, each fitting what it read: the constraint has the last word.
      if ((error as { details?: { sqlstate?: string } }).details?.sqlstate !== '23514') throw error;
      throw new InvalidInput('queue settings', 'do not fit together with what another caller has set meanwhile');
    }
  }

  /** The settings in force for a queue: its own, or those of `*`. */
  async get(queue: string): Promise<QueueSettings> {
    const [row] = await this.#runner.read(getQueue, [{ queue: check.id('queue', queue) }]);
    if (!row) throw new Refusal('database_error', 'The settings of all queues (`*`) are missing.');
    return row.settings as unknown as QueueSettings;
  }

  /** What waits in each queue. Reads every job that has not ended: for people, not for loops. */
  async list(): Promise<QueueDepth[]> {
    return this.#reports.read(queueDepths, [{}]);
  }
}
