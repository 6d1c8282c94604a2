// Refusals through the client: those of the service with their facts, those of what cannot be sent, those of keys.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RecoupClient } from '../src/index.ts';
import { collect, Stand } from './support/stand.ts';

let stand: Stand;
let client: RecoupClient;
beforeAll(async () => {
  stand = await Stand.start();
  client = stand.client;
});
afterAll(async () => {
  expect(await stand.close()).toEqual([]);
});

describe('refusals', () => {
  test('carry their code, status and facts', async () => {
    const wallet = await stand.wallet();
    await expect(client.jobs.submit({ wallet, job: 'dear', queue: null, price: 101 })).rejects.toMatchObject({
      name: 'RecoupError',
      code: 'insufficient_credits',
      status: 402,
      message: 'The wallet holds 100, the job costs 101.',
      details: { balance: 100, price: 101, wallet },
      requestId: expect.any(String),
      retryable: false,
    });
    // What the types do not know, the service refuses by name.
    const unknown = { wallet, customer: 'ann', colour: 'red' };
    await expect(client.wallets.open(unknown)).rejects.toMatchObject({ code: 'invalid', details: { field: 'colour' } });
    await expect(client.wallets.balance({ wallet, now: true } as never)).rejects.toMatchObject({
      code: 'invalid',
      details: { field: 'now' },
    });
    await expect(client.feed.stream({ cursor: 'x' }).next()).rejects.toMatchObject({ code: 'invalid' });
    await expect(client.wallets.replay({ wallet: 'nobody' }).next()).rejects.toMatchObject({ code: 'no_wallet' });
  });

  test('of what cannot be sent name the field, and nothing is sent', async () => {
    const refused = (input: object, field: string) =>
      expect(client.wallets.open(input as never)).rejects.toMatchObject({ code: 'invalid', details: { field } });
    await refused({ customer: 'ann' }, 'wallet');
    await refused({ wallet: '', customer: 'ann' }, 'wallet');
    await refused({ wallet: 7, customer: 'ann' }, 'wallet');
    await refused({ wallet: '\ud800', customer: 'ann' }, 'wallet');
    await refused({ wallet: 'w', customer: 10n }, 'body');
    await refused({ wallet: 'w', customer: 'ann', overdraftLimit: Number.NaN }, 'body');
    await refused({ wallet: '..', customer: 'ann' }, 'wallet');
    await expect(client.keys.list({}, { headers: { 'no good': 'x' } })).rejects.toThrow(TypeError);
  });

  test.each([
    [{ url: 'recoup' }, 'url'],
    [{ url: 'ftp://recoup' }, 'url'],
    [{ url: 'http://user:pw@recoup' }, 'url'],
    [{ url: 'http://recoup', key: 'rcp_x\n' }, 'key'],
    [{ url: 'http://recoup', timeoutMs: 0 }, 'timeoutMs'],
    [{ url: 'http://recoup', headers: { 'a b': 'c' } }, 'headers'],
    [{ url: 'http://recoup', token: 'rcp_x' }, 'token'],
  ])('of options that cannot work: %j', (options, field) => {
    expect(() => new RecoupClient(options)).toThrow(
      expect.objectContaining({ code: 'invalid', details: expect.objectContaining({ field }) }),
    );
  });

  test('of keys: unknown, without the scope, bound to a customer', async () => {
    await expect(stand.with({ key: 'rcp_unknown_key' }).keys.list()).rejects.toMatchObject({
      code: 'unauthorized',
      status: 401,
    });
    const { secret } = await client.keys.create({ name: 'ben', scopes: ['viewer'], customer: 'ben' });
    const bound = stand.with({ key: secret });
    const [his, hers] = [await stand.wallet('ben'), await stand.wallet('ann')];
    expect(await bound.wallets.balance({ wallet: his })).toMatchObject({ booked: 100 });
    expect(await collect(bound.wallets.replay({ wallet: his }))).toHaveLength(1);
    await expect(bound.wallets.balance({ wallet: hers })).rejects.toMatchObject({ code: 'no_wallet', status: 404 });
    await expect(bound.wallets.replay({ wallet: hers }).next()).rejects.toMatchObject({ code: 'no_wallet' });
    await expect(bound.feed.read()).rejects.toMatchObject({ code: 'forbidden', status: 403 });
    await expect(bound.jobs.submit({ wallet: his, job: 'j', queue: null, price: 1 })).rejects.toMatchObject({
      code: 'forbidden',
    });
  });
});
