// Waking: tells idle workers that a queue has something. A hint only; a capped poll is the correctness path.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pools } from './db/pool.ts';

/** An idle worker elsewhere hears of a job within this and a round trip; under load a replica notifies so often, whatever comes. */
const NOTIFY_EVERY_MS = 10;

/** A signal that many can wait for: in this process at once, in others by a NOTIFY, at most one per interval. */
export class Waking {
  readonly #pools: Pools;
  readonly #channel: string;
  readonly #waiters = new Map<string, Set<() => void>>();
  readonly #told = new Set<string>();
  /** How often each queue was woken: tells a waiter of a wake that came before it waited. */
  readonly #counts = new Map<string, number>();
  #anyCount = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Until then the last NOTIFY speaks for what comes. */
  #quietUntil = 0;
  #listening = false;
  #stop = new AbortController();
  #closed: Promise<void> | undefined;

  constructor(pools: Pools) {
    this.#pools = pools;
    this.#channel = `${pools.schema}_wake`;
  }

  /** A queue may have something to do; an empty name means any queue. */
  wake(queue: string): void {
    this.#local(queue);
    if (this.#pools.pooler || this.#stop.signal.aborted) return;
    this.#told.add(queue);
    // Never inside a money statement: a transaction that notifies takes one lock of the whole server at its commit.
    this.#timer ??= setTimeout(() => void this.#notify(), Math.max(this.#quietUntil - performance.now(), 0)).unref();
  }

  /** The same in this process alone. */
  here(queue: string): void {
    this.#local(queue);
  }

  /** How often a queue was woken so far: take it before looking, hand it to `wait`. */
  count(queue: string): number {
    return (this.#counts.get(queue) ?? 0) + this.#anyCount;
  }

  /** Waits until the queue is woken (since `seen`), the time is over, or the signal fires; never throws. */
  async wait(queue: string, ms: number, signal: AbortSignal, seen = this.count(queue)): Promise<void> {
    if (signal.aborted || this.count(queue) !== seen) return;
    await new Promise<void>((done) => {
      const waiters = this.#waiters.get(queue) ?? new Set();
      this.#waiters.set(queue, waiters);
      const finish = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', finish);
        waiters.delete(finish);
        done();
      };
      const timer = setTimeout(finish, ms);
      signal.addEventListener('abort', finish);
      waiters.add(finish);
    });
  }

  /** Starts listening to other processes. The connection is re-made when it drops; until then the poll does the work. */
  listen(): void {
    if (this.#listening || this.#pools.pooler) return;
    this.#listening = true;
    this.#closed = this.#keepListening();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#timer);
    await this.#closed;
  }

  #local(queue: string): void {
    if (queue === '') this.#anyCount += 1;
    else this.#counts.set(queue, (this.#counts.get(queue) ?? 0) + 1);
    const names = queue === '' ? [...this.#waiters.keys()] : [queue];
    for (const name of names) for (const finish of [...(this.#waiters.get(name) ?? [])]) finish();
  }

  async #notify(): Promise<void> {
    this.#timer = undefined;
    this.#quietUntil = performance.now() + NOTIFY_EVERY_MS;
    const queues = [...this.#told];
    this.#told.clear();
    const payload = JSON.stringify(queues);
    try {
      const client = await this.#pools.connect();
      try {
        // NOTIFY takes 8,000 bytes; more names than that mean "any". A hint need not survive a crash, so its commit waits for no disk.
        await client.query("select pg_notify($1, $2), set_config('synchronous_commit', 'off', true)", [
          this.#channel,
          Buffer.byteLength(payload) < 7000 ? payload : '[""]',
        ]);
      } finally {
        client.release();
      }
    } catch {
      // A hint that is lost costs a poll interval, nothing else.
    }
  }

  async #keepListening(): Promise<void> {
    const signal = this.#stop.signal;
    while (!signal.aborted) {
      const client = this.#pools.dedicated();
      let onAbort = () => {};
      const ended = new Promise<void>((done) => {
        onAbort = () => done();
        client.on('error', () => done());
        client.on('end', () => done());
        signal.addEventListener('abort', onAbort);
      });
      client.on('notification', ({ payload }) => {
        for (const queue of queuesOf(payload)) this.#local(queue);
      });
      try {
        await client.connect();
        await client.query(`listen ${this.#channel}`);
        // What was told while nobody listened is found now.
        this.#local('');
        await ended;
      } catch {
        // Not reachable: tried again below.
      }
      signal.removeEventListener('abort', onAbort);
      await client.end().catch(() => {});
      await sleep(1000, undefined, { signal }).catch(() => {});
    }
  }
}

/** The queues that a notification names. Anybody in the database may notify: what is not ours wakes everybody, no more. */
function queuesOf(payload: string | undefined): string[] {
  try {
    const queues: unknown = JSON.parse(payload ?? '');
    if (Array.isArray(queues) && queues.every((queue) => typeof queue === 'string')) return queues;
  } catch {
    // Falls through.
  }
  return [''];
}
