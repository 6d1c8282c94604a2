// Replays the trace through a design: arrivals, worker processes, one of them killed, until nothing moves any more.
import { setTimeout as sleep } from 'node:timers/promises';
import { OPERATOR_AT } from './accounts.ts';
import { askUpstream } from './call-upstream.ts';
import { receiveCallbacks } from './callbacks.ts';
import type { Child, Children } from './children.ts';
import { type Books, type Design, type Progress, rules } from './design.ts';
import type { Truth } from './judge.ts';
import type { Options } from './options.ts';
import { type AccountReport, accountReports } from './outages.ts';
import type { Screen } from './screen.ts';
import type { Counts, Tally } from './tally.ts';
import type { DemoJob } from './trace.ts';
import type { UpstreamRecord, UpstreamTask } from './upstream.ts';
import type { WorkerTask } from './worker.ts';

/** Longer than anything here waits on purpose: what stands still for so long will not move again. */
const STALLED_MS = 60_000;

export interface ReplayContext {
  database: string;
  children: Children;
  options: Options;
  screen: Screen;
  tally: Tally;
  signal: AbortSignal;
}

export interface Replayed {
  books: Books;
  truth: Truth;
  upstream: UpstreamRecord['counts'];
  progress: Progress;
  seconds: number;
  /** The worker that was killed, and how many jobs it had in its hands. */
  killed: { worker: string; held: number };
  /** Dead letters that had been done after all: the upstream was asked about each. */
  reconciled: number;
  /** What each account of the pool did. */
  accounts: AccountReport[];
}

interface Running extends ReplayContext {
  design: Design;
  jobs: readonly DemoJob[];
  upstream: Child;
  workers: Child[];
  /** Whether every request has come. */
  arrived: boolean;
  /** For what goes wrong beside the replay's own steps. */
  fail: (error: Error) => void;
}

export async function replay(design: Design, jobs: readonly DemoJob[], context: ReplayContext): Promise<Replayed> {
  const { children, options, database } = context;
  let fail!: (error: Error) => void;
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  const task: UpstreamTask = { seed: options.seed, slowMs: rules.slowMs, durationMs: durationOf(jobs) };
  const upstream = await children.start('upstream', `${design.name}'s upstream`, task);
  const url = (await upstream.ask('url')) as string;
  await using callbacks = await receiveCallbacks((signal) => design.signal(signal), fail);
  const workers = await Promise.all(
    Array.from({ length: rules.workers }, (_, index) => {
      const name = `worker-${index + 1}`;
      const task: WorkerTask = { design: design.name, name, database, upstream: url, callbacks: callbacks.url };
      return children.start('worker', name, task);
    }),
  );
  const running: Running = { ...context, design, jobs, upstream, workers, arrived: false, fail };
  // Awaited here: the callbacks must be received until it is over.
  return await Promise.race([failed, children.crash, play(running, url)]);
}

const durationOf = (jobs: readonly DemoJob[]) => jobs.at(-1)?.atMs ?? 0;

async function play(running: Running, upstreamUrl: string): Promise<Replayed> {
  const { design, upstream, workers } = running;
  const started = performance.now();
  const watch = watchProgress(running, started);
  const victim = workers[1]!;
  const killing = killHalfway(running, victim);
  const operated = operate(running);
  await arrive(running, killing.halfway);
  running.arrived = true;
  await operated;
  const held = await killing.killed;
  workers.splice(workers.indexOf(victim), 1);
  await untilQuiet(running);
  const seconds = (performance.now() - started) / 1000;
  await watch.stop();
  await Promise.all(workers.map((worker) => worker.ask('stop')));
  await hear(workers, running.tally);
  await Promise.all(workers.map((worker) => worker.kill()));
  const reconciled = await reconcile(design, upstreamUrl);
  const record = (await upstream.ask('record')) as UpstreamRecord;
  await upstream.kill();
  return {
    books: await design.books(),
    truth: new Map(record.done),
    upstream: record.counts,
    progress: await design.progress(),
    seconds,
    killed: { worker: victim.name, held },
    reconciled,
    accounts: accountReports(record.accounts, await design.outages()),
  };
}

/** Once, when most requests have come: whoever is on call looks into the inbox. */
async function operate({ design, jobs, fail, signal }: Running): Promise<void> {
  await sleep(OPERATOR_AT * durationOf(jobs), undefined, { signal })
    .then(() => design.operate())
    .catch(fail);
}

/** Submits each job when its request arrives. */
async function arrive({ design, jobs, fail, signal }: Running, halfway: () => void): Promise<void> {
  const started = performance.now();
  const submitted: Promise<void>[] = [];
  for (const [index, job] of jobs.entries()) {
    const early = started + job.atMs - performance.now();
    if (early > 0) await sleep(early, undefined, { signal });
    submitted.push(design.submit(job).catch(fail));
    if (index === jobs.length >> 1) halfway();
  }
  await Promise.all(submitted);
}

/** From halfway on, waits until the victim is busy (once all have come: has anything), and kills it with no warning. */
function killHalfway(running: Running, victim: Child) {
  const { design, jobs, fail, signal } = running;
  let halfway!: () => void;
  const reached = new Promise<void>((resolve) => {
    halfway = resolve;
  });
  const kill = async () => {
    await reached;
    while ((await design.heldBy(victim.name)) < (running.arrived ? 1 : rules.concurrency / 2)) {
      if (running.arrived && (await design.progress()).ended === jobs.length) break;
      await sleep(2, undefined, { signal });
    }
    await victim.kill();
    return design.heldBy(victim.name);
  };
  const killed = kill();
  killed.catch(fail);
  return { halfway, killed };
}

/** Every job has ended or will never move again, no worker has one, and every late callback was delivered. */
async function untilQuiet({ design, workers, upstream, signal }: Running): Promise<void> {
  const still = async () => {
    if ((await design.open()) > 0) return false;
    const inHand = await Promise.all(workers.map((worker) => worker.ask('inHand')));
    return inHand.every((jobs) => jobs === 0);
  };
  for (;;) {
    if (await still()) {
      await upstream.ask('idle');
      if (await still()) return;
    }
    await sleep(50, undefined, { signal });
  }
}

/**
 * What any operator does with dead letters: asks the upstream about each, and says succeed for what it did after all. An
 * attempt whose answer and callback were both lost leaves no other trace when it was the last one.
 */
async function reconcile(design: Design, upstreamUrl: string): Promise<number> {
  let reconciled = 0;
  for (const letter of await design.deadLetters()) {
    const found = await askUpstream(upstreamUrl, letter.job);
    if (found?.status !== 'succeeded') continue;
    await design.signal({ ...letter, status: 'succeeded' });
    reconciled += 1;
  }
  return reconciled;
}

/** Takes the workers' counts. The killed one does not answer any more: what it said last stays. */
async function hear(workers: readonly Child[], tally: Tally): Promise<void> {
  for (const worker of workers) {
    const counts = await worker.ask('counts').catch(() => undefined);
    if (counts) tally.heard(worker.name, counts as Counts);
  }
}

/** Shows how far it is; fails a replay that stands still. */
function watchProgress(running: Running, started: number): { stop(): Promise<void> } {
  const { design, jobs, workers, screen, tally, fail, signal } = running;
  const stopping = new AbortController();
  const any = AbortSignal.any([signal, stopping.signal]);
  const loop = async () => {
    let seen = '';
    let movedAt = performance.now();
    while (!any.aborted) {
      const progress = await design.progress();
      const open = await design.open();
      const now = performance.now();
      screen.progress(design.name, progress, jobs.length, (now - started) / 1000);
      const state = JSON.stringify([progress, open]);
      // Where nothing is open and more is to come, the trace itself stands still.
      if (state !== seen || (open === 0 && !running.arrived)) movedAt = now;
      if (now - movedAt > STALLED_MS) {
        throw new Error(`${design.name}: nothing has moved for ${STALLED_MS / 1000} s, ${open} jobs are open`);
      }
      seen = state;
      await hear(workers, tally);
      await sleep(300, undefined, { signal: any }).catch(() => {});
    }
  };
  const looping = loop();
  looping.catch(fail);
  return {
    stop: async () => {
      stopping.abort();
      await looping;
    },
  };
}
