// Work joined to capacity: jobs that are leased together with an upstream against jobs that are leased alone, one at a time.
import { open, type Recoup } from '../packages/recoup/src/index.ts';
import { testDatabase } from '../packages/recoup/src/testing.ts';
import { median } from './figures.ts';
import type { BenchServer } from './server.ts';

export interface JoinedFigures {
  /** Leases each second, one job each: alone, and with an upstream of a pool of ten. */
  lease_plain: number;
  lease_joined: number;
}

const CALLERS = 4;
const UPSTREAMS = 10;
const QUEUES = ['plain', 'joined'] as const;

async function prepare(recoup: Recoup, jobs: number): Promise<void> {
  await recoup.wallets.open({ wallet: 'bench', customer: 'bench' });
  for (let i = 0; i < UPSTREAMS; i++)
    await recoup.upstreams.register({ upstream: `u${i}`, pool: 'pool', provider: `p${i}`, maxConcurrency: 1_000_000 });
  await recoup.queues.configure('joined', { pool: 'pool' });
  for (const queue of QUEUES) {
    for (let first = 0; first < jobs; first += 500) {
      const ids = Array.from({ length: Math.min(500, jobs - first) }, (_, i) => `${queue}-${first + i}`);
      await recoup.jobs.submitMany(ids.map((job) => ({ wallet: 'bench', job, queue, price: 0 })));
    }
  }
}

/** So many leases of one job each, by callers who go on as soon as they are answered; gives the rate. */
async function leases(recoup: Recoup, queue: string, count: number): Promise<number> {
  let left = count;
  const started = performance.now();
  const caller = async () => {
    while (left-- > 0) {
      const [leased] = await recoup.jobs.lease({ queue, worker: 'bench', leaseMs: 600_000 });
      if (!leased || (queue === 'joined') !== (leased.upstream !== null)) throw new Error(`nothing leased in ${queue}`);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  return count / ((performance.now() - started) / 1000);
}

export async function joined(
  { url: serverUrl }: BenchServer,
  quick: boolean,
  say: (line: string) => void,
): Promise<JoinedFigures> {
  const [each, rounds] = quick ? [200, 3] : [1000, 10];
  await using db = await testDatabase(serverUrl);
  await using recoup = await open({ connection: db.url, sweep: false });
  await prepare(recoup, each * (rounds + 1));
  await db.query('vacuum (analyze) recoup.jobs, recoup.upstreams, recoup.upstream_leases');
  const rates = { plain: [] as number[], joined: [] as number[] };
  for (let round = 0; round < rounds + 1; round++) {
    for (const queue of QUEUES) {
      const rate = await leases(recoup, queue, each);
      // The first ones warm up.
      if (round > 0) rates[queue].push(rate);
    }
    // Given back, as by their reports: what is measured is the lease, not how many are out.
    await db.query('delete from recoup.upstream_leases');
  }
  const [lease_plain, lease_joined] = [median(rates.plain), median(rates.joined)].map(Math.round) as [number, number];
  say(`  lease: ${lease_plain}/s of a job alone, ${lease_joined}/s with an upstream of ${UPSTREAMS}`);
  return { lease_plain, lease_joined };
}
