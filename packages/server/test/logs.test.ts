// The log of a run over everything, at its most talkative: no content, no key, no token of a URL; every line of a request has its id.

import { connect } from 'node:net';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../../recoup/test/support/waiting.ts';
import { Api, type Json } from './support/api.ts';
import { callEvery, signedTokens, WEBHOOK_SECRET } from './support/every-operation.ts';

const SECRET = 'planted-7f3a';
let api: Api;
let key: string;
let text = '';
const stream = new Writable({
  write(chunk, _encoding, done) {
    text += chunk;
    done();
  },
});
const lines = (): Json[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

beforeAll(async () => {
  api = await Api.start({
    requireKeys: true,
    webhookSecrets: { generic: [WEBHOOK_SECRET] },
    server: { logger: { level: 'trace', stream } },
    open: { onError: undefined as never, sweep: true, pollMs: 50 } as never,
  });
  key = (await api.service.keys.create({ name: 'root', scopes: ['admin'] })).secret;
  api.use(key);
});
afterAll(() => api.close());

test('a run over every operation, and everything that can be wrong with a request', async () => {
  await callEvery(api, SECRET);
  const json = { 'content-type': 'application/json' };
  await api.raw('POST', `/v1/webhooks/runpod/${SECRET}`, { authorization: `Bearer ${key}` }, `{"${SECRET}":1}`);
  await api.send('PUT', '/v1/wallets/w', `{"${SECRET}": `);
  await api.send('PUT', '/v1/wallets/w', JSON.stringify({ customer: 'c', [SECRET]: SECRET }));
  await api.send('PUT', '/v1/wallets/w', new Uint8Array([0x22, 0xff, 0x22]), json);
  await api.send('POST', '/v1/webhooks/generic', `{"a":"${SECRET}"}`, { 'webhook-signature': SECRET });
  await api.send('GET', `/${SECRET}?key=${SECRET}`);
  await api.send('GET', `/v1/wallets/w/balance?${SECRET}=${SECRET}`);
  await api.send('GET', '/v1/wallets/w/balance', undefined, { authorization: `Bearer ${SECRET}`, cookie: SECRET });
  const { hostname, port } = new URL(api.service.url);
  const socket = connect(Number(port), hostname);
  // Read to its end: a socket that nobody reads never closes.
  socket.resume().end(`NONSENSE ${SECRET}\r\n\r\n`);
  await new Promise((done) => socket.on('close', done));
});

test('the database’s own words about content are not repeated', async () => {
  await api.db.query(`create function public.stumble() returns trigger language plpgsql as $$
    begin raise exception 'cannot take % of ${SECRET}', new.payload using detail = new.payload::text, errcode = 'XX001'; end $$`);
  await api.db.query(
    'create trigger stumble before insert on recoup.jobs for each row execute function public.stumble()',
  );
  const wallet = await api.wallet();
  const answer = await api.ask('jobs.submit', { wallet, job: 'j', queue: 'q', price: 1, payload: SECRET });
  expect(answer.status).toBe(500);
  expect(JSON.stringify(answer.body)).not.toContain(SECRET);
  await api.db.query('drop trigger stumble on recoup.jobs');
  const refused = lines().find((line) => line.msg === 'refused' && line.sqlstate === 'XX001');
  expect(refused).toMatchObject({ level: 50, reqId: answer.body.requestId });
  expect(refused.stack.every((frame: string) => /^\s+at /.test(frame))).toBe(true);
});

test('what goes wrong in the background is a line of the log, not a text on stderr', async () => {
  const { wallet, job } = await api.running(10, { payload: SECRET });
  await api.db.query(
    `create trigger stumble before insert or update on recoup.jobs for each row execute function public.stumble()`,
  );
  await api.db
    .query(`update recoup.jobs set lease_until = now() - interval '1 hour' where id = $1`, [job])
    .catch(() => {});
  await api.db.query('alter table recoup.jobs disable trigger stumble');
  await api.db.query(`update recoup.jobs set lease_until = now() - interval '1 hour' where id = $1`, [job]);
  await api.db.query('alter table recoup.jobs enable trigger stumble');
  await until(() => lines().some((line) => line.msg === 'went wrong in the background'));
  await api.db.query('drop trigger stumble on recoup.jobs');
  const line = lines().find((one) => one.msg === 'went wrong in the background');
  expect(line.message).toContain(`cannot lapse job "${job}" of wallet "${wallet}"`);
  expect(line).toMatchObject({ level: 50, code: expect.any(String) });
});

test('nothing that was planted is in the log, and no key, signing secret or token', () => {
  expect(lines().length).toBeGreaterThan(60);
  expect(signedTokens.length).toBeGreaterThan(0);
  for (const secret of [SECRET, key, WEBHOOK_SECRET, ...signedTokens]) {
    expect(text.split('\n').filter((line) => line.includes(secret))).toEqual([]);
  }
  expect(text).not.toMatch(/rcp_\w{12}_/);
});

test('every answer is one line with the request’s id, its operation, route, status, duration and key', () => {
  const answered = lines().filter((line) => line.msg === 'answered');
  const ids = answered.map(({ reqId }) => reqId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const line of answered) {
    const { reqId, method, status, ms, operation } = line;
    expect({ reqId, method, status, ms, operation }, JSON.stringify(line)).toEqual({
      reqId: expect.any(String),
      method: expect.any(String),
      status: expect.any(Number),
      ms: expect.any(Number),
      operation: expect.any(String),
    });
    expect(line).toHaveProperty('key');
  }
});
