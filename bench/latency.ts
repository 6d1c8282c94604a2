// Latencies: from submit to the handler's start on an idle worker, and one caller alone against one bare statement.
import { setTimeout as sleep } from 'node:timers/promises';
import { open, type Recoup } from '../packages/recoup/src/index.ts';
import { testDatabase } from '../packages/recoup/src/testing.ts';
import { median, quantile } from './figures.ts';
import { openWallets } from './lives.ts';
import { type Peers, withPeer } from './peers.ts';
import { SingleCalls } from './single-calls.ts';

export interface Latency {
  name: string;
  p50_ms: number;
  p99_ms: number;
  times: number;
}
export interface Latencies {
  pickup: Latency[];
  alone: Latency[];
}

/** The names the ratios are made of. */
export const OURS = 'Recoup';
export const BARE = 'bare statement';
const WALLETS = 100;

const latency = (name: string, all: readonly number[]): Latency => ({
  name,
  p50_ms: median(all),
  p99_ms: quantile(all, 0.99),
  times: all.length,
});

let counter = 0;
const submit = (recoup: Recoup, queue: string) => {
  const index = counter++;
  const payload = { prompt: 'a lighthouse at dusk', seconds: 5, index };
  return recoup.jobs.submit({ wallet: `wallet-${index % WALLETS}`, job: `job-${index}`, queue, price: 40, payload });
};

/** One job at a time on an idle worker; the worker is on `workers`, which may be another handle than the one that submits. */
async function pickup(recoup: Recoup, workers: Recoup, queue: string, times: number): Promise<number[]> {
  let began: (at: number) => void;
  const worker = workers.work(queue, async () => {
    began(performance.now());
    return { ok: true };
  });
  const all: number[] = [];
  for (let i = 0; i < times; i++) {
    // The last job's end is written meanwhile.
    await sleep(20 + Math.random() * 20);
    const start = new Promise<number>((resolve) => {
      began = resolve;
    });
    const submitted = performance.now();
    await submit(recoup, queue);
    all.push((await start) - submitted);
  }
  await sleep(50);
  await worker.stop();
  return all;
}

/** By turns, so that both meet the same machine; the first ones warm up. */
async function aloneAgainstBare(recoup: Recoup, bare: SingleCalls, times: number): Promise<Latency[]> {
  const all = { submit: [] as number[], bare: [] as number[] };
  const warm = Math.min(200, times);
  for (let i = 0; i < 2 * (times + warm); i++) {
    const which = i % 2 === 0 ? 'submit' : 'bare';
    const started = performance.now();
    await (which === 'submit' ? submit(recoup, 'alone') : bare.bare());
    if (i >= 2 * warm) all[which].push(performance.now() - started);
  }
  return [latency(OURS, all.submit), latency(BARE, all.bare)];
}

/** Of Recoup and every peer that is there, each on tables of its own that are nearly empty. */
export async function latencies(
  serverUrl: string,
  peers: Peers,
  times: number,
  say: (line: string) => void,
): Promise<Latencies> {
  const all: Latencies = { pickup: [], alone: [] };
  {
    await using db = await testDatabase(serverUrl);
    await using recoup = await open({ connection: db.url, sweep: false });
    await using other = await open({ connection: db.url, sweep: false });
    await openWallets(recoup, WALLETS);
    await using bare = await SingleCalls.open(db.url, 1);
    all.alone.push(...(await aloneAgainstBare(recoup, bare, times)));
    all.pickup.push(latency(OURS, await pickup(recoup, recoup, 'pickup', times)));
    all.pickup.push(latency(`${OURS}, another handle`, await pickup(recoup, other, 'pickup-other', times)));
  }
  for (const peer of peers.peers)
    await withPeer(serverUrl, peers, peer, 'latencies', say, async (running) => {
      all.pickup.push(latency(peer.name, await running.latencies('pickup', times)));
      all.alone.push(latency(peer.name, await running.latencies('alone', times)));
    });
  for (const [what, rows] of Object.entries(all) as [string, Latency[]][])
    for (const { name, p50_ms, p99_ms } of rows)
      say(`  ${what.padEnd(7)} ${name.padEnd(36)} p50 ${p50_ms.toFixed(2)} ms, p99 ${p99_ms.toFixed(2)} ms`);
  return all;
}
