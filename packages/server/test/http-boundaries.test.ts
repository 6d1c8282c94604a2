// What must not leave its place: other people's wallets by a key that is bound, and headers in the log.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operations } from '../src/operations/operations.ts';
import { Api, type Json, newId } from './support/api.ts';
import { bytes } from './support/raw.ts';

let api: Api;
beforeAll(async () => {
  api = await Api.start();
});
afterAll(async () => {
  expect((await api.service.recoup.verify()).problems).toEqual([]);
  await api.close();
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
          // The list answers with the customer's own, and with nobody else's.
          const least = name === 'wallets.list' ? 200 : 400;
          expect(answer.status, `${method} ${at}${query}`).toBeGreaterThanOrEqual(least);
          if (answer.status === 200) expect(answer.text.toLowerCase()).not.toMatch(/foreign|bob/);
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
      url,
      `${method} ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer ${key}\r\n${content}\r\n${body ?? ''}`,
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
