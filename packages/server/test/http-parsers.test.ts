// Values that parsers stumble over: deep, without a name, of nothing, in another spelling; refused with the field, never a 500.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api, newId } from './support/api.ts';

let api: Api;
beforeAll(async () => {
  api = await Api.start();
});
afterAll(async () => {
  expect((await api.service.recoup.verify()).problems).toEqual([]);
  await api.close();
});

describe('values that parsers stumble over', () => {
  const deep = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  const put = (body: string) => api.send('PUT', `/v1/wallets/${newId('w')}`, body);

  test('nested beyond any stack, in fields of every kind', async () => {
    for (const body of [
      `{"customer":${deep(100_000)}}`,
      `{"x":${deep(100_000)}}`,
      deep(100_000),
      `{"overdraftLimit":${deep(100_000)}}`,
    ]) {
      expect(await put(body)).toMatchObject({ status: 400, body: { code: 'invalid' } });
    }
    const payload = await api.send(
      'PUT',
      '/v1/wallets/w/jobs/j',
      `{"queue":null,"price":1,"payload":${deep(100_000)}}`,
    );
    expect(payload).toMatchObject({ status: 400, body: { field: 'payload' } });
  });

  test('names: of prototypes, empty, very long, in the query and in bodies', async () => {
    for (const [query, field] of [
      ['__proto__=1', '__proto__'],
      ['constructor=1', 'constructor'],
      ['=1', '""'],
      ['=1&=2', '""'],
    ] as const) {
      expect(await api.send('GET', `/v1/queues?${query}`), query).toMatchObject({ status: 400, body: { field } });
    }
    expect(await put('{"customer":"c","":1}')).toMatchObject({ status: 400, body: { field: '""' } });
    const long = await put(`{"customer":"c","${'x'.repeat(1_000_000)}":1}`);
    expect(long.status).toBe(400);
    expect(JSON.stringify(long.body).length).toBeLessThan(2000);
  });

  test('a body of null is no body that was left out', async () => {
    const { wallet, job } = await api.running();
    expect(await api.send('POST', `/v1/wallets/${wallet}/jobs/${job}/cancel`, 'null')).toMatchObject({
      status: 400,
      body: { field: 'body' },
    });
    expect((await api.call('jobs.get', { wallet, job })).job.state).toBe('running');
  });

  test('a webhook at an address of ours without a body, with null, with a byte order mark', async () => {
    const { wallet, job } = await api.running();
    const { path } = await api.call('callbacks.sign', { wallet, job, provider: 'runpod' });
    for (const body of [undefined, '', 'null', '\ufeff']) {
      expect(await api.send('POST', path, body), String(body)).toMatchObject({
        status: 400,
        body: { code: 'invalid' },
      });
    }
    const error = `{"id":"r","status":"FAILED","error":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
    const attempt = (await api.call('callbacks.sign', { wallet, job, attempt: 1, provider: 'runpod' })).path;
    expect(await api.send('POST', attempt, error)).toMatchObject({ status: 200 });
    expect(await api.send('POST', path, '\ufeff{"id":"r","status":"COMPLETED"}')).toMatchObject({ status: 200 });
  });

  test('a token of ours in another spelling is none', async () => {
    const { wallet, job } = await api.running();
    const { path } = await api.call('callbacks.sign', { wallet, job, provider: 'runpod' });
    const [claim, mac] = path.slice('/v1/webhooks/runpod/'.length).split('.');
    // The last of 43 letters has bits that decoders pass over.
    const others = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
      .split('')
      .map((letter) => `${mac.slice(0, -1)}${letter}`);
    const spelled = [
      ...others.filter((one) => one !== mac),
      `${mac}=`,
      `${mac}.`,
      `${mac}.${mac}`,
      ` ${mac}`,
      `${mac}%0a`,
    ];
    for (const one of spelled) {
      const answer = await api.send('POST', `/v1/webhooks/runpod/${claim}.${one}`, '{"id":"r","status":"COMPLETED"}');
      expect(answer, one).toMatchObject({ status: 401, body: { code: 'bad_signature' } });
    }
    expect((await api.call('jobs.get', { wallet, job })).job.state).toBe('running');
  });
});
