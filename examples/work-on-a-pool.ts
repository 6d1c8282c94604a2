// Jobs on a pool of accounts: each is leased together with one, and what the provider answers decides about both.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Done, Failure, open, type Work } from 'recoup';
import { run } from './support.ts';

/** A provider with two accounts: the first is limited for now. It does not like empty prompts. */
async function call(credential: string, prompt: string): Promise<Response> {
  const says = (status: number, error: object, headers = {}) => Response.json({ error }, { status, headers });
  if (prompt === '') return says(400, { message: 'no prompt' });
  if (credential === 'vault/first') return says(429, { message: 'slow down' }, { 'retry-after': '30' });
  return Response.json({ text: `${prompt}!`, tokens: 3 });
}

export async function main(url: string) {
  const pool = `chat-${randomUUID()}`;
  const [queue, wallet] = [pool, pool];
  const recoup = await open({ connection: url, migrate: true });
  await recoup.wallets.open({ wallet, customer: 'ada' });
  await recoup.wallets.grant({ wallet, key: 'invoice-1', amount: 100 });
  for (const [priority, account] of ['first', 'second'].entries()) {
    const upstream = `${pool}/${account}`;
    await recoup.upstreams.register({
      upstream,
      pool,
      provider: 'acme',
      credentialRef: `vault/${account}`,
      priority,
      maxConcurrency: 1,
    });
  }

  // docs: work-on-a-pool
  await recoup.queues.configure(queue, { pool });

  async function handler({ payload, upstream, signal }: Work) {
    signal.throwIfAborted();
    const response = await call(upstream!.credentialRef!, String(payload));
    const [{ status, headers }, body] = [response, await response.text()];
    const answer = { status, headers, body };
    // Whether it is done again, elsewhere or never, and what becomes of the account: the answer says it.
    if (!response.ok) throw new Failure(`status ${status}`, { answer });
    const { text, tokens } = JSON.parse(body);
    return new Done(text, { answer, use: { tokens } });
  }
  const worker = recoup.work(queue, handler, { concurrency: 1 });
  // end

  for (const [job, payload] of Object.entries({ one: 'hello', two: '', three: 'again' }))
    await recoup.jobs.submit({ wallet, job, queue, price: 10, payload });
  const jobOf = async (job: string) => recoup.jobs.get({ wallet, job });
  const done = async () =>
    (await jobOf('three')).job.state === 'succeeded' && (await jobOf('two')).job.state === 'dead';
  while (!(await done())) await sleep(20);
  await worker.stop();
  const [first] = await recoup.upstreams.explain({ pool });
  const ended = await recoup.jobs.attempts({ wallet, job: 'one' });
  const results = await Promise.all(['one', 'two', 'three'].map(async (job) => (await jobOf(job)).result));
  const { booked } = await recoup.wallets.balance(wallet);
  await recoup.close();
  return {
    results,
    booked,
    attempts: ended.map(({ endedAs, upstream }) => `${endedAs} on ${upstream!.split('/')[1]}`),
    out: first!.failing.map(({ kind }) => kind),
  };
}

await run(import.meta, main);
