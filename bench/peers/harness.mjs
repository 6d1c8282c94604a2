// What every peer's process shares: commands come as JSON lines, figures go back as JSON lines, the clock is read here.
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

/** The payload of the bench's own jobs. */
export const payload = (index) => ({ prompt: 'a lighthouse at dusk', seconds: 5, index });

const IN_FLIGHT = 2000;

/** Enqueues every job by a call of its own, many calls at once: as many as the bench's own callers. */
async function byCalls(jobs, add) {
  let next = 0;
  const caller = async () => {
    while (next < jobs) await add(payload(next++));
  };
  await Promise.all(Array.from({ length: Math.min(IN_FLIGHT, jobs) }, caller));
}

/** Enqueues every job through the batch call, some batches at once. */
async function byBatches(jobs, { size, atOnce, add }) {
  let next = 0;
  const caller = async () => {
    while (next < jobs) {
      const start = next;
      next = Math.min(jobs, start + size);
      await add(Array.from({ length: next - start }, (_, i) => payload(start + i)));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, caller));
}

/** Enqueue all, then drain. Where a worker has to be started for that, the drain is timed from the first handler's start. */
async function life(peer, { jobs, mode }) {
  const started = performance.now();
  if (mode === 'calls') await byCalls(jobs, peer.add);
  else await byBatches(jobs, peer.batch);
  const enqueueMs = performance.now() - started;
  const drainMs = await peer.drain(jobs);
  const left = await peer.left();
  if (left > 0) throw new Error(`${left} jobs are left after the drain`);
  return { enqueueMs, drainMs, ms: enqueueMs + drainMs };
}

/** One job at a time on an idle worker: from the call that enqueues it to its handler's start. */
async function pickup(peer, { times }) {
  let began;
  const worker = await peer.work(() => began(performance.now()));
  const all = [];
  const count = peer.polls ? Math.ceil(times / 5) : times;
  for (let i = 0; i < count; i++) {
    // The last job's end is written meanwhile; where a poll is waited for, it is met anywhere between two.
    await sleep(peer.polls ? 20 + Math.random() * peer.polls : 20 + Math.random() * 20);
    const start = new Promise((resolve) => {
      began = resolve;
    });
    const submitted = performance.now();
    await (worker.add ?? peer.add)(payload(i));
    all.push((await start) - submitted);
  }
  await sleep(50);
  await worker.stop();
  return { all };
}

/** One caller alone, one call after the other. */
async function alone(peer, { times }) {
  const all = [];
  for (let i = 0; i < times; i++) {
    const started = performance.now();
    await peer.add(payload(i));
    all.push(performance.now() - started);
  }
  return { all };
}

const COMMANDS = { life, pickup, alone };

/**
 * Serves a peer to the bench. `open(url)` gives `add(payload)`, `batch`, `drain(jobs)` (ms until every end is written),
 * `left()`, `work(onStart)` (gives `stop()`, and its own `add` where it has one), `polls` (ms between two polls, where it is not
 * woken), `close()`.
 */
export async function serve(open) {
  const say = (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`);
  try {
    const peer = await open(process.argv[2]);
    say({ ready: true });
    for await (const line of createInterface({ input: process.stdin })) {
      const command = JSON.parse(line);
      say(await COMMANDS[command.do](peer, command));
    }
    await peer.close();
    process.exit(0);
  } catch (error) {
    say({ error: String(error?.stack ?? error) });
    process.exit(1);
  }
}
