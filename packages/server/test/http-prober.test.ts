// The prober over HTTP: the credential by its reference, what counts as yes, what could not be told; no secret is kept.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProbeQuestion } from 'recoup';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { httpProber } from '../src/probing/http-prober.ts';
import { Api, newId } from './support/api.ts';

let folder: string;
let answer: { status: number; body: string };
const seen: IncomingMessage[] = [];
const provider = createServer((request, response) => {
  seen.push(request);
  response
    .writeHead(answer.status, { 'content-type': 'application/json', location: 'http://127.0.0.1:1/' })
    .end(answer.body);
});
let url: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'recoup-prober-'));
  await new Promise<void>((done) => provider.listen(0, '127.0.0.1', done));
  const hosts = [`127.0.0.1:${(provider.address() as AddressInfo).port}`];
  await writeFile(join(folder, 'secret'), 'sk-secret-in-file\n');
  process.env.RECOUP_TEST_SECRET = 'sk-secret-in-env';
  const entries = {
    'vault/a': { secret: 'sk-secret-a', hosts },
    'vault/env': { env: 'RECOUP_TEST_SECRET', hosts },
    'vault/file': { file: join(folder, 'secret'), hosts },
    'vault/elsewhere': { secret: 'sk-secret-elsewhere', hosts: ['api.example.com'] },
    'vault/bare': 'sk-secret-bare',
    'vault/gone': { env: 'RECOUP_TEST_NO_SUCH', hosts },
    'vault/unread': { file: join(folder, 'nowhere'), hosts },
    'vault/lines': { secret: 'sk-secret\r\nx: y', hosts },
  };
  await writeFile(join(folder, 'credentials.yaml'), JSON.stringify(entries));
  url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1/{upstream}`;
});
afterAll(async () => {
  provider.close();
  await rm(folder, { recursive: true });
});

const question = (more: Partial<ProbeQuestion> = {}): ProbeQuestion => ({
  ...{ probe: 1, block: 1, upstream: 'a/b', pool: 'p', provider: 'acme', credentialRef: 'vault/a' },
  ...{ model: null, capability: null, kind: 'due', signal: AbortSignal.timeout(10_000), ...more },
});
const ask = (http: object, more: Partial<ProbeQuestion> = {}, allowPrivate = true) =>
  httpProber({ allowPrivate, credentialsFile: join(folder, 'credentials.yaml') })(question(more), { url, ...http });

test('the request carries the credential of the upstream; a yes is a status and a text, anything else is decoded', async () => {
  answer = { status: 200, body: '{"ok":true}' };
  const headers = { authorization: 'Bearer {credential}' };
  expect(await ask({ headers, yes: { status: [200], includes: '"ok":true' } })).toBe('yes');
  expect(seen.at(-1)).toMatchObject({ url: '/v1/a%2Fb', headers: { authorization: 'Bearer sk-secret-a' } });
  answer = { status: 429, body: 'slow' };
  expect(await ask({ headers, yes: { status: [200] } })).toMatchObject({ answer: { status: 429, body: 'slow' } });
  answer = { status: 302, body: '' };
  const before = seen.length;
  expect(await ask({})).toMatchObject({ answer: { status: 302 } });
  expect(seen).toHaveLength(before + 1);
});

test.each([
  ['no reference', { credentialRef: null }, true, /no reference/],
  ['a reference that the file has not', { credentialRef: 'vault/b' }, true, /has none/],
  ['a credential of another host', { credentialRef: 'vault/elsewhere' }, true, /does not name 127\.0\.0\.1/],
  ['a credential without hosts', { credentialRef: 'vault/bare' }, true, /has secret, env or file, and hosts/],
  ['a variable that is not set', { credentialRef: 'vault/gone' }, true, /is not there/],
  ['a file that is not there', { credentialRef: 'vault/unread' }, true, /cannot be read \(ENOENT\)/],
  ['a secret of two lines', { credentialRef: 'vault/lines' }, true, /no line of printable ASCII/],
  ['a credential over plain http', {}, false, /by https only/],
])('%s is what could not be told, and says no secret', async (_, more, allowPrivate, words) => {
  const asking = ask({ headers: { 'x-key': '{credential}' } }, more, allowPrivate);
  await expect(asking).rejects.toThrow(words);
  await expect(asking).rejects.not.toThrow(/sk-secret/);
});

test('a private address is not asked unless that is allowed', async () => {
  const before = seen.length;
  await expect(ask({}, {}, false)).rejects.toThrow(/127\.0\.0\.1 is not a public address/);
  expect(seen).toHaveLength(before);
});

test.each([
  ['vault/env', 'sk-secret-in-env'],
  ['vault/file', 'sk-secret-in-file'],
])('a secret may be in a variable or in a file of its own: %s', async (credentialRef, secret) => {
  answer = { status: 200, body: '' };
  await ask({ headers: { 'x-key': '{credential}' } }, { credentialRef });
  expect(seen.at(-1)!.headers['x-key']).toBe(secret);
});

test('the service asks when a block is due: a yes lets a trial in', async () => {
  const api = await Api.start({ webhooksToPrivate: true, probeCredentials: join(folder, 'credentials.yaml') });
  try {
    answer = { status: 200, body: '{}' };
    const [pool, upstream] = [newId('pool'), newId('upstream')];
    await api.call('probes.set', { pool, http: { url, headers: { 'x-key': '{credential}' }, yes: { status: [200] } } });
    await api.call('upstreams.register', { upstream, pool, provider: 'acme', credentialRef: 'vault/a' });
    const block = { kind: 'rate_limited', policy: 'auto', source: 'retry_after', forMs: 1 };
    await api.call('upstreams.report', { upstream, success: false, block });
    const asked = async () => {
      await api.service.recoup.probes.ask();
      return (await api.call('probes.list', { upstream })).probes;
    };
    await expect.poll(asked, { timeout: 30_000 }).toMatchObject([{ result: 'yes', outcome: 'confirmed' }]);
    expect((await api.call('upstreams.select', { pool, lease: newId('lease') })).outcome).toBe('selected');
    expect(JSON.stringify(await api.call('probes.probers'))).not.toContain('sk-secret');
  } finally {
    await api.close();
  }
});
