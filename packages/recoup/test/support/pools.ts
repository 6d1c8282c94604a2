// Pools of upstreams for tests: made, used, looked at.
import type { BlockFacts, Recoup } from '../../src/index.ts';
import { times } from './look.ts';
import { newId, type Stage } from './stage.ts';

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const soft: BlockFacts = { kind: 'rate_limited', policy: 'auto' };

/** A pool of its own with so many upstreams. */
export async function poolOf(s: Stage, count: number, more: object = {}) {
  const pool = newId('pool');
  const names = times(count, (i) => `${pool}/${i}`);
  await Promise.all(names.map((upstream) => s.recoup.upstreams.register({ upstream, pool, provider: pool, ...more })));
  return { pool, names };
}

export const use = async (s: Stage, pool: string, recoup: Recoup = s.recoup) => recoup.upstreams.select({ pool });

/** What keeps an upstream out now, check by check. */
export const failing = async (s: Stage, upstream: string, model?: string) => {
  const [one] = await s.recoup.upstreams.explain({ upstream, ...(model === undefined ? {} : { model }) });
  return one!.failing.map((check) => check.check);
};

/** What happened to the blocks of an upstream, in order. */
export const types = async (s: Stage, upstream: string) => (await blockEvents(s, upstream)).map(({ type }) => type);

/** The history of an upstream, without what was set of it. */
export const blockEvents = async (s: Stage, upstream: string) =>
  (await s.recoup.upstreams.history(upstream)).filter(({ block }) => block !== null);

export const ms = (date: Date | null) => date!.getTime();

export async function now(s: Stage): Promise<string> {
  const [row] = await s.db.query('select recoup.clock()::text as now');
  return String(row!.now);
}
