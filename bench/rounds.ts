// One round: every life once on new databases, ours, the floors' and the peers', each round starting with another one.
import { open, type Recoup } from '../packages/recoup/src/index.ts';
import { type TestDatabase, testDatabase } from '../packages/recoup/src/testing.ts';
import type { Figures } from './figures.ts';
import { floor } from './floors.ts';
import { drain, lifeByBatches, openWallets, type Shape, submitAll, submitBy } from './lives.ts';
import { type Mode, type Peer, type Peers, withPeer } from './peers.ts';
import { CALLERS, DESIGNS, SingleCalls } from './single-calls.ts';
import { submitWithoutMoney } from './without-money.ts';

const WALLETS = 10_000;
/** Where each call is a transaction it takes so much longer that a part of the jobs says as much. */
const PART = 4;

export interface Bench {
  serverUrl: string;
  figures: Figures;
  jobs: number;
  peers: Peers;
  /** Connections of the pool of single calls. */
  connections: number;
  say: (line: string) => void;
}

type Step = () => Promise<void>;

export const peerRow = (peer: Peer, mode: Mode) => `${peer.name}, ${mode === 'calls' ? 'single calls' : 'batch calls'}`;
export const designRow = (design: string) => `${CALLERS} callers, ${design}`;
export const BY_BATCHES = 'money life, batch calls';
export const AWAITED = `${CALLERS} callers, Recoup`;

/** Gives the bytes per row that the round's jobs left on disk. */
export async function round(bench: Bench, index: number): Promise<Record<string, number>> {
  bench.say(`round ${index + 1}`);
  await using db = await testDatabase(bench.serverUrl);
  await using recoup = await open({ connection: db.url, sweep: false });
  await openWallets(recoup, WALLETS);
  const same = await floor(db.url, shape(bench, 'floor'), 'same');
  const naked = await floor(db.url, shape(bench, 'floor'), 'naked');
  // Connections that have planned their statements: a plan of two pages takes milliseconds, once per connection.
  await life(recoup, { ...shape(bench, 'warm'), jobs: 2000 });
  const { figures, jobs } = bench;
  const steps = [
    () => figures.timed('floor, same tables', jobs, same),
    () => figures.timed('floor, naked tables', jobs, naked),
    ...lives(bench, recoup, db),
    () => singleCalls(bench, recoup, db, index),
    ...bench.peers.peers.map((peer) => () => livesOf(bench, peer, index)),
  ];
  await inTurn(steps, index);
  const sizes = await bytesPerJob(db);
  await verify(recoup);
  return sizes;
}

/** Each round starts elsewhere, so that nothing always runs first or on the fullest tables. */
async function inTurn(steps: readonly Step[], index: number): Promise<void> {
  for (let i = 0; i < steps.length; i++) await steps[(i + index) % steps.length]!();
}

const shape = ({ jobs }: Bench, queue: string, wallets = WALLETS): Shape => ({ jobs, wallets, queue });

export async function life(recoup: Recoup, of: Shape): Promise<void> {
  await submitAll(recoup, of);
  await drain(recoup, of, 'succeed');
}

function lives(bench: Bench, recoup: Recoup, db: TestDatabase): Step[] {
  const { figures, jobs } = bench;
  const [many, batches, one, none, recover] = [
    shape(bench, 'many'),
    shape(bench, 'batches'),
    shape(bench, 'one', 1),
    shape(bench, 'none'),
    shape(bench, 'recover'),
  ];
  return [
    () => figures.timed('money life', jobs, () => life(recoup, many)),
    () => figures.timed(BY_BATCHES, jobs, () => lifeByBatches(recoup, batches)),
    () =>
      figures.timed('life without money', jobs, async () => {
        await submitWithoutMoney(db.url, none);
        await drain(recoup, none, 'succeed');
      }),
    () => figures.timed('money life, one wallet', jobs, () => life(recoup, one)),
    async () => {
      await recoup.queues.configure('recover', { backoffBaseMs: 0, backoffMaxMs: 0 });
      await figures.timed('refund and recover', jobs, async () => {
        await submitAll(recoup, recover);
        await drain(recoup, recover, 'fail');
        await drain(recoup, recover, 'succeed');
      });
    },
  ];
}

/**
 * Submits alone, without what becomes of the jobs: 64 callers, each waiting for its own. The pool is there for this step only:
 * a default server has 100 connections, and the peers need theirs.
 */
async function singleCalls(bench: Bench, recoup: Recoup, db: TestDatabase, index: number): Promise<void> {
  const { figures } = bench;
  const jobs = Math.ceil(bench.jobs / PART);
  await using single = await SingleCalls.open(db.url, bench.connections);
  const steps: Step[] = [
    () => figures.timed(AWAITED, bench.jobs, () => submitBy(recoup, shape(bench, 'awaited'), CALLERS)),
    ...Object.keys(DESIGNS).map(
      (design) => () => figures.timed(designRow(design), jobs, () => single.submit(design, jobs)),
    ),
  ];
  await inTurn(steps, index);
}

/** A peer's lives, in a process and a database that are there for them alone. */
const livesOf = (bench: Bench, peer: Peer, index: number): Promise<void> =>
  withPeer(bench.serverUrl, bench.peers, peer, `round ${index + 1}`, bench.say, async (running) => {
    await running.life(500, 'calls');
    await running.life(1500, 'batch');
    for (const [mode, jobs] of [['batch', bench.jobs] as const, ['calls', Math.ceil(bench.jobs / PART)] as const])
      await bench.figures.timed(peerRow(peer, mode), jobs, async () => (await running.life(jobs, mode)).ms);
  });

/** What a job of a money life leaves on disk, with its indexes, by table. The round's tables hold only such jobs and a few more. */
async function bytesPerJob(db: TestDatabase): Promise<Record<string, number>> {
  const [row] = await db.query(`
    select pg_total_relation_size('recoup.jobs') / (select count(*) from recoup.jobs) as jobs,
      pg_total_relation_size('recoup.entries') / (select count(*) from recoup.entries) as entries,
      pg_total_relation_size('recoup.attempts') / (select count(*) from recoup.attempts) as attempts`);
  return Object.fromEntries(Object.entries(row!).map(([table, bytes]) => [table, Number(bytes)]));
}

/** The life without money leaves jobs without a charge, and nothing else may be wrong. */
async function verify(recoup: Recoup): Promise<void> {
  const verified = await recoup.verify();
  const wrong = verified.problems.filter((problem) => problem.detail !== 'a job without a charge');
  if (wrong.length > 0) throw new Error(`verify: ${JSON.stringify(wrong[0])}`);
}

/** The pool size at which one transaction per call is fastest here, of a few. */
export async function tuneConnections(serverUrl: string, jobs: number, say: (line: string) => void): Promise<number> {
  const sizes = [8, 16, 32, CALLERS];
  let best = { connections: 0, ms: Number.POSITIVE_INFINITY };
  for (const connections of sizes) {
    await using db = await testDatabase(serverUrl);
    await using single = await SingleCalls.open(db.url, connections);
    const started = performance.now();
    await single.submit('guarded update', jobs);
    const ms = performance.now() - started;
    if (ms < best.ms) best = { connections, ms };
  }
  say(`one transaction per call is fastest on ${best.connections} connections (of ${sizes.join(', ')})`);
  return best.connections;
}
