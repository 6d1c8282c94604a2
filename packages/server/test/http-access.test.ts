// Who may do what: every scope against every operation, keys bound to a customer, keys as such, where the server starts without any.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../recoup/test/support/waiting.ts';
import { type Operation, SCOPES, type Scope } from '../src/operations/operation.ts';
import { operations } from '../src/operations/operations.ts';
import { Api, type Input, type Json } from './support/api.ts';

let api: Api;
const secrets = {} as Record<Scope, string>;
beforeAll(async () => {
  api = await Api.start({ requireKeys: true });
  const { secret } = await api.service.keys.create({ name: 'root', scopes: ['admin'] });
  secrets.admin = secret;
  api.use(secret);
  for (const scope of SCOPES) {
    if (scope !== 'admin') secrets[scope] = (await api.call('keys.create', { name: scope, scopes: [scope] })).secret;
  }
});
afterAll(() => api.close());
/** What follows is asked with this key. */
const as = async <T>(key: string | undefined, work: () => Promise<T>): Promise<T> => {
  api.use(key);
  try {
    return await work();
  } finally {
    api.use(secrets.admin);
  }
};

/** Input that passes the key's check and then goes nowhere: what it names is not there. */
const nowhere = ({ params }: Operation): Input =>
  Object.fromEntries(Object.keys(params.properties).map((name) => [name, name === 'provider' ? 'generic' : 'nobody']));

/** Which scopes may what, in words of their own: a change in the list must be meant. */
const MATRIX: Record<Exclude<Scope, 'admin'>, RegExp> = {
  app: /^(wallets\.(?!adjust)|plans\.list|subscriptions\.(?!strays)|payments\.(?!list)|jobs\.(submit|submitMany|get|list|attempts|entries|byUpstreamRef|fail|succeed|settle|cancel|failMany|succeedMany)$|upstreamRefs\.|queues\.get|deadLetters\.list|feed\.|callbacks\.|epochs\.list|system\.info|pools\.get)/,
  worker:
    /^(wallets\.(list|balances?)$|jobs\.(get|list|attempts|entries|byUpstreamRef|fail|succeed|settle|failMany|succeedMany|extend|handOver|release|report)$|upstreamRefs\.|queues\.(lease|get)$|callbacks\.|system\.info|upstreams\.(select|extend|release|report|note)$|pools\.get)/,
  viewer:
    /^(wallets\.(list|balance|balances|remainders|entries|replay)|plans\.list|subscriptions\.(get|history|list|strays)|payments\.(list|missing)|probes\.(probers|list|report|preview)|jobs\.(get|list|attempts|entries|byUpstreamRef)|deadLetters\.(list|preview)|queues\.(list|get)|feed\.\w+|epochs\.list|system\.info|upstreams\.(list|explain|history|snapshots)|limits\.(list|get|windows)|inbox\.list|alerts\.list|blocks\.list|pools\.\w+|estimates\.report)$/,
  support:
    /^(wallets\.(list|balance|balances|remainders|entries|replay|adjust|adjustMany)|plans\.list|subscriptions\.(get|history|list|strays|cancel)|payments\.(list|missing)|probes\.(probers|list|report|preview)|jobs\.(get|list|attempts|entries|byUpstreamRef|cancel)|deadLetters\.(list|preview|redrive|discard)|queues\.(list|get)|feed\.entries|epochs\.list|system\.(verify|info)|upstreams\.(list|explain|history|snapshots)|limits\.(list|get|windows)|inbox\.list|alerts\.list|blocks\.list|pools\.\w+|estimates\.report)$/,
  operator:
    /^(wallets\.|plans\.|subscriptions\.|payments\.|probes\.|jobs\.(get|list|attempts|entries|byUpstreamRef|prune)$|deadLetters\.|queues\.(list|get|configure)$|feed\.|epochs\.list|system\.|upstreams\.(list|explain|history|snapshots|note|register|change|replaceCredential|block|free)$|limits\.|inbox\.|alerts\.|blocks\.|pools\.|estimates\.|webhookEndpoints\.|webhookDeliveries\.)/,
};

describe.each(SCOPES)('scope %s', (scope) => {
  test.each(operations.map((one) => [one.name, one] as const))('%s', async (name, operation) => {
    if (operation.stream === 'sse') return;
    const allowed = operation.scopes === 'signature' || scope === 'admin' || MATRIX[scope].test(name);
    const { status, body } = await as(secrets[scope], () => api.ask(name, nowhere(operation)));
    if (allowed) expect(body.code ?? 'done', name).not.toMatch(/unauthorized|forbidden/);
    else expect({ status, body }).toMatchObject({ status: 403, body: { code: 'forbidden', operation: name } });
  });
});

describe('without a key that works', () => {
  test.each(operations.filter((one) => one.scopes !== 'signature').map((one) => [one.name, one] as const))(
    '%s',
    async (name, operation) => {
      const before = await api.db.query('select count(*) from recoup.wallets');
      for (const key of [
        undefined,
        'nonsense',
        `rcp_${'0'.repeat(12)}_${'A'.repeat(43)}`,
        `${secrets.admin.slice(0, -1)}${secrets.admin.endsWith('A') ? 'B' : 'A'}`,
      ]) {
        const answer = await as(key, () => api.ask(name, nowhere(operation)));
        expect(answer).toMatchObject({ status: 401, body: { code: 'unauthorized' } });
        expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
      }
      expect(await api.db.query('select count(*) from recoup.wallets')).toEqual(before);
    },
  );

  test('health and the document are open, metrics are not', async () => {
    await as(undefined, async () => {
      for (const path of ['/livez', '/readyz', '/openapi.json']) expect((await api.send('GET', path)).status).toBe(200);
      expect((await api.send('GET', '/metrics')).status).toBe(401);
    });
    expect((await as(secrets.worker, () => api.send('GET', '/metrics'))).status).toBe(403);
    expect((await as(secrets.operator, () => api.send('GET', '/metrics'))).status).toBe(200);
  });
});

describe('a key that is bound to a customer', () => {
  test('sees the wallets of that customer, and nothing else', async () => {
    const own = await api.wallet(50, 'ann');
    const foreign = await api.wallet(70, 'bob');
    for (const wallet of [own, foreign]) await api.call('jobs.submit', { wallet, job: 'j', queue: null, price: 1 });
    const { secret, key } = await api.call('keys.create', { name: 'ann', scopes: ['viewer'], customer: 'ann' });
    expect(key.customer).toBe('ann');
    await as(secret, async () => {
      expect((await api.call('wallets.balance', { wallet: own })).booked).toBe(49);
      expect((await api.call('jobs.get', { wallet: own, job: 'j' })).job.price).toBe(1);
      for (const operation of operations) {
        const { name, scopes, params, stream } = operation;
        if (scopes === 'signature' || stream === 'sse') continue;
        const there = { wallet: foreign, job: 'j' };
        const named = Object.entries({ ...nowhere(operation), ...there }).filter(
          ([field]) => field in params.properties,
        );
        const { body } = await api.ask(name, Object.fromEntries(named));
        const readable = scopes.includes('viewer') && 'wallet' in params.properties;
        if (name !== 'wallets.list') expect(body.code, name).toBe(readable ? 'no_wallet' : 'forbidden');
      }
      for (const named of [{}, { customer: 'ann' }]) {
        expect(await api.call('wallets.list', named)).toMatchObject({
          wallets: [{ wallet: own, customer: 'ann', booked: 49, unit: 'credit', status: 'active' }],
          cursor: null,
        });
      }
      for (const customer of ['bob', 'nobody']) {
        expect(await api.refused('wallets.list', 'forbidden', { customer })).toMatchObject({
          operation: 'wallets.list',
        });
      }
      expect((await api.call('wallets.list', { cursor: own })).wallets).toEqual([]);
      // Not even whether it is there.
      const there = await api.refused('wallets.balance', 'no_wallet', { wallet: foreign });
      const absent = await api.refused('wallets.balance', 'no_wallet', { wallet: 'absent' });
      expect(Object.keys(there)).toEqual(Object.keys(absent));
      expect({ ...there, wallet: '', instance: '', requestId: '' }).toEqual({
        ...absent,
        wallet: '',
        instance: '',
        requestId: '',
      });
    });
  });
});

describe('keys', () => {
  test('only a hash of the secret is stored, and no answer or list holds it', async () => {
    const { secret, key } = await api.call('keys.create', { name: 'n', scopes: ['viewer'] });
    const rows = await api.db.query(
      `select k::text as row, encode(hash, 'hex') as hash from recoup.api_keys k where id = $1`,
      [key.id],
    );
    expect(rows[0]!.hash).toBe(createHash('sha256').update(secret).digest('hex'));
    expect(rows[0]!.row).not.toContain(secret.slice(17));
    expect(JSON.stringify(await api.call('keys.list'))).not.toContain(secret.slice(17));
    expect(secret).toMatch(/^rcp_[0-9a-z]{12}_[A-Za-z0-9_-]{43}$/);
  });

  test('a use is noted to the hour', async () => {
    const { secret, key } = await api.call('keys.create', { name: 'n', scopes: ['viewer'] });
    await as(secret, () => api.call('queues.list'));
    const found = await until(async () => {
      const { keys } = await api.call('keys.list');
      const one = keys.find((listed: Json) => listed.id === key.id);
      return one.lastUsedAt ? one : undefined;
    });
    expect(found.lastUsedAt).toMatch(/:00:00.000Z$/);
  });

  test('a revoked key is refused at once here, and within seconds on another replica', async () => {
    const other = await Api.replica(api.db, { requireKeys: true });
    const { secret, key } = await api.call('keys.create', { name: 'n', scopes: ['viewer'] });
    const there = () => fetch(`${other.url}/v1/queues`, { headers: { authorization: `bearer ${secret}` } });
    expect((await there()).status).toBe(200);
    await api.call('keys.revoke', { key: key.id });
    await as(secret, () => api.refused('queues.list', 'unauthorized'));
    await until(async () => (await there()).status === 401);
    await other.close();
  });

  test('a row that somebody writes by hand cannot give a bound key more than viewing', async () => {
    const insert = `insert into recoup.api_keys (id, hash, name, scopes, customer_id) values ('000000000000', decode(repeat('00', 32), 'hex'), 'x', $1, 'c')`;
    for (const scopes of [['app'], ['viewer', 'app'], ['root'], []]) {
      await expect(api.db.query(insert, [scopes])).rejects.toMatchObject({ code: '23514' });
    }
  });
});

describe('where no key is needed', () => {
  const get = (url: string, headers: Record<string, string> = {}) => fetch(`${url}/v1/queues`, { headers });

  test('on loopback everybody may, but not through a proxy that speaks for others, nor with a wrong key', async () => {
    const open = await Api.replica(api.db);
    expect((await get(open.url)).status).toBe(200);
    expect((await get(open.url, { 'x-forwarded-for': '192.0.2.1' })).status).toBe(401);
    expect((await get(open.url, { forwarded: 'for=192.0.2.1' })).status).toBe(401);
    expect((await get(open.url, { authorization: 'Bearer rcp_wrong' })).status).toBe(401);
    expect((await get(open.url, { authorization: `Bearer ${secrets.worker}` })).status).toBe(403);
    await open.close();
  });

  test('with a public host name loopback asks for keys too', async () => {
    const named = await Api.replica(api.db, { hosts: ['recoup.example'] });
    expect((await get(named.url)).status).toBe(401);
    expect((await get(named.url, { authorization: `Bearer ${secrets.operator}` })).status).toBe(200);
    await named.close();
  });

  test('bound to more than loopback it starts only with a key that works, or where somebody says that it is insecure', async () => {
    const empty = await Api.start();
    const start = (more = {}) => Api.replica(empty.db, { bind: '0.0.0.0', ...more });
    await expect(start()).rejects.toMatchObject({ code: 'keys_required', exitCode: 2 });
    const { key } = await empty.service.keys.create({ name: 'n', scopes: ['operator'] });
    await empty.service.keys.revoke(key.id);
    await expect(start()).rejects.toMatchObject({ code: 'keys_required' });
    const insecure = await start({ insecure: true });
    expect((await get(insecure.url.replace('0.0.0.0', '127.0.0.1'))).status).toBe(200);
    await insecure.close();
    const { secret } = await empty.service.keys.create({ name: 'n', scopes: ['operator'] });
    const keyed = await start();
    const local = keyed.url.replace('0.0.0.0', '127.0.0.1');
    expect((await get(local)).status).toBe(401);
    expect((await get(local, { authorization: `Bearer ${secret}` })).status).toBe(200);
    await keyed.close();
    await empty.close();
  });
});
