// Queues on pools for tests, and what a provider answers.
import type { LeasedJob, ProviderAnswer, Recoup, Register } from '../../src/index.ts';
import { times } from './look.ts';
import { poolOf } from './pools.ts';
import { newId, type Stage } from './stage.ts';

export const answers = {
  fine: { status: 200 },
  limited: { status: 429, headers: { 'retry-after': '30' }, body: { error: { code: 'rate_limit_exceeded' } } },
  revoked: { status: 401, body: { error: { code: 'invalid_api_key' } } },
  tooLong: { status: 400, body: { error: { code: 'context_length_exceeded' } } },
  broken: { status: 500, body: { error: { message: 'oops' } } },
  lost: { error: 'ETIMEDOUT' },
} satisfies Record<string, ProviderAnswer>;

/** A queue on a pool of its own with so many upstreams, and so many jobs of 10 credits in it. */
export async function joined(s: Stage, upstreams: number, jobs: number, more: Partial<Register> = {}) {
  const { pool, names } = await poolOf(s, upstreams, more);
  const queue = newId('queue');
  await s.recoup.queues.configure(queue, { pool });
  const wallet = await s.wallet(jobs * 10);
  const ids = times(jobs, (i) => `job-${String(i).padStart(3, '0')}`);
  for (const job of ids) {
    await s.recoup.jobs.submit({ wallet, job, queue, price: 10 });
    // Where the clock stands, so that they have an order.
    await s.db.advance(1);
  }
  return { pool, names, queue, wallet, ids };
}

export const keyOf = ({ job }: LeasedJob) => ({ wallet: job.wallet, job: job.id, attempt: job.attempt });

/** One pair. */
export async function take(s: Stage, queue: string, recoup: Recoup = s.recoup): Promise<LeasedJob> {
  const [leased] = await recoup.jobs.lease({ queue });
  if (!leased) throw new Error(`nothing to lease in ${queue}`);
  return leased;
}

/** Slots of a pool that are out now, by upstream. */
export async function slotsOut(s: Stage, pool: string): Promise<Record<string, number>> {
  const sql = `select u.id, count(*)::int as n from recoup.upstream_leases l join recoup.upstreams u on u.id = l.upstream_id
    where u.pool = $1 and l.lease_until > recoup.clock() group by u.id order by u.id`;
  return Object.fromEntries((await s.db.query(sql, [pool])).map(({ id, n }) => [id, Number(n)]));
}
