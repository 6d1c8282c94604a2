// Webhooks in the library: each event of each kind becomes one delivery at each endpoint that wants it, whoever looks.
import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { EVENT_KINDS, type EventKind } from '../src/index.ts';
import { refusal, times } from './support/look.ts';
import { booksAreRight, newId, staging } from './support/stage.ts';
import { until } from './support/waiting.ts';
import { dead, endpointOf, kindsOf, settled, told, URL } from './support/webhooks.ts';

const { onEvery, onFirst } = staging();

onEvery('each kind of event is told once, from the transition that makes it', async (s) => {
  const of = await endpointOf(s, EVENT_KINDS, { lowBalance: 50 });
  const { wallet, job, attempt } = await s.running(60, { wallet: await s.wallet(100) });
  await s.recoup.jobs.fail({ wallet, job, attempt });
  await s.recoup.jobs.succeed({ wallet, job, attempt });
  await s.recoup.wallets.adjust({ wallet, key: 'debt', amount: -50, actor: 'ann', reason: 'correction' });
  await dead(s);
  const [upstream, pool] = [newId('up'), newId('pool')];
  await s.recoup.upstreams.register({ upstream, pool, provider: newId('provider') });
  const { block } = await s.recoup.upstreams.block(upstream, { reason: 'secret words' });
  await s.db.advance(3_700_000);
  await s.recoup.alerts.look();
  await s.recoup.upstreams.free(block!, { reason: 'paid' });
  await s.recoup.alerts.look();
  const deliveries = await told(s, of, 12);
  // The balance fell below 50 with the charge, and once more when the refund was taken back.
  expect(kindsOf(deliveries)).toEqual([...EVENT_KINDS, 'wallet.low'].sort());
  for (const { kind, payload, delivery } of deliveries) {
    expect(payload).toMatchObject({ type: kind, timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) });
    expect(delivery).toMatch(/^msg_[0-9a-f]{40}$/);
  }
  expect(JSON.stringify(deliveries)).not.toContain('secret words');
  const data = (kind: EventKind) => deliveries.find((one) => one.kind === kind)!.payload.data;
  expect(data('job.reclaimed')).toMatchObject({ wallet, job, amount: -60, customer: 'customer' });
  expect(data('wallet.debt')).toMatchObject({ wallet, amount: -50, balance: -10 });
  expect(data('wallet.low')).toMatchObject({ wallet, below: 50, balance: 40 });
  expect(data('upstream.freed')).toMatchObject({ block, subject: `upstream:${upstream}`, closedAs: 'operator' });
  expect(data('inbox.closed')).toMatchObject({ item: `block:${block}` });
  expect(data('alert.firing')).toMatchObject({ alert: 'blocked_long', subject: `block:${block}`, number: 1 });
});

onEvery(
  'an endpoint is told of what it asked for, from its registration on, and of each event under an id of its own',
  async (s) => {
    await settled(s);
    const some = await endpointOf(s, ['job.dead']);
    const others = await endpointOf(s, ['job.dead', 'job.succeeded']);
    const { wallet, job } = await dead(s);
    const [one] = await told(s, some, 1);
    const [two] = await told(s, others, 1);
    expect([one?.payload, two?.payload]).toEqual([one?.payload, one?.payload]);
    expect(one?.payload.data).toMatchObject({ wallet, job, attempt: 1, endedAs: 'failed' });
    expect(one?.delivery).not.toBe(two?.delivery);
    const [row] = await s.db.query('select event from recoup.webhook_deliveries where id = $1', [one!.delivery]);
    const hash = createHash('sha256').update(`${some}\u001f${row!.event}`).digest('hex');
    expect(one?.delivery).toBe(`msg_${hash.slice(0, 40)}`);
    expect(await told(s, some, 1)).toHaveLength(1);
  },
);

onEvery('replicas that look at once make each delivery once, and none is lost to what commits late', async (s) => {
  const of = await endpointOf(s, ['wallet.debt', 'job.succeeded']);
  const replicas = [s.recoup, ...(await Promise.all(times(3, () => s.replica())))];
  const late = await s.client();
  await late.query('begin');
  const wallet = await s.wallet(0);
  await s.recoup.using(late).wallets.adjust({ wallet, key: 'late', amount: -1, actor: 'ann', reason: 'late' });
  const jobs = await Promise.all(times(40, () => s.external(0)));
  const looking = replicas.map(async (replica) => {
    for (let i = 0; i < 10; i++) await replica.webhooks.dispatch();
  });
  await s.recoup.jobs.succeedMany(jobs);
  await Promise.all(looking);
  // The transaction that is open holds back what came after it began.
  await late.query('commit');
  await until(async () => {
    await Promise.all(replicas.map((replica) => replica.webhooks.dispatch()));
    return (await s.recoup.webhooks.deliveries(of, { limit: 1000 })).length >= 41;
  });
  const deliveries = await told(s, of, 41);
  expect(deliveries).toHaveLength(41);
  expect(deliveries.filter(({ kind }) => kind === 'wallet.debt')).toHaveLength(1);
});
onFirst(
  'an endpoint that was looked at before a restore into another cluster misses nothing behind the new epoch',
  async (s) => {
    const of = await endpointOf(s, ['job.dead']);
    await dead(s);
    await told(s, of, 1);
    await dead(s);
    for (const table of ['entries', 'attempts', 'block_events', 'alert_events'])
      await s.db.query(`begin; alter table recoup.${table} disable trigger user; grant update on recoup.${table} to current_user;
      update recoup.${table} set tx = (tx::text::bigint + 1000000000)::text::xid8 where tx <> '0';
      alter table recoup.${table} enable trigger user; commit`);
    for (const table of ['entries', 'block_events', 'alert_events'])
      await s.db.query(
        `alter table recoup.${table} enable always trigger ${table}_append_only; revoke update on recoup.${table} from current_user`,
      );
    await s.db.query('revoke update on recoup.attempts from current_user');
    await s.db.query(
      `update recoup.webhook_endpoints set position = (position::text::bigint + 1000000000)::text::xid8 where id = $1`,
      [of],
    );
    await s.recoup.webhooks.dispatch();
    expect(await s.recoup.webhooks.deliveries(of)).toHaveLength(1);
    await s.recoup.epochs.open({ reason: 'restored', actor: 'ann' });
    expect(await told(s, of, 2)).toHaveLength(2);
    await dead(s);
    expect(await told(s, of, 3)).toHaveLength(3);
  },
);

onFirst('what is not allowed is refused and names its field', async (s) => {
  const fine = { endpoint: 'x', url: URL, kinds: ['job.dead'] as const };
  const wrong: [object, string][] = [
    [{ ...fine, url: 'ftp://example.com' }, 'url'],
    [{ ...fine, url: 'https://user:word@example.com' }, 'url'],
    [{ ...fine, url: 'https://example.com/#part' }, 'url'],
    [{ ...fine, url: 'nonsense' }, 'url'],
    [{ ...fine, kinds: [] }, 'kinds'],
    [{ ...fine, kinds: ['job.lost'] }, 'kinds'],
    [{ ...fine, kinds: ['wallet.low'] }, 'lowBalance'],
    [{ ...fine, lowBalance: 0.5 }, 'lowBalance'],
    [{ ...fine, secret: 'whsec_c2hvcnQ=' }, 'secret'],
    [{ ...fine, status: 'gone' }, 'status'],
    [{ ...fine, endpoint: '' }, 'endpoint'],
  ];
  for (const [input, field] of wrong) {
    const refused = await refusal(s.recoup.webhooks.register(input as typeof fine));
    expect([refused.code, refused.details.field]).toEqual(['invalid', field]);
  }
  const of = await endpointOf(s, ['job.dead']);
  const low = await refusal(s.recoup.webhooks.change({ endpoint: of, kinds: ['wallet.low'] }));
  expect(low.details.field).toBe('lowBalance');
  expect((await refusal(s.recoup.webhooks.replay({ endpoint: of }))).details.field).toBe('replay');
});

onEvery('after all of it the books are right', booksAreRight);
