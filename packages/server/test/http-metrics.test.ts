// Metrics: what an on-call person needs is there, says what is so, and costs the same with a long history.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../../recoup/test/support/waiting.ts';
import { figuresSql } from '../src/http/figures.ts';
import { Api, newId } from './support/api.ts';

let api: Api;
beforeAll(async () => {
  api = await Api.start({ maxWaiting: 7, verifyEveryMs: 50, open: { sweep: true, pollMs: 50 } as never });
});
afterAll(() => api.close());

/** The value of a series; NaN where it is not there. */
async function metric(name: string, labels: Record<string, string> = {}): Promise<number> {
  const { body } = await api.send('GET', '/metrics');
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  const line = (body as string)
    .split('\n')
    .find((one) => (one.startsWith(`${name} `) || one.startsWith(`${name}{`)) && wanted.every((w) => one.includes(w)));
  return Number(line?.split(' ').at(-1));
}

test('queues by what waits in them, and what workers and providers hold', async () => {
  const queue = newId('seen');
  const wallet = await api.wallet(1000);
  for (const job of ['a', 'b', 'c', 'd', 'e']) {
    await api.call('jobs.submit', { wallet, job, queue, price: 1, ...(job === 'e' ? { delayMs: 600_000 } : {}) });
  }
  const { jobs } = await api.call('queues.lease', { queue, count: 3 });
  const keys = jobs.map((one: { job: { id: string } }) => ({ wallet, job: one.job.id, attempt: 1 }));
  await api.call('jobs.handOver', { ...keys[0], upstreamRef: newId('up') });
  await api.call('jobs.fail', { ...keys[1], retryable: false });
  expect(await metric('recoup_queue_ready', { queue })).toBe(1);
  expect(await metric('recoup_queue_later', { queue })).toBe(1);
  expect(await metric('recoup_queue_oldest_due_seconds', { queue })).toBeGreaterThan(0);
  expect(await metric('recoup_jobs_running')).toBe(1);
  expect(await metric('recoup_jobs_waiting')).toBe(1);
  expect(await metric('recoup_dead_letters')).toBe(1);
  expect(await metric('recoup_overdue_seconds')).toBe(0);
  expect(await metric('recoup_transitions_total', { transition: 'job.fail', outcome: 'dead' })).toBe(1);
});

test('open blocks by what ends them, and how blocks end', async () => {
  const [pool, upstream] = [newId('pool'), newId('up')];
  await api.call('upstreams.register', { upstream, pool, provider: newId('provider') });
  const block = { kind: 'rate_limited', policy: 'auto', source: 'retry_after', forMs: 60_000 };
  await api.call('upstreams.report', { upstream, success: false, block });
  const manual = await api.call('upstreams.block', { upstream, reason: 'x' });
  expect(await metric('recoup_blocks_open', { policy: 'auto' })).toBe(1);
  expect(await metric('recoup_blocks_open', { policy: 'manual' })).toBe(1);
  expect(await metric('recoup_blocks_open', { policy: 'snapshot' })).toBe(0);
  expect(await metric('recoup_recoveries_total', { policy: 'auto', outcome: 'success' })).toBeNaN();
  await api.call('upstreams.report', { upstream, success: true });
  await api.call('upstreams.free', { block: manual.block });
  expect(await metric('recoup_blocks_open', { policy: 'auto' })).toBe(0);
  expect(await metric('recoup_recoveries_total', { policy: 'auto', outcome: 'success' })).toBe(1);
  expect(await metric('recoup_recoveries_total', { policy: 'manual', outcome: 'operator' })).toBe(1);
  expect(await metric('recoup_transitions_total', { transition: 'upstream.report', outcome: 'blocked' })).toBe(2);
  expect(await metric('recoup_transitions_total', { transition: 'block.recover' })).toBeNaN();
});

test('sweeps, verification, connections, limits, the build', async () => {
  await until(async () => (await metric('recoup_sweep_timestamp_seconds')) > 0);
  await until(async () => (await metric('recoup_verify_ok')) === 1);
  expect(await metric('recoup_verify_duration_seconds')).toBeGreaterThanOrEqual(0);
  expect(await metric('recoup_verify_problems')).toBe(0);
  expect(await metric('recoup_swept_total', { what: 'failed' })).toBe(0);
  expect(await metric('recoup_http_waiting_max')).toBe(7);
  expect(await metric('recoup_build_info', { version: '0.1.0', node: process.version })).toBe(1);
  expect(await metric('recoup_connections_open', { purpose: 'hot' })).toBeGreaterThan(0);
  expect(await metric('recoup_connections_max', { purpose: 'hot' })).toBe(10);
  expect(await metric('recoup_connections_waiting', { purpose: 'hot' })).toBe(0);
  expect(await metric('recoup_http_request_duration_seconds_count', { operation: 'queues.lease' })).toBeGreaterThan(0);
});

test('before the first verification and pass of the sweeps nothing is said of them', async () => {
  const service = await Api.replica(api.db);
  const text = await (await fetch(`${service.url}/metrics`)).text();
  expect(text).toContain('recoup_build_info');
  expect(text).not.toMatch(/^recoup_(verify|sweep)_\w+(\{.*)? \d/m);
  await service.close();
});

test('a lease that nobody sweeps shows', async () => {
  const idle = await Api.start();
  const { job } = await idle.running();
  await idle.db.query(`update recoup.jobs set lease_until = now() - interval '100 seconds' where id = $1`, [job]);
  const text = await (await fetch(`${idle.service.url}/metrics`)).text();
  expect(Number(/^recoup_overdue_seconds (\S+)$/m.exec(text)?.[1])).toBeGreaterThan(99);
  await idle.close();
});

interface Node {
  'Node Type': string;
  'Relation Name'?: string;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: Node[];
}
const nodes = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(nodes)];

test('a long history costs a scrape nothing: each part walks an index that holds only what is alive', async () => {
  const other = await Api.start();
  await other.db.query(`insert into recoup.jobs (wallet_id, id, queue, state, price, attempt, submitted_at, succeeded_at, succeeded_attempt)
    select 'w' || i % 100, 'old' || i, 'q' || i % 20, 'succeeded', 1, 1, now(), now(), 1 from generate_series(1, 100000) i`);
  await other.db.query('analyze recoup.jobs');
  await other.running();
  await other.dead();
  const plan = await other.db.query(`explain (analyze, buffers, format json) ${figuresSql('recoup')}`);
  const [{ Plan: top }] = plan[0]!['QUERY PLAN'] as [{ Plan: Node }];
  expect(nodes(top).filter((node) => node['Relation Name'] === 'jobs').length).toBeGreaterThan(8);
  expect(nodes(top).filter((node) => node['Relation Name'] === 'jobs' && /Seq Scan/.test(node['Node Type']))).toEqual(
    [],
  );
  // The table has more than 2,000 pages.
  expect(top['Shared Hit Blocks'] + top['Shared Read Blocks']).toBeLessThan(400);
  await other.close();
});
