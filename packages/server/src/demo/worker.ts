// A worker process: takes jobs of one design, calls the upstream for each, says what came of it.
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure, open, type Work } from 'recoup';
import { accounts } from './accounts.ts';
import { askUpstream, callUpstream } from './call-upstream.ts';
import { serveParent } from './child.ts';
import { rules } from './design.ts';
import { Naive, type TakenJob } from './naive.ts';
import { onPool } from './on-pool.ts';
import { Tally } from './tally.ts';

export interface WorkerTask {
  design: 'Recoup' | 'naive';
  name: string;
  database: string;
  upstream: string;
  /** Where callbacks go; wallet, job and attempt are added. */
  callbacks: string;
}

serveParent((task: WorkerTask) => (task.design === 'Recoup' ? workWithRecoup(task) : workNaively(task)));

/** A job's call, with the key of whatever account it runs on. */
function callFor(task: WorkerTask, wallet: string, job: string, attempt: number, ms: number, signal: AbortSignal) {
  const callback = `${task.callbacks}/${wallet}/${job}/${attempt}`;
  return (key: string) => callUpstream({ url: task.upstream, job, attempt, ms, callback, signal, key });
}

async function workWithRecoup(task: WorkerTask) {
  const tally = new Tally();
  const recoup = await open({
    connection: task.database,
    maxConnections: 6,
    pollMs: 500,
    onTransition: tally.transition,
  });
  const handler = ({ wallet, id, attempt, payload, signal }: Work) =>
    onPool(recoup, task.name, callFor(task, wallet, id, attempt, (payload as { ms: number }).ms, signal));
  const { concurrency, timeoutMs, deadlineMs } = rules;
  const worker = recoup.work(rules.queue, handler, {
    name: task.name,
    concurrency,
    timeoutMs,
    graceMs: 50,
    check: async ({ id }) => {
      const found = await askUpstream(task.upstream, id);
      return found?.status === 'working' ? { ...found, deadlineMs } : found;
    },
  });
  return {
    inHand: () => worker.running,
    counts: () => tally.own,
    stop: async () => {
      await recoup.close();
      return true;
    },
  };
}

async function workNaively(task: WorkerTask) {
  const naive = new Naive(task.database, 6);
  const running = new Set<Promise<void>>();
  let stopped = false;
  const loop = (async () => {
    while (!stopped) {
      const free = rules.concurrency - running.size;
      const taken = free > 0 ? await naive.take(task.name, free) : [];
      for (const job of taken) {
        const run = runNaively(task, naive, job).finally(() => running.delete(run));
        running.add(run);
      }
      if (taken.length === 0) await sleep(10);
    }
  })();
  return {
    inHand: () => running.size,
    counts: () => ({}),
    stop: async () => {
      stopped = true;
      await loop;
      await Promise.all(running);
      await naive[Symbol.asyncDispose]();
      return true;
    },
  };
}

let turn = 0;

async function runNaively(task: WorkerTask, naive: Naive, job: TakenJob): Promise<void> {
  try {
    // The accounts in turn, whatever became of them.
    const { credentialRef } = accounts[turn++ % accounts.length]!;
    const call = callFor(task, job.wallet_id, job.id, job.attempt, job.ms, AbortSignal.timeout(rules.timeoutMs));
    await call(credentialRef);
  } catch (error) {
    await naive.fail(job.id, error instanceof Failure ? error : {});
    return;
  }
  await naive.succeed(job.id);
}
