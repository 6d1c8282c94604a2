// Webhooks: what is said of one endpoint, secret or delivery changes no other, and only what it says.
import { expect } from 'vitest';
import { replayDeliveries } from '../src/webhooks/replay.ts';
import { forgetDeliveries } from '../src/webhooks/sending.ts';
import { asked } from './support/asked.ts';
import { refusal, times } from './support/look.ts';
import { booksAreRight, newId, type Stage, staging } from './support/stage.ts';
import { untilWaiting, watch } from './support/waiting.ts';
import { endpointOf, URL } from './support/webhooks.ts';

const { onEvery } = staging();

const send = async (s: Stage, endpoint: string) => (await s.recoup.webhooks.test({ endpoint })).delivery;
const stateOf = async (s: Stage, id: string) => (await s.recoup.webhooks.delivery(id)).state;
/** Everything that is stored of an endpoint. */
const rowsOf = async (s: Stage, endpoint: string) =>
  Promise.all(
    [
      'webhook_endpoints e where id',
      'webhook_secrets e where endpoint_id',
      'webhook_deliveries e where endpoint_id',
    ].map((table) => s.db.query(`select e::text from recoup.${table} = $1 order by 1`, [endpoint])),
  );
/** Takes what is due and says how it went. */
async function reported(s: Stage, endpoint: string, more: object): Promise<string[]> {
  const taken = await s.recoup.webhooks.lease(endpoint, 100);
  const said = [];
  for (const { id, attempt } of taken)
    said.push((await s.recoup.webhooks.report({ id, attempt, delivered: true, ...more })).outcome);
  return said;
}
/** Makes what is pending at an endpoint dead, as after ten tries. */
const kill = (s: Stage, endpoint: string) =>
  s.db.query(
    `update recoup.webhook_deliveries set state = 'dead', due_at = null, ended_at = recoup.clock() where endpoint_id = $1 and state = 'pending'`,
    [endpoint],
  );

onEvery('whatever is done with an endpoint, another one stays as it is, with its secrets and deliveries', async (s) => {
  const [one, other] = [await endpointOf(s, ['job.dead']), await endpointOf(s, ['job.dead'])];
  await s.db.advance(0);
  for (const endpoint of [one, other]) {
    await send(s, endpoint);
    await reported(s, endpoint, {});
    await send(s, endpoint);
    await kill(s, endpoint);
    await send(s, endpoint);
    await s.recoup.webhooks.rotate({ endpoint, keepMs: 1000 });
  }
  await s.db.advance(1001);
  const before = await rowsOf(s, other);
  const { webhooks } = s.recoup;
  expect(await webhooks.rotate({ endpoint: one })).toMatchObject({ outcome: 'rotated' });
  expect(await webhooks.change({ endpoint: one, url: 'https://receiver.example/elsewhere', skip: true })).toEqual({
    outcome: 'changed',
  });
  expect(await webhooks.replay({ endpoint: one, dead: true })).toEqual({ replayed: 1 });
  expect(await webhooks.replay({ endpoint: one, since: new Date(0) })).toEqual({ replayed: 1 });
  expect(await reported(s, one, { delivered: false, gone: true })).toEqual(['gone', 'gone']);
  await webhooks.remove(one);
  expect(await rowsOf(s, other)).toEqual(before);
  expect(await webhooks.get(other)).toMatchObject({ status: 'on', pending: 1, dead: 1 });
});

onEvery('a change says what it changes: line, kinds, address, status; the same once more is a duplicate', async (s) => {
  const { webhooks } = s.recoup;
  const endpoint = await endpointOf(s, ['job.dead', 'wallet.low'], { lowBalance: 5 });
  const changes: [object, string][] = [
    [{ lowBalance: 5 }, 'duplicate'],
    [{ lowBalance: 6 }, 'changed'],
    [{ url: 'https://receiver.example/else' }, 'changed'],
    [{ kinds: ['wallet.low', 'job.dead'] }, 'duplicate'],
    [{ kinds: ['wallet.low'] }, 'changed'],
    [{ status: 'off' }, 'changed'],
    [{ kinds: ['job.dead'], lowBalance: null }, 'changed'],
    [{ lowBalance: null }, 'duplicate'],
    [{}, 'duplicate'],
    [{ skip: true }, 'changed'],
  ];
  for (const [change, outcome] of changes)
    expect([change, await webhooks.change({ endpoint, ...change })]).toEqual([change, { outcome }]);
  expect(await webhooks.get(endpoint)).toMatchObject({
    ...{ url: 'https://receiver.example/else', kinds: ['job.dead'], lowBalance: null, status: 'off' },
  });
});

onEvery('what is left out goes where it was still to be sent, and only where that is said and granted', async (s) => {
  const { webhooks } = s.recoup;
  const endpoint = await endpointOf(s, ['job.dead']);
  const delivered = await send(s, endpoint);
  await reported(s, endpoint, {});
  const pending = await send(s, endpoint);
  expect((await refusal(webhooks.change({ endpoint, kinds: ['wallet.low'], skip: true }))).details.field).toBe(
    'lowBalance',
  );
  await webhooks.change({ endpoint, url: 'https://receiver.example/else' });
  expect(await stateOf(s, pending)).toBe('pending');
  await webhooks.change({ endpoint, skip: true });
  expect((await refusal(webhooks.delivery(pending))).code).toBe('no_delivery');
  expect(await stateOf(s, delivered)).toBe('delivered');
});

onEvery('registered again it is a duplicate where it is just so, by whomever at whatever moment', async (s) => {
  const { webhooks } = s.recoup;
  const input = { endpoint: newId('endpoint'), url: URL, kinds: ['job.dead', 'wallet.low'] as const, lowBalance: 5 };
  const rival = await s.client();
  await rival.query('begin');
  await rival.query(
    `insert into recoup.webhook_endpoints (id, url, kinds, low_balance, position, epoch, looked_at, registered_at)
    values ($1, $2, '{job.dead,wallet.low}', 5, '1', 0, recoup.clock(), recoup.clock())`,
    [input.endpoint, URL],
  );
  await rival.query(
    `insert into recoup.webhook_secrets (endpoint_id, number, value, made_at) values ($1, 1, decode(repeat('ab', 32), 'hex'), recoup.clock())`,
    [input.endpoint],
  );
  const behind = watch(webhooks.register(input));
  await untilWaiting(s.db);
  await rival.query('commit');
  expect((await behind.call).outcome).toBe('duplicate');
  expect((await webhooks.register({ ...input, kinds: ['wallet.low', 'job.dead'] })).outcome).toBe('duplicate');
  for (const other of [{ kinds: ['wallet.low'] as const }, { lowBalance: 6 }, { url: 'https://receiver.example/else' }])
    expect((await refusal(webhooks.register({ ...input, ...other }))).code).toBe('conflict');
});

onEvery('secrets of a rotation before the last end when they were to', async (s) => {
  const { webhooks } = s.recoup;
  const endpoint = newId('endpoint');
  const { secret: first } = await webhooks.register({ endpoint, url: URL, kinds: ['job.dead'] });
  const { secret: second } = await webhooks.rotate({ endpoint, keepMs: 1000 });
  const { secret: third } = await webhooks.rotate({ endpoint, keepMs: 60_000 });
  const signing = async () => {
    await send(s, endpoint);
    return (await webhooks.lease(endpoint)).at(-1)!.secrets;
  };
  await s.db.advance(0);
  expect(await signing()).toEqual([third, second, first]);
  await s.db.advance(1001);
  expect(await signing()).toEqual([third, second]);
});

onEvery('a report is of one delivery; what was delivered is not gone; who is off stays off', async (s) => {
  const endpoint = await endpointOf(s, ['job.dead']);
  const ids = [await send(s, endpoint), await send(s, endpoint), await send(s, endpoint)];
  const taken = await s.recoup.webhooks.lease(endpoint, 3);
  expect(taken.map(({ id }) => id).sort()).toEqual([...ids].sort());
  const [one, two, three] = ids as [string, string, string];
  const say = (id: string, more: object) => s.recoup.webhooks.report({ id, attempt: 1, delivered: false, ...more });
  expect(await say(one, { delivered: true, gone: true })).toMatchObject({ outcome: 'delivered' });
  expect(await Promise.all(ids.map((id) => stateOf(s, id)))).toEqual(['delivered', 'pending', 'pending']);
  await s.recoup.webhooks.change({ endpoint, status: 'off' });
  expect(await say(two, { gone: true })).toMatchObject({ outcome: 'gone' });
  expect(await s.recoup.webhooks.get(endpoint)).toMatchObject({ status: 'off' });
  expect(await say(three, {})).toMatchObject({ outcome: 'retrying' });
});

onEvery(
  'a replay is of what ended: of one, of the dead, or of all since; page by page it passes over nothing',
  async (s) => {
    const [endpoint, other] = [await endpointOf(s, ['job.dead']), await endpointOf(s, ['job.dead'])];
    await s.db.advance(0);
    const made = async (how: 'delivered' | 'dead' | 'pending', at = endpoint) => {
      await s.db.advance(1000);
      const id = await send(s, at);
      if (how === 'delivered') await reported(s, at, {});
      if (how === 'dead') await kill(s, at);
      return id;
    };
    const [first, second, third] = [await made('delivered'), await made('dead'), await made('delivered')];
    const [pending, foreign] = [await made('pending'), await made('delivered', other)];
    const ids = [first, second, third, pending, foreign];
    const states = () => Promise.all(ids.map((id) => stateOf(s, id)));
    const replay = async (more: object) =>
      (await asked(s, replayDeliveries, { endpoint_id: endpoint, dead: false, count: 9, ...more }))[0]!;
    expect(await replay({ id: foreign })).toMatchObject({ replayed: 0 });
    expect(await replay({ id: pending })).toMatchObject({ replayed: 0 });
    expect(await replay({ id: third })).toMatchObject({ replayed: 1 });
    expect(await states()).toEqual(['delivered', 'dead', 'pending', 'pending', 'delivered']);
    await reported(s, endpoint, {});
    expect(await replay({ dead: true })).toMatchObject({ replayed: 1 });
    expect(await states()).toEqual(['delivered', 'pending', 'delivered', 'delivered', 'delivered']);
    await kill(s, endpoint);
    const last = await made('pending');
    let behind = {};
    for (const id of [first, second, third, pending]) {
      const page = await replay({ since: new Date(0).toISOString(), count: 1, ...behind });
      expect(page).toEqual({ replayed: 1, seen: 1, last: { at: expect.any(String), id } });
      behind = { after_at: page.last!.at, after_id: id };
      // It is delivered again before the next page is asked for.
      await reported(s, endpoint, {});
    }
    expect(await replay({ since: new Date(0).toISOString(), ...behind })).toMatchObject({
      replayed: 1,
      last: { id: last },
    });
  },
);

onEvery(
  'of the dead, too, a page begins behind the one before; ages of what is delivered and of what is dead are two',
  async (s) => {
    const endpoint = await endpointOf(s, ['job.dead']);
    const ids = [];
    for (const _ of times(2, String)) {
      await s.db.advance(1000);
      ids.push(await send(s, endpoint));
    }
    await kill(s, endpoint);
    const page = { endpoint_id: endpoint, dead: true, count: 1 };
    const last = (await asked(s, replayDeliveries, page))[0]!.last!;
    expect(last.id).toBe(ids[0]);
    await kill(s, endpoint);
    const [next] = await asked(s, replayDeliveries, { ...page, after_at: last.at, after_id: last.id });
    expect(next!.last!.id).toBe(ids[1]);
    await reported(s, endpoint, {});
    await s.db.advance(1000);
    const forget = (delivered_ms: number, dead_ms: number) =>
      asked(s, forgetDeliveries, { count: 9, delivered_ms, dead_ms });
    expect(await Promise.all(ids.map((id) => stateOf(s, id)))).toEqual(['dead', 'delivered']);
    await forget(1_000_000, 1_000_000);
    await forget(1_000_000, 500);
    expect((await s.recoup.webhooks.deliveries(endpoint)).map(({ delivery }) => delivery)).toEqual([ids[1]]);
  },
);

onEvery('after all of it the books are right', booksAreRight);
