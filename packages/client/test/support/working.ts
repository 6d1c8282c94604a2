// What the tests of workers share: the state of a job, how its attempts ended, a worker that runs one job.

import { until } from '../../../recoup/test/support/waiting.ts';
import type { Handler, RecoupClient, WorkOptions } from '../../src/index.ts';
import type { Stand } from './stand.ts';

export type Key = { wallet: string; job: string };

/** A stand with what tests of workers ask about its jobs. */
export function working(stand: () => Stand) {
  const errors: Error[] = [];
  const onError = (error: Error) => void errors.push(error);
  const stateOf = async ({ wallet, job }: Key) => (await stand().client.jobs.get({ wallet, job })).job;
  const inState = (job: Key, state: string) => until(async () => (await stateOf(job)).state === state);
  const endings = async ({ wallet, job }: Key) =>
    (await stand().client.jobs.attempts({ wallet, job })).attempts.map(
      ({ attempt, endedAs }) => `${attempt} ${endedAs}`,
    );
  /** Lets leases lapse now, as the sweep of any replica does. */
  async function lapse(job: Key): Promise<void> {
    await stand().api.db.query(
      `update recoup.jobs set lease_until = recoup.clock() - interval '1 second' where wallet_id = $1 and id = $2 and state = 'running'`,
      [job.wallet, job.job],
    );
    await stand().api.service.recoup.sweep();
  }

  /** Runs one job with a handler until it has left the handler's hands; then stops the worker. */
  async function runOnce(
    job: { queue: string },
    handler: Handler,
    options: WorkOptions = {},
    client: RecoupClient = stand().client,
  ) {
    let ran = () => {};
    const begun = new Promise<void>((done) => {
      ran = done;
    });
    const run: Handler = (work) => {
      ran();
      return handler(work);
    };
    const worker = client.work(job.queue, run, { concurrency: 1, name: 'the worker', onError, ...options });
    await begun;
    await worker.stop();
  }
  return { onError, stateOf, inState, endings, lapse, runOnce };
}
