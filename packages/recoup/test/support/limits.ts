// Limits for tests: an upstream with one, used, looked at.
import type { Recoup, SetLimit } from '../../src/index.ts';
import { poolOf } from './pools.ts';
import { newId, type Stage } from './stage.ts';

/** A limit of any kind, without whose it is. */
export type Of = Omit<SetLimit, 'limit' | 'unit' | 'amount' | 'upstream'>;
export const daily: Of = { kind: 'daily', zone: 'UTC' };

/** An upstream of its own with one limit of `requests`. */
export async function limited(s: Stage, amount: number, of: Of = daily) {
  const { pool, names } = await poolOf(s, 1);
  const [upstream, limit] = [names[0]!, newId('limit')];
  await s.recoup.upstreams.limits.set({ limit, upstream, unit: 'requests', amount, ...of });
  return { pool, upstream, limit };
}

/** Books so many requests, under a key of their own; how it was booked. */
export async function book(s: Stage, upstream: string, requests = 1, recoup: Pick<Recoup, 'upstreams'> = s.recoup) {
  const { use } = await recoup.upstreams.report({ upstream, success: true, key: newId('use'), use: { requests } });
  return use;
}

export const look = async (s: Stage, limit: string) => (await s.recoup.upstreams.limits.list({ limit }))[0]!;
export const used = async (s: Stage, limit: string) => (await look(s, limit)).used;

/** The windows of a limit in words, oldest first: when each began and ended, what was used in it, what began it. */
export const windows = async (s: Stage, limit: string) =>
  (await s.recoup.upstreams.limits.windows(limit))
    .map(({ start, end, used: n, begunBy }) => `${start.toISOString()} ${end.toISOString()} ${n} ${begunBy}`)
    .reverse();
