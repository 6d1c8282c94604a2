// A worker on a server: what the library's worker asks of a handle, asked over HTTP. The lease is a long poll.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Claimed, type Job, Refusal } from 'recoup';
import type { WorkerContext } from 'recoup/worker';

const POLL_MS = 20_000;
/** A report that is not answered for so long is sent again; nothing that a server does with it takes as long. */
const REPORT_MS = 30_000;
/** What no repetition changes: the worker has nothing to do here. */
const FATAL = [
  'unauthorized',
  'forbidden',
  'invalid',
  'wrong_host',
  'schema_missing',
  'not_found',
  'method_not_allowed',
];

export interface RemoteOptions {
  /** Asks until the signal fires. */
  ask: <T>(name: string, input: Record<string, unknown>, signal: AbortSignal) => Promise<T>;
  /** Fires when no further lease is wanted. */
  stopping: AbortSignal;
  onError: (error: Error) => void;
  /** Hears of what ends the worker. */
  onFatal: (error: Refusal) => void;
}

export function remoteContext({ ask, stopping, onError, onFatal }: RemoteOptions): WorkerContext {
  let told = '';
  const claim = async (input: object): Promise<Claimed> => {
    const asking = (waitMs: number, signal: AbortSignal) => ask<Claimed>('queues.lease', { ...input, waitMs }, signal);
    try {
      const { jobs, out } = await asking(POLL_MS, stopping).catch((error: unknown) => {
        // The same request id once more: what the server leased meanwhile is in our hands, and must not lapse.
        if (stopping.aborted) return asking(0, AbortSignal.timeout(5000));
        throw error;
      });
      told = '';
      return { jobs: jobs.map((leased) => ({ ...leased, job: revived(leased.job) })), out };
    } catch (error) {
      if (error instanceof Refusal && FATAL.includes(error.code)) onFatal(error);
      // The worker tries for ever, and silently: that its server is none, or is away, is said once.
      else if (error instanceof Refusal && error.retryable && error.message !== told) onError(error);
      told = (error as Error).message;
      throw error;
    }
  };
  const within = async (name: string, input: object, ms: number) => {
    const signal = AbortSignal.timeout(ms);
    try {
      return await ask(`jobs.${name}`, input as Record<string, unknown>, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      throw new Refusal('database_unavailable', 'The server does not answer in time.', {}, { cause: error });
    }
  };
  const said = (name: string) => (input: object) => within(name, input, REPORT_MS);
  return {
    jobs: {
      claim,
      extend: (input: { leaseMs?: number }) => within('extend', input, Math.max((input.leaseMs ?? REPORT_MS) / 3, 100)),
      handOver: said('handOver'),
      release: said('release'),
      fail: said('fail'),
      succeed: said('succeed'),
      report: said('report'),
    } as WorkerContext['jobs'],
    // The long poll is the bell: between two of them nothing is waited for, only after an error.
    waking: {
      count: () => 0,
      wait: (_queue, ms, signal) => sleep(ms, undefined, { signal }).catch(() => {}),
    },
    dueInMs: async () => 1,
    onError,
    pollMs: 2000,
  };
}

/** Of the instants of a job those that the worker measures with. */
function revived(job: Job): Job {
  const at = (value: unknown) => (value === null ? null : new Date(value as string));
  return { ...job, leaseUntil: at(job.leaseUntil), startedAt: at(job.startedAt) };
}
