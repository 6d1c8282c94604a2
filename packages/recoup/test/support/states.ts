// Jobs in every state they can be in, each by the shortest way there.
import type { Submit } from '../../src/index.ts';
import type { Running, Stage } from './stage.ts';

type Step = (s: Stage, job: Running & { queue: string }) => Promise<unknown>;

const at = ({ wallet, job, attempt }: Running) => ({ wallet, job, attempt });
const key = ({ wallet, job }: Running) => ({ wallet, job });

const lease: Step = async (s, job) => {
  job.attempt = await s.lease(job.queue);
};
const fail: Step = (s, job) => s.recoup.jobs.fail(at(job));
const release: Step = (s, job) => s.recoup.jobs.release(at(job));
const handOver: Step = (s, job) => s.recoup.jobs.handOver(at(job));
const die: Step = (s, job) => s.recoup.jobs.fail({ ...at(job), retryable: false });
const discard: Step = (s, job) => s.recoup.jobs.deadLetters.discard(key(job));
const redrive: Step = (s, job) => s.recoup.jobs.deadLetters.redrive(key(job));
const succeed: Step = (s, job) => s.recoup.jobs.succeed(at(job));
const settle: Step = (s, job) => s.recoup.jobs.settle({ ...key(job), finalPrice: 1 });
const cancel: Step = (s, job) => s.recoup.jobs.cancel(key(job));
const keep: Step = (s, job) => s.recoup.jobs.cancel({ ...key(job), keep: 1 });

const OF_A_QUEUE: Readonly<Record<string, readonly Step[]>> = {
  queued: [],
  running: [lease],
  'queued again, refunded': [lease, fail],
  'queued again, given back': [lease, release],
  'running again, refunded': [lease, fail, lease],
  'waiting for its provider': [lease, handOver],
  'waiting for its provider, refunded': [lease, fail, lease, handOver],
  dead: [lease, die],
  discarded: [lease, die, discard],
  redriven: [lease, die, redrive],
  'running, redriven': [lease, die, redrive, lease],
  succeeded: [lease, succeed],
  'succeeded late': [lease, fail, succeed],
  'succeeded and settled': [lease, succeed, settle],
  canceled: [lease, cancel],
  'canceled, a part kept': [keep],
};

const OF_ITS_CALLER: Readonly<Record<string, readonly Step[]>> = {
  'out with its caller': [],
  'failed at its caller': [fail],
  'succeeded at its caller': [succeed],
  'succeeded late at its caller': [fail, succeed],
  'canceled at its caller': [cancel],
};

export interface Placed extends Running {
  /** As it was submitted. */
  readonly submit: Submit;
}

/** A job of price 40 in each state; `attempt` is its latest, and 1 where it never ran. */
export const inEveryState: readonly [name: string, place: (s: Stage) => Promise<Placed>][] = [
  ...placing(OF_A_QUEUE, true),
  ...placing(OF_ITS_CALLER, false),
];

function placing(ways: Readonly<Record<string, readonly Step[]>>, queued: boolean) {
  return Object.entries(ways).map(([name, steps]): [string, (s: Stage) => Promise<Placed>] => [
    name,
    async (s) => {
      const payload = { of: name, list: [1, { deep: null }] };
      const { wallet, job, queue } = await s.queued(40, { payload, ...(queued ? {} : { queue: null }) });
      const placed = { wallet, job, queue, attempt: 1 };
      for (const step of steps) await step(s, placed);
      return { wallet, job, attempt: placed.attempt, submit: { wallet, job, queue, price: 40, payload } };
    },
  ]);
}
