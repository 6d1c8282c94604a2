// A worker process of a run: does what each job's payload says, in every way in which an attempt can end.
import { setTimeout as sleep } from 'node:timers/promises';
import { Done, Failure, type Handler, open, Refusal, Release } from '../../packages/recoup/src/index.ts';
import type { Work } from './load.ts';
import { using } from './uses.ts';

const attempt: Handler = async (work) => {
  const { wallet, id, attempt, payload } = work;
  // Written before anything else happens: the run looks for attempts that two workers had.
  console.log(`run ${wallet} ${id} ${attempt}`);
  const { as, ms, final } = payload as Work;
  await sleep(ms);
  const early = attempt <= 1;
  if (as === 'fails first' && early) throw new Error('no answer');
  if (as === 'fails') throw new Failure('no answer', { retryAfterMs: 50 });
  if (as === 'refused') throw new Failure('content policy', { verdict: 'definitive', retryable: false });
  if (as === 'released' && early) throw new Release('not now', { delayMs: 50 });
  // Nobody calls back: its deadline ends it.
  if (as === 'handed over') await work.handOver({ upstreamRef: `${id}-${attempt}`, deadlineMs: 400 });
  if (as === 'hangs first' && early) await sleep(60_000);
  return final === undefined ? { done: id } : new Done({ done: id }, { finalPrice: final });
};

try {
  const recoup = await open({ connection: process.env.DATABASE_URL!, pollMs: 200, onError: () => {} });
  const handler: Handler = (work) =>
    using(recoup, `${work.wallet}/${work.id}/${work.attempt}`, async () => attempt(work));
  recoup.work(process.argv[2]!, handler, { concurrency: 8, timeoutMs: 1500, graceMs: 100, drainMs: 500 });
  console.log('works');
  const stop = () => recoup.close().then(() => process.exit(0));
  process.once('SIGTERM', stop);
} catch (error) {
  console.error(error);
  process.exit(error instanceof Refusal ? error.exitCode : 1);
}
