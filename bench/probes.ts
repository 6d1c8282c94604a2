// Probes: how long from the instant at which a block is due to a caller who gets the upstream, on five replicas that are idle otherwise.
import { setTimeout as sleep } from 'node:timers/promises';
import { open, type Recoup } from '../packages/recoup/src/index.ts';
import { testDatabase } from '../packages/recoup/src/testing.ts';
import { median, quantile } from './figures.ts';
import type { BenchServer } from './server.ts';

export interface ProbeFigures {
  /** From due to usable: with the probe of a pool that answers at once, in ms. */
  due_to_usable_p50_ms: number;
  due_to_usable_p99_ms: number;
  /** Blocks that were timed, and questions that were asked about them: one each. */
  times: number;
  asked: number;
}

const REPLICAS = 5;
/** Blocks that are waited for side by side, each in a pool of its own. */
const LANES = 4;
/** Blocks last so long: some shorter than the replicas sleep, some longer. */
const SHORTEST_MS = 150;
const LONGEST_MS = 3000;

export async function probes(
  { url: serverUrl }: BenchServer,
  quick: boolean,
  say: (line: string) => void,
): Promise<ProbeFigures> {
  const times = quick ? 40 : 400;
  await using db = await testDatabase(serverUrl);
  const pools = Array.from({ length: LANES }, (_, lane) => `pool-${lane}`);
  let asked = 0;
  const prober = () => {
    asked += 1;
    return 'yes' as const;
  };
  const probers = Object.fromEntries(pools.map((pool) => [pool, prober]));
  const replicas: Recoup[] = [];
  try {
    for (let i = 0; i < REPLICAS; i++)
      replicas.push(await open({ connection: db.url, probers, maxConnections: 5, applicationName: `replica-${i}` }));
    await using caller = await open({ connection: db.url, sweep: false });
    for (const pool of pools) await caller.probes.set({ pool });
    await sleep(500);
    const late: number[] = [];
    const lane = async (pool: string) => {
      for (let i = 0; i < times / LANES; i++)
        late.push(await one(replicas[i % REPLICAS]!, caller, pool, `${pool}/${i}`));
    };
    await Promise.all(pools.map(lane));
    const figures = {
      due_to_usable_p50_ms: Number(median(late).toFixed(1)),
      due_to_usable_p99_ms: Number(quantile(late, 0.99).toFixed(1)),
    };
    say(
      `  from due to usable: p50 ${figures.due_to_usable_p50_ms} ms, p99 ${figures.due_to_usable_p99_ms} ms; ${late.length} blocks, ${asked} questions`,
    );
    return { ...figures, times: late.length, asked };
  } finally {
    for (const replica of replicas) await replica.close();
  }
}

/** Blocks an upstream through a replica, and asks for it as a caller would until it is given; how long after it was due, by one machine's clock. */
async function one(replica: Recoup, caller: Recoup, pool: string, upstream: string): Promise<number> {
  await caller.upstreams.register({ upstream, pool, provider: 'provider' });
  const forMs = Math.round(SHORTEST_MS + Math.random() * (LONGEST_MS - SHORTEST_MS));
  const block = { kind: 'rate_limited', policy: 'auto', source: 'retry_after', forMs } as const;
  const { until } = await replica.upstreams.report({ upstream, success: false, block });
  await sleep(until!.getTime() - Date.now() - 20);
  for (;;) {
    const { outcome, lease } = await caller.upstreams.select({ pool });
    const now = Date.now();
    if (outcome === 'selected') {
      await caller.upstreams.release(lease!);
      await caller.upstreams.change(upstream, { status: 'retired' });
      return now - until!.getTime();
    }
    await sleep(2);
  }
}
