// The console's side of the server: sessions and what they may do, its files with their headers, and that the API stays what it is.
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Service } from '../src/service.ts';
import { SESSION_MS } from '../src/sessions/sessions.ts';
import { Api, type Json } from './support/api.ts';

const PATH = '/console/session';
let api: Api;
let other: Service;
const secrets: Record<string, string> = {};
beforeAll(async () => {
  api = await Api.start({ requireKeys: true });
  other = await Api.replica(api.db, { requireKeys: true });
  for (const scope of ['admin', 'viewer', 'support', 'operator'] as const)
    secrets[scope] = (await api.service.keys.create({ name: scope, scopes: [scope] })).secret;
});
afterAll(async () => {
  await other.close();
  await api.close();
});

const own = () => ({ origin: api.service.url });
const open = (given: object, headers: Record<string, string> = own()) =>
  api.send('POST', PATH, JSON.stringify(given), headers);
const cookieOf = async (scope: string) =>
  (await open({ key: secrets[scope] })).headers.get('set-cookie')!.split(';')[0]!;

test('a key is exchanged for a cookie that no script reads, no other site sends and that ends', async () => {
  const answer = await open({ key: secrets.viewer });
  expect(answer.status).toBe(201);
  const cookie = answer.headers.get('set-cookie')!;
  expect(cookie).toMatch(/^recoup_[0-9a-f]{12}=[\w-]+\.[\w-]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/);
  expect(cookie).not.toContain(secrets.viewer);
  const { body } = await api.send('GET', PATH, undefined, { cookie });
  expect(body).toMatchObject({ name: 'viewer', scopes: ['viewer'], customer: null });
  expect(Date.parse(body.expiresAt)).toBeLessThanOrEqual(Date.now() + SESSION_MS);
  // Over TLS, which a proxy ends: never without it.
  const secure = await open({ key: secrets.viewer }, { ...own(), 'x-forwarded-proto': 'https' });
  expect(secure.headers.get('set-cookie')).toMatch(/; Secure$/);
  const ended = await api.send('DELETE', PATH, undefined, { cookie, ...own() });
  expect(ended.headers.get('set-cookie')).toMatch(/^recoup_\w+=; .*Max-Age=0/);
});

test('every replica knows the session, and it may what the key may', async () => {
  const wallet = await api.service.recoup.wallets.open({ wallet: 'w', customer: 'c' });
  expect(wallet.outcome).toBe('opened');
  const cookie = await cookieOf('support');
  for (const { url } of [api.service, other]) {
    const headers = { cookie, origin: url, 'content-type': 'application/json' };
    expect((await fetch(`${url}/v1/wallets/w/balance`, { headers })).status).toBe(200);
    const redrive = await fetch(`${url}/v1/dead-letters/redrive`, { method: 'POST', headers, body: '{"confirm":0}' });
    expect([redrive.status, ((await redrive.json()) as Json).code]).toEqual([403, 'forbidden']);
    const keys = await fetch(`${url}/v1/keys`, { headers });
    expect(keys.status).toBe(403);
  }
});

test('a session changes something only from our own pages', async () => {
  const cookie = await cookieOf('operator');
  const body = JSON.stringify({ customer: 'c' });
  const from = (headers: Record<string, string>) => api.send('PUT', '/v1/wallets/csrf', body, { cookie, ...headers });
  for (const headers of [
    {},
    { origin: 'https://evil.example' },
    { 'sec-fetch-site': 'cross-site' },
    { origin: 'null' },
  ]) {
    const refused = await from(headers as Record<string, string>);
    expect([refused.status, refused.body.code]).toEqual([403, 'foreign_origin']);
  }
  expect((await api.send('GET', '/v1/wallets/csrf/balance', undefined, { cookie })).status).toBe(404);
  expect((await from(own())).status).toBe(201);
  for (const method of ['POST', 'DELETE']) {
    const refused = await api.send(
      method,
      PATH,
      method === 'POST' ? JSON.stringify({ key: secrets.admin }) : undefined,
      {},
    );
    expect(refused.body.code).toBe('foreign_origin');
  }
});

test('what was not sealed here is nobody, and a revoked key ends its sessions', async () => {
  const { secret, key } = await api.service.keys.create({ name: 'short', scopes: ['viewer'] });
  const cookie = (await open({ key: secret })).headers.get('set-cookie')!.split(';')[0]!;
  const [name, value] = cookie.split('=') as [string, string];
  const [text, signature] = value.split('.') as [string, string];
  const forged = Buffer.from(JSON.stringify({ key: key.id, expiresAt: Date.now() + 9e9 })).toString('base64url');
  const flipped = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
  for (const wrong of [
    '',
    text,
    `${text}.`,
    `${text}.${flipped}`,
    `${forged}.${signature}`,
    `${value}.x`,
    `.${signature}`,
  ]) {
    const refused = await api.send('GET', '/v1/info', undefined, { cookie: `${name}=${wrong}` });
    expect([wrong, refused.body.code]).toEqual([wrong, 'unauthorized']);
  }
  expect((await api.send('GET', '/v1/info', undefined, { cookie })).status).toBe(200);
  await api.service.keys.revoke(key.id);
  expect((await api.send('GET', '/v1/info', undefined, { cookie })).body.code).toBe('unauthorized');
});

test('a link opens one session, and only where it was printed', async () => {
  const link = api.service.sessions.link()!;
  const opened = await open({ link });
  expect(opened.status).toBe(201);
  expect((await open({ link })).body.code).toBe('unauthorized');
  const cookie = opened.headers.get('set-cookie')!.split(';')[0]!;
  const { body } = await api.send('GET', PATH, undefined, { cookie });
  expect(body).toMatchObject({ name: null, scopes: ['admin'] });
  const beyond = await Api.replica(api.db, { bind: '0.0.0.0' });
  try {
    expect(beyond.sessions.link()).toBeNull();
    const port = new URL(beyond.url).port;
    expect((await fetch(`http://127.0.0.1:${port}/v1/info`, { headers: { cookie } })).status).toBe(401);
  } finally {
    await beyond.close();
  }
});

test('after ten keys that were none the next try waits', async () => {
  const replica = await Api.replica(api.db, { requireKeys: true });
  try {
    const guess = (key: unknown) =>
      fetch(`${replica.url}${PATH}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: replica.url },
        body: JSON.stringify({ key }),
      });
    for (let n = 0; n < 10; n++) expect((await guess(`rcp_${n}`)).status).toBe(401);
    const refused = await guess(secrets.admin);
    expect([refused.status, ((await refused.json()) as Json).code]).toEqual([429, 'rate_limited']);
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    for (const wrong of [undefined, 7, {}, 'x'.repeat(300)]) expect((await guess(wrong)).status).toBe(400);
  } finally {
    await replica.close();
  }
});

const visit = { accept: 'text/html,application/xhtml+xml', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };

/** As a browser asks: `fetch` of Node says by itself that it is no navigation. */
const navigate = (path: string, headers: Record<string, string>) =>
  new Promise<[number, string]>((resolve, reject) => {
    const asked = httpRequest(`${api.service.url}${path}`, { headers }, (response) => {
      response.resume();
      resolve([response.statusCode!, response.headers['content-type']!]);
    });
    asked.on('error', reject).end();
  });

test('any address of a page gives the shell, under a policy without anything inline or foreign', async () => {
  for (const path of ['/', '/wallets/a%2Fb', '/no-such-page']) {
    const { status, headers, body } = await api.send('GET', path, undefined, visit);
    expect([path, status, headers.get('content-type')]).toEqual([path, 200, 'text/html; charset=utf-8']);
    expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
    expect(headers.get('content-security-policy')).not.toContain('unsafe');
    expect(headers.get('cache-control')).toBe('no-cache');
    expect(body).not.toMatch(/<script(?![^>]* src=)|style=|https?:\/\//);
  }
  // Somebody follows a link from a chat: a page, but nothing of the API, and in no frame.
  const followed = { ...visit, 'sec-fetch-site': 'cross-site' };
  expect(await navigate('/wallets/a', followed)).toEqual([200, 'text/html; charset=utf-8']);
  expect(await navigate('/v1/info', followed)).toEqual([403, 'application/problem+json']);
  expect(await navigate('/', { ...followed, 'sec-fetch-dest': 'iframe' })).toEqual([403, 'application/problem+json']);
});

test('files with a hash in their name are kept for ever, and are small', async () => {
  const { body: shell } = await api.send('GET', '/', undefined, visit);
  const names = [...(shell as string).matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, name]) => name!);
  expect(names.length).toBeGreaterThan(1);
  for (const name of names) {
    const plain = await api.send('GET', name, undefined, { 'accept-encoding': 'identity' });
    expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    const gzipped = await fetch(`${api.service.url}${name}`, { headers: { 'accept-encoding': 'gzip' } });
    expect(gzipped.headers.get('content-encoding')).toBe('gzip');
    expect(await gzipped.text()).toBe(plain.body);
  }
});

test('the API stays what it is: problems for whoever asks, also from a browser', async () => {
  for (const path of [
    '/v1/nothing',
    '/v1',
    '/console/nothing',
    '/errors/nothing',
    '/readyz/x',
    '/assets/..%2f..%2fpackage.json',
  ]) {
    const answer = await api.send('GET', path, undefined, path.startsWith('/assets') ? { accept: '*/*' } : visit);
    expect([path, answer.status, answer.headers.get('content-type')]).toEqual([path, 404, 'application/problem+json']);
  }
  expect((await api.send('GET', '/', undefined, { accept: 'application/json' })).status).toBe(404);
  expect((await api.send('PUT', PATH, '{}', own())).status).toBe(405);
});
