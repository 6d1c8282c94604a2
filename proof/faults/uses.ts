// What the workers of a run use of a pool of upstreams, under the same faults; and its audit: each use that was acknowledged is booked, no slot is kept.
import type { Recoup } from '../../packages/recoup/src/index.ts';
import { type Finding, finding } from './audit.ts';
import type { Postgres } from './postgres.ts';

const POOL = 'accounts';
const UPSTREAMS = ['accounts/1', 'accounts/2', 'accounts/3'];
const SLOTS = 6;
const LEASE_MS = 2_000;

/** Three upstreams of a few slots, each with a limit that nobody fills: its sums say what was booked. */
export async function openPool(recoup: Recoup): Promise<void> {
  for (const upstream of UPSTREAMS) {
    await recoup.upstreams.register({ upstream, pool: POOL, provider: 'openai', maxConcurrency: SLOTS });
    const limit = { limit: upstream, upstream, unit: 'requests', amount: 1_000_000_000 } as const;
    await recoup.upstreams.limits.set({ ...limit, kind: 'rolling', lengthMs: 86_400_000 });
  }
}

/** One use around one attempt. What the pool does is not what the job is about: nothing of it may hold the job up. */
export async function using<T>(recoup: Recoup, lease: string, attempt: () => Promise<T>): Promise<T> {
  const { upstream } = await recoup.upstreams
    .select({ pool: POOL, lease, leaseMs: LEASE_MS })
    .catch(() => ({ upstream: null }));
  if (upstream === null) return attempt();
  try {
    const result = await attempt();
    await report(recoup, upstream, lease, 200);
    return result;
  } catch (error) {
    await report(recoup, upstream, lease, error instanceof Error && error.message === 'no answer' ? 503 : 400);
    throw error;
  }
}

async function report(recoup: Recoup, upstream: string, lease: string, status: number): Promise<void> {
  const answer = { status, headers: { 'retry-after': '1' } };
  const said = { upstream, lease, key: lease, use: { requests: 1 }, answer };
  const heard = await recoup.upstreams.report(said).catch(() => undefined);
  if (heard) console.log(`used ${upstream} ${lease}`);
}

export interface Uses {
  /** Uses that a worker knows to be booked. */
  acknowledged: number;
  /** Blocks that came and went, all of them. */
  blocks: number;
  lost: Finding;
  /** Upstreams with more slots out than they have, or for longer than any was leased for. */
  kept: Finding;
}

/** `lines`: what the workers wrote. Once every job has ended. */
export async function auditUses(postgres: Postgres, lines: readonly string[]): Promise<Uses> {
  const acknowledged = [...new Set(lines.flatMap((line) => /^used (.*)$/.exec(line)?.[1] ?? []))];
  const booked = await postgres.query(
    `select limit_id || ' ' || substr(key, 5) as use from recoup.uses where key like 'key:%'`,
  );
  const known = new Set(booked.map(({ use }) => String(use)));
  const kept = await postgres.query(
    `select upstream_id || ' has ' || count(*) || ' slots out, until ' || max(lease_until) as kept from recoup.upstream_leases
     where lease_until > recoup.clock() group by upstream_id
     having count(*) > $1 or max(lease_until) > recoup.clock() + $2 * interval '1 millisecond'`,
    [SLOTS, LEASE_MS],
  );
  const [blocks] = await postgres.query('select count(*)::int as count from recoup.blocks');
  return {
    acknowledged: acknowledged.length,
    blocks: Number(blocks!.count),
    lost: finding(acknowledged.filter((use) => !known.has(use))),
    kept: finding(kept.map((row) => String(row.kept))),
  };
}
