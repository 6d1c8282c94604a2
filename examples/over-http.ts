// The story of 40 credits over HTTP with @recoup/client, and a worker that lives without a database.
import { randomUUID } from 'node:crypto';
import { Done, Failure, RecoupClient, RecoupError } from '@recoup/client';
import { run } from './support.ts';

/** A provider whose work is known beforehand. */
async function render(prompt: string, _signal: AbortSignal): Promise<{ file: string; cost: number }> {
  if (prompt === 'forbidden') throw new Failure('content policy', { verdict: 'definitive', retryable: false });
  return { file: `${prompt}.mp4`, cost: 30 };
}

export async function main(url: string) {
  const wallet = `wallet-${randomUUID()}`;
  const queue = `video-${wallet}`;
  // docs: story
  const recoup = new RecoupClient({ url });
  await recoup.wallets.open({ wallet, customer: 'ann' });
  await recoup.wallets.grant({ wallet, key: 'payment-1', amount: 100 });
  // Charged 40: sent once or ten times, it is one job and one charge.
  await recoup.jobs.submit({ wallet, job: 'video-1', queue, price: 40, payload: { prompt: 'a cat' } });
  const { jobs } = await recoup.queues.lease({ queue });
  const attempt = { wallet, job: 'video-1', attempt: jobs[0]!.job.attempt };
  // No answer in time: the 40 go back.
  await recoup.jobs.fail({ ...attempt, reason: 'no answer within 30 s' });
  // The result lands late: the 40 are taken again. Its callback, once more, changes nothing.
  const late = await recoup.jobs.succeed({ ...attempt, result: { file: 'cat.mp4' } });
  const again = await recoup.jobs.succeed({ ...attempt, result: { file: 'cat.mp4' } });
  // end

  // docs: refusal
  try {
    await recoup.jobs.submit({ wallet, job: 'video-2', queue, price: 61 });
  } catch (error) {
    if (!(error instanceof RecoupError) || error.code !== 'insufficient_credits') throw error;
    console.error(`${error.details.balance} credits are left, it costs ${error.details.price}`);
  }
  // end

  // docs: worker
  const worker = recoup.work(
    queue,
    async (work) => {
      const { prompt } = work.payload as { prompt: string };
      // Aborted when the lease is lost, the job canceled, the time over, or the worker stopped for good.
      const { file, cost } = await render(prompt, work.signal);
      // Charged 40 at submit, worth 30 in the end.
      return new Done({ file }, { finalPrice: cost });
    },
    { concurrency: 4, timeoutMs: 60_000 },
  );
  process.once('SIGTERM', () => worker.stop());
  // end
  await recoup.jobs.submit({ wallet, job: 'video-3', queue, price: 40, payload: { prompt: 'a dog' } });
  await recoup.jobs.submit({ wallet, job: 'video-4', queue, price: 20, payload: { prompt: 'forbidden' } });

  // docs: feed
  const ended = new Map<string, string>();
  for await (const { event, cursor } of recoup.feed.stream()) {
    // Keep the cursor with what you made of the event: given back as `{ cursor }`, it goes on behind it.
    if (event.kind === 'attempt' && event.wallet === wallet) ended.set(event.job, `${event.jobState} at ${cursor}`);
    if (ended.has('video-3') && ended.has('video-4')) break;
  }
  // end
  await worker.stop();

  // docs: pages
  const lines: string[] = [];
  for await (const { type, amount, balance } of recoup.wallets.entries.each({ wallet, limit: 100 })) {
    lines.push(`${type} ${amount}: ${balance}`);
  }
  // end
  return { late: late.outcome, again: again.outcome, story: lines.slice(0, 4), balance: lines.at(-1)!.split(': ')[1] };
}

await run(import.meta, main, {
  name: 'RECOUP_URL',
  what: 'the service that it talks to',
  like: 'http://127.0.0.1:7420',
});
