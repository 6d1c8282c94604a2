// The inbox: what needs a person is there from the first second and gone with its cause; who cares is told once.
import { expect } from 'vitest';
import type { InboxItem } from '../src/index.ts';
import { answer, tally, times } from './support/look.ts';
import { HOUR, MINUTE, poolOf, SECOND, soft } from './support/pools.ts';
import { booksAreRight, newId, type Stage, staging } from './support/stage.ts';
import { untilWaiting, watch } from './support/waiting.ts';

const { onEvery, onFirst } = staging();
const manual = (kind: string, more = {}) => ({ kind, policy: 'manual', ...more }) as const;
const block = (s: Stage, upstream: string, of: object) =>
  s.recoup.upstreams.report({ upstream, success: false, block: of as never });

/** A pool of so many, and the item of its first upstream. */
async function withItem(s: Stage, count = 1) {
  const { pool, names } = await poolOf(s, count);
  const { block: id } = await block(s, names[0]!, manual('billing', { reason: 'card expired', nextStep: 'pay' }));
  return { pool, names, item: `block:${id}`, block: id! };
}
const only = async (s: Stage, pool: string, more = {}): Promise<InboxItem | undefined> => {
  const [item, ...others] = await s.recoup.inbox.list({ pool, ...more });
  expect(others).toEqual([]);
  return item;
};

onEvery(
  'an item says since when, what it costs, what to do; what ends by itself is none; it goes with its cause',
  async (s) => {
    const { pool, names, item, block: id } = await withItem(s, 4);
    await block(s, names[1]!, soft);
    await s.recoup.upstreams.change(names[2]!, { status: 'off' });
    expect(await only(s, pool)).toEqual({
      ...{
        item,
        block: id,
        generation: 1,
        subject: `upstream:${names[0]}`,
        scope: '',
        kind: 'billing',
        reason: 'card expired',
        nextStep: 'pay',
      },
      ...{ since: expect.any(Date), contradictedAt: null, owner: null, snoozedUntil: null, notes: [] },
      pools: [{ pool, usable: 1, all: 4 }],
    });
    await s.recoup.upstreams.free(id);
    expect(await only(s, pool)).toBeUndefined();
    for (const call of [
      s.recoup.inbox.take(item, { actor: 'ann' }),
      s.recoup.inbox.note(item, { actor: 'ann', note: 'x' }),
    ])
      expect(await answer(call)).toBe('no_item');
  },
);

onEvery('of one model it costs that model; of a group every pool that it is in', async (s) => {
  const quotaGroup = newId('project');
  const [one, other] = [await poolOf(s, 2, { quotaGroup }), await poolOf(s, 1, { quotaGroup })];
  await block(s, one.names[0]!, manual('permission', { scope: 'model:opus' }));
  expect(await only(s, one.pool)).toMatchObject({ scope: 'model:opus', pools: [{ usable: 1, all: 2 }] });
  expect((await s.recoup.upstreams.select({ pool: one.pool })).outcome).toBe('selected');
  await block(s, one.names[1]!, manual('billing', { subject: 'quota_group' }));
  const pools = [other, one].map(({ pool, names }) => ({ pool, usable: 0, all: names.length }));
  const byPool = (a: { pool: string }, b: { pool: string }) => (a.pool < b.pool ? -1 : 1);
  expect(await only(s, other.pool)).toMatchObject({ subject: `quota_group:${quotaGroup}`, pools: pools.sort(byPool) });
});

onEvery('taken: by one, until another takes it over by force; lists by whose', async (s) => {
  const { pool, item } = await withItem(s);
  const { inbox } = s.recoup;
  expect(await inbox.take(item, { actor: 'ann' })).toEqual({ outcome: 'taken', owner: 'ann' });
  expect(await inbox.take(item, { actor: 'ann' })).toEqual({ outcome: 'duplicate', owner: 'ann' });
  expect(await inbox.take(item, { actor: 'bob' })).toEqual({ outcome: 'held', owner: 'ann' });
  expect([
    await only(s, pool, { owner: 'ann' }),
    await only(s, pool, { owner: 'bob' }),
    await only(s, pool, { owner: null }),
  ]).toMatchObject([{ owner: 'ann' }, {}, {}].map((found, i) => (i === 0 ? found : undefined)) as never);
  expect(await inbox.take(item, { actor: 'bob', force: true, note: 'she is away' })).toEqual({
    outcome: 'taken',
    owner: 'bob',
  });
  const found = await only(s, pool, { owner: 'bob' });
  expect(found!.notes.map(({ number, type, actor, note }) => ({ number, type, actor, note }))).toEqual([
    { number: 1, type: 'taken', actor: 'ann', note: null },
    { number: 2, type: 'taken', actor: 'bob', note: 'she is away' },
  ]);
});

onEvery(
  'put off: hidden until then, shown again by its time, by hand, or when something new speaks against it',
  async (s) => {
    const { pool, names, item } = await withItem(s);
    const { inbox } = s.recoup;
    await s.stopClock();
    const until = new Date((await s.db.now()).getTime() + HOUR);
    expect(await inbox.snooze(item, { actor: 'ann', until })).toEqual({ outcome: 'snoozed' });
    expect(await inbox.snooze(item, { actor: 'ann', forMs: HOUR })).toEqual({ outcome: 'duplicate' });
    expect([await only(s, pool), await only(s, pool, { snoozed: true })]).toMatchObject([
      undefined,
      { snoozedUntil: until },
    ] as never);
    expect(await inbox.snooze(item, { actor: 'bob' })).toEqual({ outcome: 'woken' });
    expect(await inbox.snooze(item, { actor: 'bob' })).toEqual({ outcome: 'duplicate' });
    expect(await only(s, pool)).toMatchObject({ snoozedUntil: null });
    await inbox.snooze(item, { actor: 'ann', forMs: HOUR });
    await s.db.advance(HOUR + 1);
    expect(await only(s, pool)).toMatchObject({ snoozedUntil: null });
    await inbox.snooze(item, { actor: 'ann', forMs: HOUR });
    await s.db.advance(MINUTE);
    await s.recoup.upstreams.report({ upstream: names[0]!, success: true });
    expect(await only(s, pool)).toMatchObject({ contradictedAt: await s.db.now(), snoozedUntil: null });
    expect(await only(s, pool, { snoozed: true })).toBeUndefined();
  },
);

onEvery('40 remarks at once: all are kept, numbered without a gap; those with one key are one', async (s) => {
  const { pool, item } = await withItem(s);
  const replicas = await Promise.all(times(4, () => s.replica()));
  const say = (i: number) =>
    replicas[i % 4]!.inbox.note(item, { actor: `a${i}`, note: `n${i}`, ...(i < 10 ? { key: 'same' } : {}) });
  const answers = await Promise.all(times(40, say));
  expect(tally(answers.map(({ outcome }) => outcome))).toEqual({ noted: 31, duplicate: 9 });
  const { notes } = (await only(s, pool))!;
  expect(notes.map(({ number }) => number)).toEqual(times(31, (i) => i + 1));
  expect(new Set(notes.map(({ note }) => note)).size).toBe(31);
});

onEvery('20 people take one item at once: one has it, the others are told who', async (s) => {
  const replicas = await Promise.all(times(4, () => s.replica()));
  for (let round = 0; round < 5; round++) {
    const { pool, item } = await withItem(s);
    const answers = await Promise.all(times(20, (i) => replicas[i % 4]!.inbox.take(item, { actor: `person ${i}` })));
    expect(tally(answers.map(({ outcome }) => outcome))).toEqual({ taken: 1, held: 19 });
    const { owner, notes } = (await only(s, pool))!;
    expect(new Set(answers.map((one) => one.owner))).toEqual(new Set([owner]));
    expect(notes).toHaveLength(1);
  }
});

onEvery('in a transaction of the caller: with it or not at all', async (s) => {
  const { pool, item } = await withItem(s);
  const client = await s.client();
  for (const [end, owner] of [
    ['rollback', null],
    ['commit', 'ann'],
  ] as const) {
    await client.query('begin');
    const { inbox } = s.recoup.using(client);
    expect((await inbox.take(item, { actor: 'ann' })).outcome).toBe('taken');
    expect((await inbox.note(item, { actor: 'ann', note: 'on it' })).number).toBe(2);
    expect(await inbox.list({ pool })).toMatchObject([{ owner: 'ann' }]);
    await client.query(end);
    expect(await only(s, pool)).toMatchObject({ owner });
  }
});

onEvery(
  'a key is said once of an item, and again of another; a remark changes nothing of what is put off',
  async (s) => {
    const [one, other] = [await withItem(s), await withItem(s)];
    const { inbox } = s.recoup;
    const say = (item: string) => inbox.note(item, { actor: 'ann', note: 'n', key: 'same' });
    expect([await say(one.item), await say(other.item), await say(one.item)]).toMatchObject([
      { outcome: 'noted', number: 1 },
      { outcome: 'noted', number: 1 },
      { outcome: 'duplicate' },
    ]);
    const until = new Date((await s.db.now()).getTime() + 2 * HOUR);
    const snooze = (item: string) => inbox.snooze(item, { actor: 'ann', until });
    expect([await snooze(one.item), await snooze(other.item)]).toEqual([
      { outcome: 'snoozed' },
      { outcome: 'snoozed' },
    ]);
    await inbox.note(one.item, { actor: 'bob', note: 'so be it' });
    expect(await snooze(one.item)).toEqual({ outcome: 'duplicate' });
    expect((await only(s, one.pool, { snoozed: true }))!.notes.map(({ type }) => type)).toEqual([
      'noted',
      'snoozed',
      'noted',
    ]);
    // Once that is over there is nothing to wake.
    await s.db.advance(3 * HOUR);
    expect(await inbox.snooze(one.item, { actor: 'ann' })).toEqual({ outcome: 'duplicate' });
    await s.recoup.upstreams.free(one.block);
    expect(await answer(inbox.snooze(one.item, { actor: 'ann', forMs: HOUR }))).toBe('no_item');
  },
);

onEvery('put off twice in one statement: each is said, one behind the other', async (s) => {
  const { pool, item } = await withItem(s);
  const calls = [1, 2, 3].map((hours) => s.recoup.inbox.snooze(item, { actor: 'ann', forMs: hours * HOUR }));
  expect(tally((await Promise.all(calls)).map(({ outcome }) => outcome))).toEqual({ snoozed: 3 });
  expect((await only(s, pool, { snoozed: true }))!.notes.map(({ number }) => number)).toEqual([1, 2, 3]);
});

onEvery('who stands behind a note that is not committed says it in its light', async (s) => {
  const client = await s.client();
  const { inbox } = s.recoup;
  const calls: [(item: string) => Promise<{ outcome: string }>, string, number][] = [
    [(item) => inbox.note(item, { actor: 'bob', note: 'n' }), 'noted', 2],
    [(item) => inbox.snooze(item, { actor: 'bob', forMs: HOUR }), 'snoozed', 2],
    [(item) => inbox.take(item, { actor: 'bob' }), 'held', 1],
  ];
  for (const [call, outcome, count] of calls) {
    const { item } = await withItem(s);
    await client.query('begin');
    await s.recoup.using(client).inbox.take(item, { actor: 'ann' });
    const behind = watch(call(item));
    await untilWaiting(s.db);
    await client.query('commit');
    expect((await behind.call).outcome).toBe(outcome);
    const notes = await s.db.query('select number from recoup.inbox_notes where item = $1 order by number', [item]);
    expect([outcome, notes.map(({ number }) => number)]).toEqual([outcome, times(count, (i) => i + 1)]);
  }
});

onEvery('in pages, oldest first', async (s) => {
  const { pool, names } = await poolOf(s, 7);
  const items = [];
  for (const upstream of names) items.push(`block:${(await block(s, upstream, manual('billing'))).block}`);
  const pages = [];
  for (let after: string | undefined; ; ) {
    const page = await s.recoup.inbox.list({ pool, limit: 3, ...(after && { after }) });
    if (page.length === 0) break;
    pages.push(page.map(({ item }) => item));
    after = page.at(-1)!.item;
  }
  expect(pages).toEqual([items.slice(0, 3), items.slice(3, 6), items.slice(6)]);
});

onFirst('wrong input is refused with its field; what is no item is none', async (s) => {
  const { item } = await withItem(s);
  const { block: auto } = await block(s, (await poolOf(s, 1)).names[0]!, soft);
  const { inbox } = s.recoup;
  const wrong: [() => Promise<unknown>, string][] = [
    [() => inbox.list({ limit: 0 }), 'limit'],
    [() => inbox.list({ after: '7' }), 'after'],
    [() => inbox.list({ snoozed: 'yes' as never }), 'snoozed'],
    [() => inbox.list({ owned: 'ann' } as never), 'owned'],
    [() => inbox.take('12', { actor: 'ann' }), 'item'],
    [() => inbox.take('block:1e3', { actor: 'ann' }), 'item'],
    [() => inbox.take(item, { actor: '' }), 'actor'],
    [() => inbox.take(item, {} as never), 'actor'],
    [() => inbox.snooze(item, { actor: 'ann', forMs: 0 }), 'forMs'],
    [() => inbox.snooze(item, { actor: 'ann', forMs: 5, until: new Date() }), 'until'],
    [() => inbox.note(item, { actor: 'ann', note: '' }), 'note'],
    [() => inbox.note(item, { actor: 'ann', note: 'x'.repeat(2001) }), 'note'],
    [() => inbox.note(item, { actor: 'ann', note: 'x', force: true } as never), 'force'],
  ];
  for (const [call, field] of wrong) {
    const refused = await Promise.resolve()
      .then(call)
      .catch((error: unknown) => error);
    expect([field, refused]).toMatchObject([field, { code: 'invalid', details: { field } }]);
  }
  for (const none of [`block:${auto}`, 'block:999999999999'])
    await expect(inbox.take(none, { actor: 'ann' })).rejects.toMatchObject({ code: 'no_item', status: 404 });
  expect((await inbox.list()).find((found) => found.item === item)!.notes).toEqual([]);
});

void SECOND;
onEvery('the books are right', booksAreRight);
