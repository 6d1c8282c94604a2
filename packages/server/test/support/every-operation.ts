// Every operation of the list once, with success, through HTTP: for tests that ask whether all of it works somewhere else.
import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { expect } from 'vitest';
import { operations } from '../../src/operations/operations.ts';
import { type Api, type Json, newId } from './api.ts';

/** The signing secret that the service must be started with: `webhookSecrets: { generic: [WEBHOOK_SECRET] }`. */
export const WEBHOOK_SECRET = `whsec_${randomBytes(24).toString('base64')}`;

/** What is free text or content in the requests; `secret` stands in each of it. */
export async function callEvery(api: Api, secret: string): Promise<void> {
  await moneyAndQueues(api, secret);
  const wallet = await api.wallet(1000);
  await signals(api, secret, wallet);
  await joined(api, secret, wallet);
  await upstreamRefs(api, secret, wallet);
  await deadLetters(api, secret, wallet);
  await webhooks(api, secret, wallet);
  await capacity(api, secret);
  await subscriptions(api);
  await probes(api);
  await endpoints(api);
  await keysAndReads(api);
  // The streams and webhooks were called by hand; an epoch is opened by the role that owns the schema.
  const others = ['feed.stream', 'webhooks.take', 'webhooks.takeSigned', 'payments.take', 'epochs.open'];
  const missing = operations.map(({ name }) => name).filter((name) => !api.called.has(name));
  expect(missing.filter((name) => !others.includes(name))).toEqual([]);
}

async function moneyAndQueues(api: Api, secret: string): Promise<void> {
  const wallet = newId('money');
  await api.call('wallets.open', { wallet, customer: 'c' });
  await api.call('wallets.change', { wallet, overdraftLimit: 10 });
  await api.call('wallets.grant', { wallet, key: 'k', amount: 100, note: secret });
  await api.call('wallets.grantMany', { items: [{ wallet, key: 'k2', amount: 1, note: secret }] });
  await api.call('wallets.adjust', { wallet, key: 'a', amount: -3, note: secret });
  const opened = newId('money');
  await api.call('wallets.openMany', { items: [{ wallet: opened, customer: 'c' }] });
  await api.call('wallets.adjustMany', { items: [{ wallet: opened, key: 'opening', amount: 5, note: secret }] });
  await api.call('wallets.balances', { wallets: [wallet, opened] });
  await api.call('wallets.list', { customer: 'c' });
  await api.call('wallets.remainders', { customer: 'c' });
  await api.call('feed.entries', { wallet });
  await api.call('wallets.balance', { wallet });
  await api.call('wallets.balance', { wallet, at: '2001-01-01T00:00:00Z' });
  await api.call('wallets.entries', { wallet });
  await api.call('wallets.replay', { wallet });
  await api.call('queues.configure', { queue: newId('q'), maxFailures: 2 });
  await api.call('queues.get', { queue: 'any' });
  await api.call('queues.list');
}

/** Submits, leases; gives the key of the attempt. */
async function running(api: Api, secret: string, wallet: string) {
  const [job, queue] = [newId('j'), newId('q')];
  await api.call('jobs.submit', { wallet, job, queue, price: 10, payload: secret, labels: { x: secret } });
  const requestId = newId('r');
  const { jobs } = await api.call('queues.lease', { queue, requestId, waitMs: 1000 });
  expect(await api.call('queues.lease', { queue, requestId })).toEqual({ jobs, out: null });
  return { wallet, job, attempt: jobs[0].job.attempt as number };
}

async function signals(api: Api, secret: string, wallet: string): Promise<void> {
  const first = await running(api, secret, wallet);
  await api.call('jobs.extend', first);
  await api.call('jobs.fail', { ...first, reason: secret });
  expect(await api.call('jobs.succeed', { ...first, result: secret })).toMatchObject({ outcome: 'reclaimed' });
  const named = { wallet, job: first.job };
  await api.call('jobs.settle', { ...named, finalPrice: 7 });
  await api.call('jobs.get', named);
  await api.call('jobs.attempts', named);
  await api.call('jobs.list', { wallet });
  await api.call('jobs.entries', named);
  const second = await running(api, secret, wallet);
  await api.call('jobs.release', { ...second, reason: secret });
  await api.call('jobs.cancel', { wallet, job: second.job, reason: secret });
  const items = ['x', 'y'].map((job) => ({ wallet, job: newId(job), queue: null, price: 1, payload: secret }));
  await api.call('jobs.submitMany', { items });
  const [x, y] = items.map(({ job }) => ({ wallet, job, attempt: 1 }));
  await api.call('jobs.prune', { olderThanMs: 86_400_000 });
  await api.call('jobs.failMany', { items: [{ ...x, reason: secret }] });
  await api.call('jobs.succeedMany', { items: [{ ...y, result: secret }] });
}

/** Leased with an upstream; the answer, with all that is said in it, is told to both. */
async function joined(api: Api, secret: string, wallet: string): Promise<void> {
  const [pool, upstream] = [newId('pool'), newId('up')];
  await api.call('upstreams.register', { upstream, pool, provider: newId('provider') });
  await api.call('queues.configure', { queue: pool, pool });
  await api.call('jobs.submit', { wallet, job: pool, queue: pool, price: 1, payload: secret });
  await api.call('queues.lease', { queue: pool });
  const answer = { status: 429, headers: { 'x-secret': secret }, body: { error: { message: secret } } };
  const told = await api.call('jobs.report', { wallet, job: pool, attempt: 1, answer });
  expect(told).toMatchObject({ means: 'release', outcome: 'released', upstream: { outcome: 'blocked' } });
}

async function upstreamRefs(api: Api, secret: string, wallet: string): Promise<void> {
  for (const end of ['succeed', 'fail']) {
    const key = await running(api, secret, wallet);
    const upstreamRef = `${wallet}-${key.job}`;
    await api.call('jobs.handOver', { ...key, upstreamRef });
    await api.call('jobs.byUpstreamRef', { upstreamRef });
    await api.call(`upstreamRefs.${end}`, {
      upstreamRef,
      ...(end === 'fail' ? { reason: secret } : { result: secret }),
    });
  }
}

async function deadLetters(api: Api, secret: string, wallet: string): Promise<void> {
  const reason = `${secret} ${newId('dead')}`;
  const died = async () => {
    const key = await running(api, secret, wallet);
    await api.call('jobs.fail', { ...key, retryable: false, reason });
    return { wallet, job: key.job };
  };
  const [one, two] = [await died(), await died()];
  await died();
  await api.call('deadLetters.list', { wallet });
  await api.call('deadLetters.redrive', one);
  await api.call('deadLetters.discard', two);
  const { count, asOf } = await api.call('deadLetters.preview', { wallet, reason });
  await api.call('deadLetters.redriveAll', { wallet, reason, asOf, confirm: count });
}

async function webhooks(api: Api, secret: string, wallet: string): Promise<void> {
  const taken = await running(api, secret, wallet);
  const upstreamRef = `${wallet}-hook`;
  await api.call('jobs.handOver', { ...taken, upstreamRef });
  const body = JSON.stringify({ upstreamRef, status: 'succeeded', result: secret });
  const [id, at] = [newId('msg'), new Date()];
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(WEBHOOK_SECRET).sign(id, at, body),
  };
  expect((await api.send('POST', '/v1/webhooks/generic', body, headers)).body).toMatchObject({ outcome: 'succeeded' });
  const key = await running(api, secret, wallet);
  const { path } = await api.call('callbacks.sign', { ...key, provider: 'runpod' });
  signedTokens.push((path as string).split('/').at(-1)!);
  const signed = JSON.stringify({ id: newId('run'), status: 'COMPLETED', output: secret });
  expect((await api.send('POST', path, signed)).body).toMatchObject({ outcome: 'succeeded' });
}

async function capacity(api: Api, secret: string): Promise<void> {
  const [pool, upstream] = [newId('pool'), newId('up')];
  await api.call('upstreams.register', { upstream, pool, provider: newId('provider'), reason: secret });
  await api.call('upstreams.change', { upstream, maxConcurrency: 2, reason: secret });
  const { lease } = await api.call('upstreams.select', { pool, sticky: newId('talk') });
  await api.call('upstreams.extend', { lease });
  await api.call('upstreams.report', {
    upstream,
    lease,
    success: false,
    use: { tokens: 7 },
    block: {
      kind: 'rate_limited',
      source: 'retry_after',
      forMs: 1000,
      policy: 'auto',
      reason: secret,
      nextStep: secret,
    },
  });
  await api.call('upstreams.release', { lease });
  await answers(api, secret, upstream);
  const { block } = await api.call('upstreams.block', { upstream, reason: secret });
  await api.call('blocks.list', { policy: 'manual' });
  await inbox(api, secret, `block:${block}`);
  await api.call('upstreams.free', { block, reason: secret });
  await limits(api, secret, upstream);
  await api.call('upstreams.list', { pool });
  await api.call('upstreams.explain', { upstream });
  await api.call('upstreams.history', { upstream });
  for (const name of ['pools.get', 'pools.explain']) await api.call(name, { pool });
  await api.call('pools.list');
}

async function answers(api: Api, secret: string, upstream: string): Promise<void> {
  const answer = {
    status: 429,
    headers: { 'retry-after': '1', 'x-secret': secret },
    body: { error: { message: secret, code: secret } },
  };
  await api.call('upstreams.report', { upstream, answer, key: newId('use') });
  await api.call('upstreams.note', { upstream, snapshots: [{ name: secret, used: 0.5 }] });
  await api.call('upstreams.snapshots', { upstream });
  await api.call('upstreams.replaceCredential', { upstream, credentialRef: secret, reason: secret });
}

async function inbox(api: Api, secret: string, item: string): Promise<void> {
  await api.call('inbox.list', { limit: 1 });
  await api.call('inbox.take', { item, actor: 'ann', note: secret });
  await api.call('inbox.snooze', { item, actor: 'ann', forMs: 1000, note: secret });
  await api.call('inbox.note', { item, actor: 'ann', note: secret });
}

async function limits(api: Api, secret: string, upstream: string): Promise<void> {
  const limit = newId('limit');
  await api.call('limits.set', { limit, upstream, unit: 'requests', amount: 5, kind: 'daily', zone: 'UTC' });
  await api.call('upstreams.report', { upstream, success: true, key: newId('use') });
  await api.call('limits.list', { upstream });
  await api.call('estimates.report');
  await api.call('limits.get', { limit });
  await api.call('limits.reset', { limit, actor: 'ann', reason: secret });
  await api.call('limits.windows', { limit });
  await api.call('limits.end', { limit });
}

async function probes(api: Api): Promise<void> {
  const pool = newId('pool');
  await api.call('probes.set', { pool, http: { url: 'https://provider.invalid/v1', yes: { status: [200] } } });
  await api.call('probes.probers');
  await api.call('probes.list', { limit: 1 });
  await api.call('probes.report', { pool });
  await api.call('probes.preview', { pool });
  await api.call('probes.recheck', { pool, confirm: 0, actor: 'ann', withinMs: 0 });
  await api.call('probes.remove', { pool });
}

async function subscriptions(api: Api): Promise<void> {
  const [plan, subscription, customer, wallet] = [newId('plan'), newId('sub'), newId('customer'), newId('wallet')];
  await api.call('plans.set', { plan, credits: 10, every: 'month', renews: 'itself' });
  await api.call('plans.list', { limit: 1 });
  await api.call('wallets.open', { wallet, customer });
  await api.call('subscriptions.start', { subscription, customer, wallet, plan });
  await api.call('subscriptions.pay', { subscription, key: newId('payment'), reason: 'paid' });
  await api.call('subscriptions.change', { subscription, plan, from: 'period', actor: 'ann' });
  await api.call('subscriptions.get', { subscription });
  await api.call('subscriptions.history', { subscription });
  await api.call('subscriptions.list', { customer });
  await api.call('subscriptions.cancel', { subscription, at: 'now' });
  await api.call('subscriptions.strays', { limit: 1 });
  const payment = newId('payment');
  const bought = {
    payment,
    purchase: { wallet, credits: 5, expiresAt: '2040-01-01T00:00:00Z' },
    amount: 50,
    paid: true,
  };
  await api.call('payments.tell', bought);
  await api.call('payments.tell', { payment, dispute: { id: 'd', amount: 10, state: 'open' } });
  await api.call('payments.list', { limit: 1 });
  await api.call('payments.missing', { payments: [payment] });
}

async function endpoints(api: Api): Promise<void> {
  const endpoint = newId('endpoint');
  const input = { endpoint, url: 'https://receiver.invalid/hook', kinds: ['job.dead'] };
  const made = await api.call('webhookEndpoints.register', input);
  const rotated = await api.call('webhookEndpoints.rotate', { endpoint });
  for (const { secret } of [made, rotated]) signedTokens.push(secret);
  await api.call('webhookEndpoints.change', { endpoint, kinds: ['job.dead', 'wallet.low'], lowBalance: 5 });
  const { delivery } = await api.call('webhookEndpoints.test', { endpoint, key: newId('test') });
  await api.call('webhookDeliveries.list', { endpoint, state: 'pending', limit: 1 });
  await api.call('webhookDeliveries.get', { delivery });
  await api.call('webhookEndpoints.replay', { endpoint, dead: true });
  await api.call('webhookEndpoints.list');
  await api.call('webhookEndpoints.get', { endpoint });
  await api.call('webhookEndpoints.remove', { endpoint });
  await api.call('alerts.list', { recovered: true });
}

/** The tokens of callback URLs that were used: bearer secrets. */
export const signedTokens: string[] = [];

async function keysAndReads(api: Api): Promise<void> {
  const { key } = await api.call('keys.create', { name: newId('key'), scopes: ['app'] });
  await api.call('keys.list');
  await api.call('keys.revoke', { key: key.id });
  const page: Json = await api.call('feed.read', { limit: 5 });
  const stream = await fetch(`${api.service.url}/v1/feed/stream${page.cursor ? `?cursor=${page.cursor}` : ''}`, {
    headers: api.headers(),
  });
  expect(stream.status).toBe(200);
  await stream.body!.cancel();
  for (const name of ['epochs.list', 'system.info']) await api.call(name);
  expect(await api.call('system.verify')).toMatchObject({ ok: true });
}
