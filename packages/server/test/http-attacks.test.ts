// What an attacker tries over HTTP: ambiguous requests, answers in the wrong place, memory, probes, other people's wallets.
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../recoup/test/support/waiting.ts';
import { operations } from '../src/operations/operations.ts';
import { Api, type Json, newId } from './support/api.ts';

let api: Api;
beforeAll(async () => {
  api = await Api.start();
});
afterAll(async () => {
  expect((await api.service.recoup.verify()).problems).toEqual([]);
  await api.close();
});

/** What a socket gets back for these bytes until the server closes it; `more` is sent once `after` holds. */
function bytes(
  text: string,
  more = '',
  after: (got: () => string) => Promise<unknown> = async () => {},
  url = api.service.url,
): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    let got = '';
    const socket = connect(Number(port), hostname, async () => {
      socket.write(text, 'latin1');
      await after(() => got);
      if (more !== '' && socket.writable) socket.write(more, 'latin1');
    });
    socket.setEncoding('utf8').on('data', (chunk) => {
      got += chunk;
    });
    socket.on('error', () => {}).on('close', () => resolve(got));
  });
}

const smuggled = (wallet: string) =>
  `PUT /v1/wallets/${wallet} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 16\r\nconnection: close\r\n\r\n{"customer":"x"}`;

describe('requests that two programs read differently', () => {
  const framings = [
    'content-length: 4\r\ntransfer-encoding: chunked',
    'transfer-encoding: chunked\r\ncontent-length: 4',
    'content-length: 0\r\ncontent-length: 4',
    'content-length: 0, 4',
    'content-length: +0',
    'content-length: 0x0',
    'transfer-encoding: xchunked',
    'transfer-encoding: chunked, identity',
    'transfer-encoding : chunked',
    'content-length : 0',
    'transfer-encoding:\u000bchunked',
    'x: y\r\n content-length: 0',
    'x: y\ncontent-length: 0',
  ];

  test.each(framings)('%j is refused, and what stands behind it is no request', async (framing) => {
    const wallet = newId('smuggled');
    const post = `POST /v1/dead-letters/redrive HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${framing}\r\n\r\n`;
    const got = await bytes(`${post}0\r\n\r\n${smuggled(wallet)}`);
    expect(got.match(/HTTP\/1\.1 /g) ?? []).toHaveLength(1);
    expect(got).toMatch(/^HTTP\/1\.1 400 /);
    expect(got).toContain('"field":"request"');
    await api.refused('wallets.balance', 'no_wallet', { wallet });
  });

  test('a host that is missing or given twice is refused as a problem', async () => {
    const twice = await bytes(
      'GET /livez HTTP/1.1\r\nhost: localhost\r\nHost: evil.example\r\nconnection: close\r\n\r\n',
    );
    expect(twice).toMatch(/^HTTP\/1\.1 400 /);
    expect(twice).toContain('"field":"host"');
    const missing = await bytes('GET /livez HTTP/1.1\r\nconnection: close\r\n\r\n');
    expect(missing).toMatch(/^HTTP\/1\.1 421 /);
    expect(missing).toContain('"code":"wrong_host"');
  });

  test('an expectation and an upgrade that nobody knows are passed over', async () => {
    for (const header of [
      'connection: close\r\nexpect: the-unexpected',
      'connection: close, upgrade\r\nupgrade: h2c',
    ]) {
      const got = await bytes(`GET /nope HTTP/1.1\r\nhost: localhost\r\n${header}\r\n\r\n`);
      expect(got).toContain('"code":"not_found"');
    }
  });

  test('what is broken behind a request is never answered in its place', async () => {
    const queue = newId('q');
    const poll = `POST /v1/queues/${queue}/leases HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 16\r\n\r\n{"waitMs":60000}`;
    const waiting = (count: number) =>
      until(async () => (await api.send('GET', '/metrics')).body.includes(`recoup_http_waiting ${count}`));
    expect(await bytes(poll, 'no HTTP at all\r\n\r\n', () => waiting(1))).toBe('');
    await waiting(0);
    const begun = (got: () => string) => until(() => got().includes('retry: 2000'));
    const stream = await bytes('GET /v1/feed/stream HTTP/1.1\r\nhost: localhost\r\n\r\n', 'no HTTP\r\n\r\n', begun);
    expect(stream.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    await waiting(0);
  });

  test('answers of any kind name their request and are not kept', async () => {
    const answers = await Promise.all([
      bytes('no HTTP\r\n\r\n'),
      bytes(`GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`),
      bytes('GET /v1/wallets/%zz/balance HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n'),
      bytes('GET /nope HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n'),
    ]);
    for (const answer of answers) {
      const [, id] = /\r\nx-request-id: (\S+)\r\n/.exec(answer) ?? [];
      expect(answer).toContain(`"requestId":"${id}"`);
      expect(answer).toMatch(/\r\ncache-control: no-store\r\n/);
      expect(answer).toMatch(/\r\ncontent-type: application\/problem\+json\r\n/);
    }
  });
});

describe('memory and probes', () => {
  test('bodies of senders who proved nothing never fill the room of the others', async () => {
    const service = await Api.replica(api.db, { server: { maxHeldBytes: 1_000_000, requestTimeoutMs: 3000 } });
    const { port } = new URL(service.url);
    // Each stops before its end: its bytes stay.
    const hook = `POST /v1/webhooks/generic HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 300000\r\n\r\n${'x'.repeat(200_000)}`;
    const stopped = connect(Number(port), '127.0.0.1', () => stopped.write(hook));
    await until(async () => stopped.bytesWritten >= hook.length);
    const send = (path: string, method: string, body: string) =>
      fetch(`${service.url}${path}`, { method, body, headers: { 'content-type': 'application/json' } });
    const second = await until(async () => {
      const answer = await send('/v1/webhooks/generic', 'POST', JSON.stringify({ x: 'x'.repeat(100_000) }));
      return answer.status === 429 ? answer : undefined;
    });
    expect(second.headers.get('retry-after')).toBe('1');
    expect(await second.json()).toMatchObject({ code: 'rate_limited' });
    const note = 'x'.repeat(400_000);
    expect((await send(`/v1/wallets/${newId('w')}`, 'PUT', JSON.stringify({ customer: 'c', note }))).status).toBe(400);
    const wallet = newId('w');
    expect((await send(`/v1/wallets/${wallet}`, 'PUT', '{"customer":"c"}')).status).toBe(201);
    expect(
      (await send(`/v1/wallets/${wallet}`, 'PUT', JSON.stringify({ customer: 'c', note: note.repeat(3) }))).status,
    ).toBe(429);
    // What was refused or answered gives its room back.
    stopped.destroy();
    await until(
      async () =>
        (await send('/v1/webhooks/generic', 'POST', JSON.stringify({ x: 'x'.repeat(100_000) }))).status === 401,
    );
    await service.close();
  });

  test('probes at once cost one look at the database', async () => {
    const before = await sessions();
    const answers = await Promise.all(Array.from({ length: 200 }, () => api.send('GET', '/readyz')));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const caller = api.service.recoup.connections().find(({ purpose }) => purpose === 'caller');
    expect(caller!.waiting).toBe(0);
    expect((await sessions()) - before).toBeLessThan(200);
  });

  const sessions = async () =>
    Number(
      (await api.db.query(`select xact_commit::int as n from pg_stat_database where datname = current_database()`))[0]!
        .n,
    );
});

describe('a key that is bound to a customer', () => {
  test('hears of no wallet of others by any address: other cases, encodings, queries, bodies', async () => {
    const service = await Api.replica(api.db, { requireKeys: true });
    const foreign = newId('Foreign');
    await api.call('wallets.open', { wallet: foreign, customer: 'bob' });
    await api.call('wallets.grant', { wallet: foreign, key: 'k', amount: 47_114_711_471 });
    await api.call('jobs.submit', {
      wallet: foreign,
      job: 'secret-job',
      queue: 'q',
      price: 1,
      payload: 'secret-payload',
    });
    await api.call('wallets.open', { wallet: 'own-of-ann', customer: 'ann' });
    const { secret } = await service.keys.create({ name: 'ann', scopes: ['viewer'], customer: 'ann' });
    const encoded = [...foreign].map((one) => `%${one.charCodeAt(0).toString(16)}`).join('');
    const names = [
      foreign,
      encoded,
      foreign.toLowerCase(),
      `own-of-ann%2f..%2f${foreign}`,
      `${foreign}%00`,
      `${foreign}%20`,
      `./${foreign}`,
      `own-of-ann/../${foreign}`,
    ];
    for (const { method, path, name, scopes } of operations) {
      if (scopes === 'signature' || name === 'feed.stream') continue;
      for (const wallet of names) {
        const at = path
          .replace('{wallet}', wallet)
          .replace('{job}', 'secret-job')
          .replaceAll(/\{\w+\}/g, 'x');
        for (const query of ['', `?wallet=${foreign}`, '?customer=ann']) {
          const body =
            method === 'GET' || method === 'DELETE' ? undefined : JSON.stringify({ wallet: foreign, customer: 'ann' });
          const answer = await rawly(service.url, method, `${at}${query}`, secret, body);
          expect(answer.status, `${method} ${at}${query}`).toBeGreaterThanOrEqual(400);
          expect(answer.status).toBeLessThan(500);
          expect(answer.text).not.toMatch(/471147114|secret-payload/);
        }
      }
    }
    await service.close();
  });

  async function rawly(url: string, method: string, path: string, key: string, body: string | undefined) {
    const content = body === undefined ? '' : `content-type: application/json\r\ncontent-length: ${body.length}\r\n`;
    const text = await bytes(
      `${method} ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer ${key}\r\n${content}\r\n${body ?? ''}`,
      '',
      undefined,
      url,
    );
    return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]), text };
  }
});

test('the log stays one JSON line per request, whatever its headers and addresses hold', async () => {
  const lines: string[] = [];
  const logger = { level: 'info', stream: { write: (line: string) => void lines.push(line) } };
  const service = await Api.replica(api.db, { server: { logger } });
  for (const path of ['/v1/wallets/a%0a%7b%22level%22:60%7d/balance', '/%1b[31m', '/v1/queues?x=%0d%0aset-cookie:y']) {
    await fetch(`${service.url}${path}`, {
      headers: { 'x-request-id': 'a b', traceparent: '\u00ff', 'user-agent': '{"a":"\u001b"'.replace('\u001b', 'x') },
    });
  }
  await service.close();
  const answered = lines.filter((line) => line.includes('"answered"'));
  expect(answered).toHaveLength(3);
  for (const line of lines) {
    expect(line.trimEnd()).not.toContain('\n');
    expect((JSON.parse(line) as Json).level).toBeLessThan(60);
    expect(line).not.toContain('set-cookie');
  }
});
