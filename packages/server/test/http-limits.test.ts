// Over HTTP: reports with what the provider answered, its windows, limits of ours, the inbox.

import { readRules } from 'recoup/decoders';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { capacity } from '../src/operations/capacity/capacity.ts';
import { Api, type Json, newId } from './support/api.ts';

let api: Api;
beforeAll(async () => {
  const rule = { name: 'ours', provider: 'acme', code: 'E77', class: 'auth_revoked' };
  api = await Api.start({ open: { decoderRules: readRules({ rules: [rule] }) } as never });
});
afterAll(async () => {
  expect((await api.service.recoup.verify()).problems).toEqual([]);
  await api.close();
});

async function upstream(provider = 'openai'): Promise<{ upstream: string; pool: string }> {
  const account = { upstream: newId('up/ä'), pool: newId('pool') };
  await api.call('upstreams.register', { ...account, provider, actor: 'ann', reason: 'bought' });
  return account;
}
const metric = async (line: string) => String((await api.send('GET', '/metrics')).body).includes(line);

test('an answer is decoded: class, time, what was dropped; a repeat says the same', async () => {
  const { upstream: id } = await upstream();
  const answer = {
    status: 429,
    headers: { 'Retry-After': ['30'], 'x-ratelimit-remaining-requests': '0' },
    body: { error: { code: 'rate_limit_exceeded', message: 'slow down' } },
  };
  const told = await api.call('upstreams.report', { upstream: id, answer, key: 'k', use: { tokens: 5 } });
  expect(told).toMatchObject({ outcome: 'blocked', class: 'rate_limited', blocks: [{ outcome: 'blocked' }] });
  expect(told.reason).toContain('slow down');
  const [failing] = (await api.call('upstreams.explain', { upstream: id })).failing;
  expect(failing).toMatchObject({ check: 'blocked', source: 'retry_after', block: told.block });
  const text = JSON.stringify({ error: { code: 'rate_limit_exceeded' } });
  const bad = { status: 429, headers: { 'retry-after': '-5' }, body: text };
  expect((await api.call('upstreams.report', { upstream: id, answer: bad })).dropped).toHaveLength(1);
  expect(await metric('recoup_hints_dropped_total{provider="openai",rule=')).toBe(true);
});

test('an answer that came a while ago blocks for what is left of its time', async () => {
  const { upstream: id } = await upstream();
  const answer = { status: 429, headers: { 'retry-after': '600' }, ageMs: 590_000 };
  const { until } = await api.call('upstreams.report', { upstream: id, answer, elapsedMs: 0 });
  expect(Date.parse(until)).toBeLessThan(Date.now() + 300_000);
});

test.each([
  [{}, 'answer.status'],
  [{ status: '429' }, 'answer.status'],
  [{ status: 200, headers: { a: 1 } }, 'answer.headers.a'],
  [{ status: 200, cookies: [] }, 'answer.cookies'],
])('an answer as %j is refused', async (answer, field) => {
  const { upstream: id } = await upstream();
  const { field: named } = await api.refused('upstreams.report', 'invalid', { upstream: id, answer });
  expect(named).toBe(field);
});

test('success beside an answer is refused', async () => {
  const { upstream: id } = await upstream();
  const both = { upstream: id, success: true, answer: { status: 200 } };
  expect(await api.refused('upstreams.report', 'invalid', both)).toMatchObject({ field: 'success' });
});

test('rules of the operator decide; a new credential ends what they found, and the history says who', async () => {
  const { upstream: id } = await upstream('acme');
  const answer = { status: 400, body: { error: { code: 'E77', message: 'gone' } } };
  const told = await api.call('upstreams.report', { upstream: id, answer });
  expect(told).toMatchObject({ outcome: 'blocked', class: 'auth_revoked', rule: 'ours' });
  const replaced = { upstream: id, credentialRef: 'vault/2', actor: 'bob', reason: 'new key' };
  expect(await api.call('upstreams.replaceCredential', replaced)).toEqual({ outcome: 'replaced', closed: 1 });
  expect(await api.call('upstreams.replaceCredential', replaced)).toEqual({ outcome: 'duplicate', closed: 0 });
  await api.refused('upstreams.replaceCredential', 'no_upstream', { upstream: 'nobody' });
  const { events } = await api.call('upstreams.history', { upstream: id });
  const own = events.filter(({ block }: Json) => block === null);
  expect(own.map(({ type, actor, reason }: Json) => [type, actor, reason])).toEqual([
    ['credential', 'bob', 'new key'],
    ['registered', 'ann', 'bought'],
  ]);
});

test('read-outs are kept, and nothing goes back in time', async () => {
  const { upstream: id } = await upstream();
  const note = { upstream: id, snapshots: [{ name: 'week', used: 0.25, resetsAt: '2030-01-01T00:00:00Z' }] };
  expect(await api.call('upstreams.note', note)).toEqual({ outcome: 'noted', closed: 0, dropped: [] });
  const older = { ...note, observedAt: '2020-01-01T00:00:00Z' };
  expect(await api.call('upstreams.note', older)).toMatchObject({ outcome: 'duplicate' });
  const { snapshots } = await api.call('upstreams.snapshots', { upstream: id });
  expect(snapshots).toMatchObject([{ name: 'week', used: 0.25, exhausted: false }]);
  await api.refused('upstreams.snapshots', 'no_upstream', { upstream: 'nobody' });
});

test('a limit: set, used up, seen, reset, ended', async () => {
  const { upstream: id, pool } = await upstream();
  const limit = newId('limit');
  const set = { limit, upstream: id, unit: 'tokens', amount: 10, kind: 'monthly', zone: 'UTC', day: 31 };
  const answers = [await api.ask('limits.set', set), await api.ask('limits.set', set)];
  expect(await api.call('limits.set', set)).toEqual({ outcome: 'duplicate' });
  expect(answers.map(({ status, body }) => [status, body.outcome])).toEqual([
    [201, 'set'],
    [200, 'duplicate'],
  ]);
  const { lease } = await api.call('upstreams.select', { pool, sticky: 'talk' });
  const used = { upstream: id, lease, success: true, use: { tokens: 10 } };
  expect((await api.call('upstreams.report', used)).use).toBe('booked');
  expect((await api.call('upstreams.report', used)).use).toBe('duplicate');
  expect(await api.call('upstreams.explain', { upstream: id })).toMatchObject({
    usable: false,
    failing: [{ check: 'quota', limit, unit: 'tokens', used: 10, amount: 10 }],
  });
  const seen = await api.call('limits.get', { limit });
  expect((await api.call('limits.list', { upstream: id })).limits).toEqual([seen]);
  const reset = { limit, window: seen.windowStart, actor: 'ann', reason: 'paid' };
  expect(await api.call('limits.reset', reset)).toEqual({ outcome: 'reset' });
  expect(await api.call('limits.reset', reset)).toEqual({ outcome: 'duplicate' });
  expect(await metric('recoup_window_resets_total{scope="upstream",outcome="reset"} 1')).toBe(true);
  const { windows } = await api.call('limits.windows', { limit });
  expect(windows).toMatchObject([
    { begunBy: 'reset', actor: 'ann', used: 0 },
    { begunBy: 'use', used: 10 },
  ]);
  expect(await api.call('upstreams.explain', { upstream: id })).toMatchObject({ usable: true });
  const again = await api.call('upstreams.select', { pool, sticky: 'talk', stickyMs: 1000 });
  const released = { lease: again.lease, use: { tokens: 3 } };
  expect(await api.call('upstreams.release', released)).toEqual({ outcome: 'released' });
  expect((await api.call('limits.get', { limit })).used).toBe(3);
  expect(await api.call('limits.end', { limit })).toEqual({ outcome: 'ended' });
  for (const name of ['limits.get', 'limits.end', 'limits.reset', 'limits.windows'])
    await api.refused(name, 'no_limit', { limit: 'nobody' });
  await api.refused('limits.set', 'no_upstream', { ...set, limit: 'x', upstream: 'nobody' });
  await api.refused('limits.set', 'conflict', { ...set, unit: 'requests' });
  expect(await api.refused('limits.set', 'invalid', { ...set, zone: 'CET+1' })).toMatchObject({ field: 'zone' });
  expect(await api.refused('limits.list', 'invalid')).toMatchObject({ field: 'upstream' });
});

test('the inbox: what needs a person, page by page; take, put off, remark; it goes with its block', async () => {
  const { upstream: id, pool } = await upstream();
  const { upstream: other } = await upstream();
  const { block } = await api.call('upstreams.block', { upstream: id, reason: 'unpaid' });
  await api.call('upstreams.block', { upstream: other, reason: 'x' });
  const item = `block:${block}`;
  const { items } = await api.call('inbox.list', { pool });
  expect(items).toMatchObject([{ item, reason: 'unpaid', owner: null, pools: [{ pool, usable: 0, all: 1 }] }]);
  const page = await api.call('inbox.list', { limit: 1 });
  expect(page).toMatchObject({ items: [{ item }], cursor: item });
  expect((await api.call('inbox.list', { limit: 1, cursor: item })).items).toHaveLength(1);
  expect(await api.call('inbox.take', { item, actor: 'ann' })).toEqual({ outcome: 'taken', owner: 'ann' });
  expect(await api.call('inbox.take', { item, actor: 'bob' })).toEqual({ outcome: 'held', owner: 'ann' });
  const remark = { item, actor: 'ann', note: 'asked them', key: 'k' };
  expect((await api.call('inbox.note', remark)).outcome).toBe('noted');
  expect((await api.call('inbox.note', remark)).outcome).toBe('duplicate');
  const names = async (filter: object) =>
    (await api.call('inbox.list', { pool, ...filter })).items.map((one: Json) => one.item);
  expect([await names({ owner: 'ann' }), await names({ unowned: true })]).toEqual([[item], []]);
  expect(await api.call('inbox.snooze', { item, actor: 'ann', forMs: 60_000 })).toEqual({ outcome: 'snoozed' });
  expect([await names({}), await names({ snoozed: true })]).toEqual([[], [item]]);
  await api.refused('inbox.list', 'invalid', { owner: 'ann', unowned: true });
  await api.call('upstreams.free', { block });
  expect(await names({ snoozed: true })).toEqual([]);
  for (const [name, more] of [
    ['inbox.take', {}],
    ['inbox.snooze', {}],
    ['inbox.note', { note: 'x' }],
  ] as const)
    await api.refused(name, 'no_item', { item, actor: 'ann', ...more });
  expect(await api.refused('inbox.take', 'invalid', { item: 'x', actor: 'a' })).toMatchObject({ field: 'item' });
});

test('every operation on limits, read-outs and the inbox was called', () => {
  const names = capacity.map(({ name }) => name);
  const here = names.filter((name) => /^(limits|inbox)\.|^upstreams\.(note|snapshots|replaceCredential)$/.test(name));
  expect(here.filter((name) => !api.called.has(name))).toEqual([]);
});
