// The service as processes: how it stops, many at once on an empty database, a database that goes and comes back.
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errors, open } from 'recoup';
import { type TestDatabase, testDatabase } from 'recoup/testing';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { CuttingProxy } from '../../recoup/test/support/proxy.ts';
import { until } from '../../recoup/test/support/waiting.ts';
import { type Embedded, startEmbedded } from '../src/embedded/embedded.ts';
import type { Json } from './support/api.ts';
import { startServer } from './support/server-process.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase(inject('servers')[0]!.url);
});
afterAll(() => db.drop());

interface Answered {
  status: number;
  headers: IncomingMessage['headers'];
  body: Json;
}

/** A request on a connection that is kept open. */
function ask(agent: Agent, url: string, method: string, path: string, body?: unknown): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' };
    const sent = httpRequest(`${url}${path}`, { agent, method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode!, headers: response.headers, body: text === '' ? '' : parsed(text) }),
      );
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
const parsed = (text: string): Json => (text.startsWith('{') ? JSON.parse(text) : text);
const agents: Agent[] = [];
const newAgent = () => {
  const agent = new Agent({ keepAlive: true });
  agents.push(agent);
  return agent;
};
afterAll(() => {
  for (const agent of agents) agent.destroy();
});
const metric = (text: string, name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);

/** A transaction that holds a wallet until it is told to go on. */
async function holding(url: string, wallet: string) {
  const recoup = await open({ connection: url, sweep: false });
  let go = () => {};
  const gone = new Promise<void>((done) => {
    go = done;
  });
  let held = () => {};
  const isHeld = new Promise<void>((done) => {
    held = done;
  });
  const over = recoup.transaction(async (inside) => {
    await inside.wallets.change(wallet, { overdraftLimit: 1 });
    held();
    await gone;
  });
  await isHeld;
  return async () => {
    go();
    await over;
    await recoup.close();
  };
}
const waitingForLock = async () => {
  const sql = `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  return (await db.query(sql))[0]?.n !== 0;
};

test('SIGTERM: long polls answer, what runs finishes, kept and silent connections close, and the exit code is 0', async () => {
  const server = await startServer(db.url, { argv: ['--poll-ms', '1000'] });
  const agent = newAgent();
  await ask(agent, server.url, 'PUT', '/v1/wallets/stops', { customer: 'c' });
  const release = await holding(db.url, 'stops');
  const submit = ask(newAgent(), server.url, 'PUT', '/v1/wallets/stops/jobs/j', { queue: 'q', price: 0 });
  const poll = ask(newAgent(), server.url, 'POST', '/v1/queues/none/leases', { waitMs: 60_000 });
  await until(waitingForLock);
  await until(async () => metric((await ask(agent, server.url, 'GET', '/metrics')).body, 'recoup_http_waiting') === 1);
  const { hostname, port } = new URL(server.url);
  const silent = connect(Number(port), hostname);
  await once(silent, 'connect');
  server.signal('SIGTERM');
  // Long before its time-out, and while a request is still running.
  await once(silent, 'close', { signal: AbortSignal.timeout(30_000) });
  expect(await poll).toMatchObject({ status: 200, body: { jobs: [] }, headers: { connection: 'close' } });
  await release();
  expect(await submit).toMatchObject({ status: 201, headers: { connection: 'close' } });
  expect(await server.ended).toBe(0);
  expect(server.told()).toContain('Stopping');
});

test('with a stop delay it is unready first, and serves on until then', async () => {
  const server = await startServer(db.url, { argv: ['--stop-delay-ms', '1500'] });
  const agent = newAgent();
  expect(await ask(agent, server.url, 'GET', '/readyz')).toMatchObject({ status: 200 });
  server.signal('SIGTERM');
  await until(async () => (await ask(agent, server.url, 'GET', '/readyz')).status === 503);
  // On new connections too: each answer asks for its connection to be closed.
  const served = await ask(newAgent(), server.url, 'PUT', '/v1/wallets/late', { customer: 'c' });
  expect(served).toMatchObject({ status: 201, headers: { connection: 'close' } });
  expect((await ask(agent, server.url, 'GET', '/livez')).status).toBe(200);
  expect(await server.ended).toBe(0);
});

test('a second SIGTERM stops now, whatever runs', async () => {
  const server = await startServer(db.url);
  await ask(newAgent(), server.url, 'PUT', '/v1/wallets/now', { customer: 'c' });
  const release = await holding(db.url, 'now');
  const submit = ask(newAgent(), server.url, 'PUT', '/v1/wallets/now/jobs/j', { queue: 'q', price: 0 });
  submit.catch(() => {});
  await until(waitingForLock);
  server.signal('SIGTERM');
  await until(() => server.told().includes('Stopping'));
  server.signal('SIGTERM');
  expect(await server.ended).toBe(errors.closed.exit);
  await expect(submit).rejects.toThrow();
  await release();
});

test('four replicas start at once on an empty database: one migrates, all serve', async () => {
  const name = `empty_${process.pid}_${Date.now()}`;
  await db.query(`create database ${name}`);
  const url = new URL(db.url);
  url.pathname = `/${name}`;
  const servers = await Promise.all([1, 2, 3, 4].map(() => startServer(url.href)));
  for (const [index, server] of servers.entries()) {
    const agent = newAgent();
    expect((await ask(agent, server.url, 'GET', '/readyz')).status).toBe(200);
    const opened = await ask(agent, server.url, 'PUT', '/v1/wallets/w', { customer: 'c' });
    expect(opened.body.outcome).toBe(index === 0 ? 'opened' : 'duplicate');
  }
  for (const server of servers) server.signal('SIGTERM');
  expect(await Promise.all(servers.map((server) => server.ended))).toEqual([0, 0, 0, 0]);
  await db.query(`drop database ${name} with (force)`);
});

test('while the database is gone it is alive and unready, answers 503, says so in its metrics, and heals', async () => {
  const proxy = await CuttingProxy.before(db.url);
  const server = await startServer(proxy.url, { argv: ['--poll-ms', '100'] });
  const agent = newAgent();
  const statusOf = async (path: string) => (await ask(agent, server.url, 'GET', path)).status;
  expect(await statusOf('/readyz')).toBe(200);
  proxy.down();
  await until(async () => (await statusOf('/readyz')) === 503);
  expect(await statusOf('/livez')).toBe(200);
  const refused = await ask(agent, server.url, 'PUT', '/v1/wallets/gone', { customer: 'c' });
  expect(refused).toMatchObject({
    status: 503,
    body: { code: 'database_unavailable' },
    headers: { 'retry-after': '1' },
  });
  const { body } = await ask(agent, server.url, 'GET', '/metrics');
  expect(metric(body, 'recoup_database_up')).toBe(0);
  await until(async () =>
    /^recoup_background_errors_total\{code="database_unavailable"\} [1-9]/m.test(
      (await ask(agent, server.url, 'GET', '/metrics')).body,
    ),
  );
  proxy.up();
  await until(async () => (await statusOf('/readyz')) === 200);
  expect((await ask(agent, server.url, 'PUT', '/v1/wallets/gone', { customer: 'c' })).status).toBe(201);
  server.signal('SIGTERM');
  expect(await server.ended).toBe(0);
  await proxy.close();
});

test('PostgreSQL restarts under a running server: it heals, a long poll goes on, and a job is charged once', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'recoup-restart-'));
  let postgres: Embedded = await startEmbedded({ dataDir });
  const port = postgres.port;
  const server = await startServer(postgres.url, { argv: ['--poll-ms', '200'] });
  const agent = newAgent();
  const put = (path: string, body: unknown) => ask(agent, server.url, 'PUT', path, body);
  await put('/v1/wallets/w', { customer: 'c' });
  await put('/v1/wallets/w/grants/g', { amount: 10 });
  await postgres.stop();
  await until(async () => (await ask(agent, server.url, 'GET', '/readyz')).status === 503);
  const job = { queue: 'q', price: 4 };
  expect((await put('/v1/wallets/w/jobs/j', job)).status).toBe(503);
  postgres = await startEmbedded({ dataDir, port });
  await until(async () => (await ask(agent, server.url, 'GET', '/readyz')).status === 200);
  const poll = ask(newAgent(), server.url, 'POST', '/v1/queues/q/leases', { waitMs: 60_000 });
  expect((await put('/v1/wallets/w/jobs/j', job)).status).toBe(201);
  expect((await put('/v1/wallets/w/jobs/j', job)).body).toMatchObject({ outcome: 'duplicate', balance: 6 });
  expect((await poll).body.jobs).toMatchObject([{ job: { id: 'j', attempt: 1 } }]);
  server.signal('SIGTERM');
  expect(await server.ended).toBe(0);
  await postgres.stop();
  await rm(dataDir, { recursive: true, force: true });
});

test('its own PostgreSQL that dies is started again: it heals, says so, and nothing acknowledged is lost', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'recoup-keep-'));
  const server = await startServer('', {
    argv: ['--data-dir', dataDir, '--poll-ms', '200'],
    env: { DATABASE_URL: undefined },
  });
  const agent = newAgent();
  const put = (path: string, body: unknown) => ask(agent, server.url, 'PUT', path, body);
  await put('/v1/wallets/w', { customer: 'c' });
  await put('/v1/wallets/w/grants/g', { amount: 10 });
  expect((await put('/v1/wallets/w/jobs/j', { queue: 'q', price: 4 })).status).toBe(201);
  const folder = await readFile(join(dataDir, 'location'), 'utf8').catch(() => dataDir);
  const postmaster = async () =>
    Number((await readFile(join(folder.trim(), 'data', 'postmaster.pid'), 'utf8')).split('\n')[0]);
  for (let deaths = 1; deaths <= 2; deaths++) {
    const pid = await postmaster();
    process.kill(pid, 'SIGKILL');
    await until(() => server.told().split('is there again').length === deaths + 1);
    await until(async () => (await ask(agent, server.url, 'GET', '/readyz')).status === 200);
    expect(await postmaster()).not.toBe(pid);
    expect(server.told()).toContain(`PostgreSQL (process ${pid}) ended by itself`);
  }
  expect((await put('/v1/wallets/w/jobs/j', { queue: 'q', price: 4 })).body).toMatchObject({
    outcome: 'duplicate',
    balance: 6,
  });
  const leased = await ask(agent, server.url, 'POST', '/v1/queues/q/leases', { waitMs: 60_000 });
  expect(leased.body.jobs).toMatchObject([{ job: { id: 'j', attempt: 1 } }]);
  // Who comes to the same folder is told the address, also after a restart.
  const second = await startServer('', { argv: ['--data-dir', dataDir], env: { DATABASE_URL: undefined } }).catch(
    (e) => e,
  );
  expect(second).toMatchObject({ exitCode: 3, message: expect.stringContaining(`--server ${server.url}`) });
  const last = await postmaster();
  server.signal('SIGTERM');
  expect(await server.ended).toBe(0);
  expect(() => process.kill(last, 0)).toThrow('ESRCH');
  await rm(dataDir, { recursive: true, force: true });
});
