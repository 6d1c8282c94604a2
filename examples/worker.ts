// A worker: results, final prices, failures that are worth something, a check before paying twice, and a graceful stop.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Check, Done, Failure, type Handler, open } from 'recoup';
import { openShop, run } from './support.ts';

/** A provider that does the work, but whose first answer for 'lost' never arrives. */
function provider() {
  const done = new Map<string, string>();
  let calls = 0;
  return {
    calls: () => calls,
    async render(ref: string, prompt: string): Promise<string> {
      calls += 1;
      done.set(ref, `${prompt}.mp4`);
      if (prompt === 'lost') throw new Error('no answer within 30 s');
      return `${prompt}.mp4`;
    },
    async find(ref: string): Promise<string | undefined> {
      return done.get(ref);
    },
  };
}

export async function main(url: string) {
  const shop = await openShop(url);
  const { recoup, customer } = shop;
  const api = provider();
  const queue = `video-${customer}`;
  await recoup.queues.configure(queue, { backoffBaseMs: 10, backoffMaxMs: 10 });

  // docs: worker
  const handler: Handler = async (work) => {
    const { prompt } = work.payload as { prompt: string };
    // The provider's word that it will never work: no further attempt, the price goes back.
    if (prompt === 'forbidden') throw new Failure('content policy', { verdict: 'definitive', retryable: false });
    // Kept with the job before the call, so that a later attempt can ask about this one.
    const ref = `${work.id}-${work.attempt}`;
    await work.note(ref);
    // Anything else that is thrown is a presumed failure: refunded, and run again.
    const file = await api.render(ref, prompt);
    // Charged 10 at submit; this one turned out to be worth less.
    return prompt === 'short' ? new Done({ file }, { finalPrice: 4 }) : { file };
  };

  /** Asked before a job runs again after a presumed failure: did the provider do it after all? */
  const check: Check = async (work) => {
    const ref = work.earlier?.upstreamRef;
    const file = ref ? await api.find(ref) : undefined;
    return file ? { status: 'succeeded', result: { file } } : { status: 'failed' };
  };

  const worker = recoup.work(queue, handler, { concurrency: 4, timeoutMs: 60_000, check });
  // end

  const prompts = ['plain', 'short', 'forbidden', 'lost'];
  await recoup.jobs.submitMany(
    prompts.map((prompt) => ({ wallet: customer, job: prompt, queue, price: 10, payload: { prompt } })),
  );
  const ended = async (job: string) => {
    for (;;) {
      const { job: now, result } = await recoup.jobs.get({ wallet: customer, job });
      if (now.state === 'succeeded' || now.state === 'dead') return { state: now.state, result };
      await sleep(20);
    }
  };
  const jobs = await Promise.all(prompts.map(ended));

  // docs: worker-stop
  // On SIGTERM: no further lease, what runs may finish; what does not is given back, uncounted and unrefunded.
  await worker.stop();
  await recoup.close();
  // end
  await shop.close();
  return { jobs, calls: api.calls(), ...(await ledger(url, customer)) };
}

/** What the ledger says, read after the worker's handle is closed. */
async function ledger(url: string, wallet: string) {
  const recoup = await open({ connection: url, sweep: false });
  const lost = (await recoup.wallets.entriesOf(wallet, 'lost')).map((entry) => entry.type);
  const { booked } = await recoup.wallets.balance(wallet);
  await recoup.close();
  return { lost, booked };
}

await run(import.meta, main);
