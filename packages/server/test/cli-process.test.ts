// The command line as a process: settings and where they come from, what reaches a terminal, start and stop, a plain role.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errors } from 'recoup';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readable, table } from '../src/cli/output.ts';
import { resolveSettings } from '../src/cli/settings.ts';
import { Api } from './support/api.ts';
import { cli } from './support/cli.ts';

let api: Api;
let folder: string;
beforeAll(async () => {
  api = await Api.start();
  folder = await mkdtemp(join(tmpdir(), 'recoup-cli-'));
});
afterAll(async () => {
  await api.close();
  await rm(folder, { recursive: true });
});

test('settings: flags over environment over file over defaults; config says where each came from and shows no secret', async () => {
  const file = join(folder, 'settings.yaml');
  await writeFile(
    file,
    'port: 1\nbind: 127.0.0.2\nschema: filed\nhosts: [a.example, b.example]\nwebhookReplicate: [whsec_c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0]\n',
  );
  const env = {
    RECOUP_PORT: '2',
    RECOUP_SCHEMA: 'environed',
    DATABASE_URL: 'postgres://u:pw@h/d',
    RECOUP_CONFIG: file,
  };
  const { values, from } = resolveSettings({ port: '3' }, env);
  expect(values).toMatchObject({
    port: 3,
    schema: 'environed',
    bind: '127.0.0.2',
    hosts: ['a.example', 'b.example'],
    pollMs: 2000,
  });
  expect(from).toMatchObject({ port: 'flag', schema: 'environment', bind: 'file', hosts: 'file', pollMs: 'default' });
  const { out } = await cli(['--json', 'config', '--port', '3'], env);
  expect(JSON.parse(out)).toContainEqual(expect.objectContaining({ setting: 'bind', value: '127.0.0.2', from: file }));
  expect(out).not.toMatch(/pw@|whsec_c2Vj/);
  for (const wrong of ['pollMs: many\n', 'prot: 1\n', 'a: [\n', 'pooler: maybe\n', '- 1\n', '--- {}\n--- {}\n']) {
    await writeFile(file, wrong);
    expect(await cli(['config'], env), wrong).toMatchObject({ code: 2 });
  }
  expect(await cli(['config', '--config', join(folder, 'absent.yaml')], {})).toMatchObject({ code: 2 });
});

// A parser that recurses would exhaust the stack, where V8 may have to end the process instead of throwing.
test.each([
  ['lists', '['.repeat(100_000)],
  ['lists of lists', '- '.repeat(5000)],
  ['keys', '? '.repeat(5000)],
  ['names', '{a: '.repeat(5000)],
  ['anchors', '[&a '.repeat(5000)],
  ['indents', Array.from({ length: 500 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')],
])('a file nested deep in %s is refused in words', async (_, text) => {
  const file = join(folder, 'deep.yaml');
  await writeFile(file, text);
  const refused = { code: 2, err: expect.stringContaining('must be nested at most 50 deep') };
  expect(await cli(['config', '--config', file], {})).toMatchObject(refused);
  expect(await cli(['decode', file, '--rules', file], {})).toMatchObject(refused);
});

test('tables leave out what is empty, and no text of somebody’s reaches the terminal with control characters', () => {
  expect(
    table([
      { a: 1, b: null, c: 'x' },
      { a: 22, b: null, c: null },
    ]),
  ).toBe('a   c\n1   x\n22');
  expect(readable([{ a: 'evil \u001b[2J' }])).toBe('a\nevil \ufffd[2J');
  expect(readable({ jobs: [] })).toBe('(none)');
});

describe('start', () => {
  const main = join(import.meta.dirname, '../bin/recoup.mjs');
  const start = (...argv: string[]) => {
    const child = spawn(process.execPath, [main, 'start', '--port', '0', ...argv], {
      env: { ...process.env, DATABASE_URL: api.db.url },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let err = '';
    let out = '';
    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      err += chunk;
    });
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      out += chunk;
    });
    const ended = new Promise<number | null>((done) => child.on('close', done));
    return { child: child as ChildProcess, ended, text: () => err, logs: () => out };
  };
  const urlOf = async ({ text, ended }: ReturnType<typeof start>) => {
    for (;;) {
      const url = /Recoup serves (\S+)/.exec(text())?.[1];
      if (url) return url;
      const over = await Promise.race([ended, new Promise((done) => setTimeout(done, 20, 'running'))]);
      if (over !== 'running') throw new Error(text());
    }
  };

  test('serves until SIGTERM, then stops in order; its log names no address and no content', async () => {
    const started = start();
    const url = await urlOf(started);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    await fetch(`${url}/v1/webhooks/runpod/secret-token`, {
      method: 'POST',
      body: '{"x":"content"}',
      headers: { 'content-type': 'application/json' },
    });
    started.child.kill('SIGTERM');
    expect(await started.ended, started.text()).toBe(0);
    expect(started.logs()).toContain('"operation":"webhooks.takeSigned"');
    expect(started.logs()).not.toMatch(/secret-token|content"/);
    expect(started.text()).not.toMatch(/Warning/);
  });

  test('refuses to start where it would serve strangers without a key', async () => {
    const started = start('--bind', '0.0.0.0');
    expect(await started.ended).toBe(errors.keys_required.exit);
    expect(started.text()).toContain('keys_required');
    // The command that it names makes the key in the database that was meant.
    expect(started.text()).toMatch(/keys create --name me --scopes admin --database-url … .*--schema recoup/);
  });
});

test('a role that is no superuser and owns only its schema: migrate, serve, keys, metrics, verify', async () => {
  const role = `plain_${process.pid}_${Date.now().toString(36)}`;
  await api.db.query(`create role ${role} login password 'plain' nosuperuser nocreatedb nocreaterole`);
  await api.db.query(`create schema ${role} authorization ${role}`);
  const url = new URL(api.db.url);
  url.username = role;
  url.password = 'plain';
  const env = { DATABASE_URL: url.href, RECOUP_SCHEMA: role };
  expect((await cli(['migrate'], env)).code).toBe(0);
  expect((await cli(['doctor'], env)).code).toBe(0);
  expect((await cli(['keys', 'create', '--name', 'n', '--scopes', 'app'], env)).out).toMatch(/rcp_/);
  const service = await Api.replica({ url: url.href }, { open: { connection: url.href, schema: role, sweep: false } });
  const put = (path: string, body: string) =>
    fetch(`${service.url}${path}`, { method: 'PUT', body, headers: { 'content-type': 'application/json' } });
  expect((await put('/v1/wallets/w', '{"customer":"c"}')).status).toBe(201);
  expect((await put('/v1/wallets/w/jobs/j', '{"queue":"q","price":0}')).status).toBe(201);
  const leases = { method: 'POST', body: '{"waitMs":1000}', headers: { 'content-type': 'application/json' } };
  const leased = (await (await fetch(`${service.url}/v1/queues/q/leases`, leases)).json()) as { jobs: unknown[] };
  expect(leased.jobs).toHaveLength(1);
  expect(await (await fetch(`${service.url}/metrics`)).text()).toMatch(/^recoup_database_up 1$/m);
  await service.close();
  expect((await cli(['verify'], env)).code).toBe(0);
  await api.db.query(`drop owned by ${role} cascade`);
  await api.db.query(`drop role ${role}`);
});
