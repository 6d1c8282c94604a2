// What the pages are looked at with: wallets with stories, jobs in every state, pools that are out for every kind of reason.
import type { RecoupClient } from '@recoup/client';

/** Runs one job up to its lease; gives the number of its attempt. */
async function running(
  client: RecoupClient,
  wallet: string,
  job: string,
  price: number,
  queue: string,
): Promise<number> {
  await client.jobs.submit({ wallet, job, queue, price, payload: { prompt: 'a calm lake at dawn', seconds: 30 } });
  const { jobs } = await client.queues.lease({ queue, worker: 'worker-7' });
  return jobs[0]!.job.attempt;
}

async function wallets(client: RecoupClient): Promise<void> {
  const open = async (wallet: string, customer: string, amount: number, overdraftLimit = 0) => {
    await client.wallets.open({ wallet, customer, overdraftLimit });
    if (amount > 0) await client.wallets.grant({ wallet, key: 'invoice-812', amount, reason: 'top_up' });
  };
  await open('ada', 'ada', 100);
  await open('acme-video', 'acme', 250_000);
  await open('acme-chat', 'acme', 12_000, 5000);
  await open('empty', 'noor', 0);
  await open('a/b & c', 'odd', 10);
}

/** The story of the 40 credits: charged, refunded at the time-out, taken again when the result came late. */
async function late(client: RecoupClient): Promise<void> {
  const job = { wallet: 'ada', job: 'video-1' };
  const attempt = await running(client, 'ada', 'video-1', 40, 'late');
  await client.jobs.fail({ ...job, attempt, verdict: 'presumed', reason: 'no answer for 30 s', retryable: false });
  await client.jobs.succeed({ ...job, attempt, result: { url: 'https://cdn.example/video-1.mp4' } });
}

async function dead(client: RecoupClient): Promise<void> {
  for (let n = 1; n <= 7; n++) {
    const job = `render-${n}`;
    const attempt = await running(client, 'acme-video', job, 40 * n, 'video');
    const reason = n <= 5 ? 'upstream 500 on /render' : 'the prompt was refused by a filter';
    await client.jobs.fail({ wallet: 'acme-video', job, attempt, verdict: 'definitive', retryable: false, reason });
  }
}

async function busy(client: RecoupClient): Promise<void> {
  const attempt = await running(client, 'acme-video', 'clip-1', 90, 'clips');
  await client.jobs.handOver({
    wallet: 'acme-video',
    job: 'clip-1',
    attempt,
    deadlineMs: 600_000,
    upstreamRef: 'pred_7f3a',
  });
  await running(client, 'acme-video', 'clip-2', 90, 'clips');
  const items = Array.from({ length: 14 }, (_, n) => ({
    wallet: 'acme-chat',
    job: `chat-${n}`,
    queue: 'chat',
    price: 25 + n,
  }));
  await client.jobs.submitMany({ items });
  const failed = await running(client, 'ada', 'video-2', 20, 'retries');
  await client.jobs.fail({ wallet: 'ada', job: 'video-2', attempt: failed, verdict: 'presumed', reason: 'ECONNRESET' });
  await client.wallets.adjust({ wallet: 'ada', key: 'ticket-4711', amount: 15, actor: 'maria', reason: 'goodwill' });
}

/** One that is paid and ends with its period, one that goes on, one that nobody has paid yet. */
async function subscriptions(client: RecoupClient): Promise<void> {
  await client.plans.set({ plan: 'pro', credits: 1000, every: 'month', zone: 'Europe/Rome' });
  for (const customer of ['mia', 'sam', 'zoe']) {
    await client.wallets.open({ wallet: customer, customer });
    await client.subscriptions.start({ subscription: `sub-${customer}`, customer, wallet: customer, plan: 'pro' });
  }
  await client.subscriptions.pay({ subscription: 'sub-mia', key: 'in_1001' });
  await client.subscriptions.pay({ subscription: 'sub-sam', key: 'in_1002' });
  await client.subscriptions.cancel({ subscription: 'sub-mia', at: 'period', key: 'ticket-4712', actor: 'maria' });
}

async function pools(client: RecoupClient): Promise<void> {
  const known = (pool: string, upstream: string, more = {}) =>
    client.upstreams.register({ pool, upstream, provider: 'openai', maxConcurrency: 4, ...more });
  for (const letter of ['a', 'b', 'c', 'd', 'e', 'f']) await known('video', `gpu-${letter}`);
  for (const letter of ['a', 'b']) await known('chat', `chat-${letter}`, { provider: 'anthropic' });
  await client.upstreams.select({ pool: 'video', lease: 'slot-1' });
  const answer = (upstream: string, status: number, headers: Record<string, string>, body: unknown) =>
    client.upstreams.report({ upstream, answer: { status, headers, body }, elapsedMs: 200 });
  const limited = {
    error: { message: 'Rate limit reached for requests', type: 'requests', code: 'rate_limit_exceeded' },
  };
  await answer('gpu-b', 429, { 'retry-after': '900' }, limited);
  await answer('gpu-d', 401, {}, { error: { message: 'Incorrect API key provided', code: 'invalid_api_key' } });
  await client.limits.set({
    limit: 'gpu-c-daily',
    upstream: 'gpu-c',
    unit: 'requests',
    amount: 1,
    kind: 'daily',
    zone: 'Europe/Rome',
  });
  await client.upstreams.report({ upstream: 'gpu-c', success: true, key: 'use-1', elapsedMs: 200 });
  await client.upstreams.change({
    upstream: 'gpu-e',
    status: 'off',
    actor: 'maria',
    reason: 'moving it to another region',
  });
  await client.inbox.note({
    item: (await client.inbox.list({})).items[0]!.item,
    actor: 'maria',
    note: 'asked the owner for a new key',
  });
}

export async function fill(client: RecoupClient): Promise<void> {
  await wallets(client);
  await late(client);
  await dead(client);
  await busy(client);
  await subscriptions(client);
  await pools(client);
}
