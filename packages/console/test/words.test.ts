// What pages say, without a browser: the story of a job's money, sums, states of upstreams, what to do first.
import { expect, test } from 'vitest';
import { groupsOf } from '../src/pages/dead-letters/groups.ts';
import { runsOf } from '../src/pages/job/events.ts';
import { firstOf } from '../src/pages/now/first.ts';
import { backOf, becauseOf, forecastOf, ranked, stateOf } from '../src/pages/pool/state.ts';
import { type HistoryEvent, stretchesOf } from '../src/pages/upstream/stretches.ts';
import { sentenceOf, storyOf, sumsOf } from '../src/pages/wallet/explain.ts';
import type { Attempt, Entry, InboxItem, Job, Upstream } from '../src/types.ts';
import { age, duration, number, signed } from '../src/words.ts';

const START = Date.parse('2026-03-01T12:00:00Z');
const at = (ms: number) => new Date(START + ms).toISOString();
const entry = (more: Partial<Entry>): Entry => ({
  ...{ wallet: 'ada', seq: 1, type: 'charge', amount: -40, balance: 60, job: 'video-1', key: null, reason: null },
  ...{ actor: null, note: null, jobState: 'succeeded', jobReason: null, createdAt: at(0) },
  ...more,
});
const late = [
  entry({}),
  entry({ seq: 2, type: 'refund', amount: 40, balance: 100, createdAt: at(30_000), reason: 'timed_out' }),
  entry({ seq: 3, type: 'reclaim', amount: -40, balance: 60, createdAt: at(32_400) }),
];
const upstream = (more: Partial<Upstream>): Upstream => ({
  ...{ upstream: 'gpu-a', pool: 'video', provider: 'openai', quotaGroup: null, route: 'direct', credentialRef: null },
  ...{ status: 'on', priority: 5, weight: 1, maxConcurrency: null, slotsOut: 0, usable: true, failing: [] },
  ...{ expectedRecoveryAt: null, estimate: null, tightUntil: null, lastUsedAt: null, registeredAt: at(0) },
  ...more,
});
const failing = (more: Partial<Upstream['failing'][number]>): Upstream['failing'][number] => ({
  ...{
    check: 'blocked',
    block: 1,
    kind: 'rate_limited',
    source: 'retry_after',
    policy: 'auto',
    subject: 'upstream:gpu-a',
  },
  ...{
    scope: '',
    until: null,
    reason: null,
    revision: 1,
    nextStep: null,
    limit: null,
    unit: null,
    used: null,
    amount: null,
  },
  ...more,
});

test('numbers and durations: signs shown, tenths only where they are known, never below zero', () => {
  expect([number(1234567), number(-40), signed(40), signed(-40), signed(0)]).toEqual([
    '1,234,567',
    '−40',
    '+40',
    '−40',
    '0',
  ]);
  expect([0, -5, 113, 2400, 38_000, 61_000, 3_600_000, 187_200_000].map(duration)).toEqual([
    '0 s',
    '0 s',
    '113 ms',
    '2.4 s',
    '38 s',
    '1 min 1 s',
    '1 h',
    '2 d 4 h',
  ]);
  expect(age(at(0), START - 50)).toBe('0 s');
});

test('a late success is told as one would tell the customer', () => {
  expect(storyOf(late, 'credit')).toBe(
    '40 credits were taken when the job was submitted, given back 30 s later (timed out) and taken again 2.4 s later, ' +
      'because the result arrived after all. In the end it cost 40 credits. The result was delivered.',
  );
  expect(storyOf(late.slice(0, 2), 'credit')).toMatch(/In the end it cost nothing\./);
  expect(storyOf([], 'credit')).toBe('');
  const cheaper = [late[0]!, entry({ seq: 2, type: 'settle', amount: 15, createdAt: at(5000) })];
  expect(storyOf(cheaper, 'credit')).toMatch(
    /15 credits given back 5 s later, when the final price was known\. In the end it cost 25/,
  );
  const grant = entry({ type: 'grant', amount: 1, balance: 1, job: null, key: 'pay-1', actor: 'ann' });
  expect(sentenceOf(grant, 'credit')).toBe('1 credit were added, by ann, under the key pay-1. The balance was 1 then.');
});

test('the sums of all kinds are the balance', () => {
  const entries = [entry({ type: 'grant', amount: 100, balance: 100 }), ...late];
  expect(sumsOf(entries).map(({ type, amount, count }) => [type, amount, count])).toEqual([
    ['grant', 100, 1],
    ['charge', -40, 1],
    ['refund', 40, 1],
    ['reclaim', -40, 1],
  ]);
  expect(sumsOf(entries).reduce((sum, { amount }) => sum + amount, 0)).toBe(60);
});

test('an attempt that ended twice is one run, and one that has not ended lasts until now', () => {
  const ended = {
    attempt: 1,
    startedAt: at(0),
    worker: null,
    verdict: null,
    reason: null,
    upstreamRef: null,
    jobState: 'dead',
  };
  const attempts = [
    { ...ended, endedAt: at(30_000), endedAs: 'failed' },
    { ...ended, endedAt: at(32_000), endedAs: 'succeeded' },
  ] as Attempt[];
  const job = { state: 'running', startedAt: at(40_000), attempt: 2 } as Job;
  expect(runsOf(job, attempts, START + 50_000)).toEqual([
    { attempt: 1, from: START, to: START + 30_000, endedAs: 'failed' },
    { attempt: 2, from: START + 40_000, to: START + 50_000, endedAs: 'running' },
  ]);
});

test('the state of an upstream is its worst check, and when it is back says who says so', () => {
  const cooling = failing({});
  const manual = failing({ kind: 'auth_revoked', policy: 'manual', reason: 'invalid_api_key' });
  expect(stateOf(upstream({})).word).toBe('ready');
  expect(stateOf(upstream({ failing: [cooling, manual] })).word).toBe('needs a person');
  expect(stateOf(upstream({ failing: [failing({ check: 'quota', block: null, policy: null })] })).word).toBe('used up');
  expect(becauseOf(manual)).toBe('auth revoked · invalid_api_key');
  const soon = (source: string, ms: number) =>
    upstream({
      usable: false,
      expectedRecoveryAt: at(ms),
      estimate: { at: at(ms), source, revision: 1, range: null } as Upstream['estimate'],
    });
  expect(backOf(soon('retry_after', 20_000), START)).toBe('in 20 s, the provider says');
  expect(backOf(soon('backoff', 540_000), START)).toBe('in about 9 min, estimated');
  expect(backOf(soon('backoff', -5000), START)).toBe('due 5 s ago, estimated');
  expect(backOf(upstream({ usable: false }), START)).toBe('no estimate: a person first');
});

test('what returns soonest comes first, and the forecast counts it', () => {
  const all = [
    upstream({ upstream: 'person', usable: false }),
    upstream({ upstream: 'later', usable: false, expectedRecoveryAt: at(9000) }),
    upstream({ upstream: 'ready' }),
    upstream({ upstream: 'sooner', usable: false, expectedRecoveryAt: at(1000) }),
  ];
  expect(ranked(all).map(({ upstream: { upstream: id }, rank }) => [id, rank])).toEqual([
    ['ready', 1],
    ['sooner', null],
    ['later', null],
    ['person', null],
  ]);
  expect(forecastOf(all, START, 5000)).toEqual([
    { at: START, usable: 1 },
    { at: START + 1000, usable: 2 },
  ]);
});

test('first comes what stops a pool, then what a person has waited for, then dead letters by how many', () => {
  const item = (id: string, usable: number): InboxItem =>
    ({
      item: id,
      subject: `upstream:${id}`,
      kind: 'auth_revoked',
      since: at(0),
      pools: [{ pool: 'p', usable, all: 2 }],
    }) as InboxItem;
  const dead = (reason: string, id: string): Job =>
    ({
      id,
      wallet: 'w',
      queue: 'video',
      reason,
      price: 40,
      refundedAt: at(0),
      deadAt: at(0),
      submittedAt: at(0),
    }) as Job;
  const jobs = [dead('b', '1'), dead('a', '2'), dead('a', '3')];
  expect(groupsOf(jobs).map(({ reason, count, atStake }) => [reason, count, atStake])).toEqual([
    ['a', 2, 80],
    ['b', 1, 40],
  ]);
  const todo = firstOf({ items: [item('in-part', 1), item('out', 0)], dead: jobs, alerts: [], now: START + 7_200_000 });
  expect(todo.map(({ says }) => says)).toEqual([
    'out: auth revoked – p cannot serve, for 2 h',
    'in-part: auth revoked, for 2 h',
    '2 dead letters of video: a – 80 refunded',
    '1 dead letter of video: b – 40 refunded',
  ]);
});

test('what kept an upstream out is a stretch for each opening, the one that lasts without an end', () => {
  const event = (block: number | null, type: HistoryEvent['type'], ms: number, more: Partial<HistoryEvent> = {}) =>
    ({
      ...{ block, type, at: at(ms), generation: 1, subject: 'upstream:gpu-a', scope: '', kind: 'rate_limited' },
      ...{ source: 'backoff', policy: 'auto', until: null, step: 1, evidenceAt: null, closedAs: null, actor: null },
      ...{ reason: null, settings: null, ...more },
    }) as HistoryEvent;
  // As the service answers: the newest first, and the oldest ones are not there.
  const events = [
    event(3, 'opened', 900, { policy: 'manual', kind: 'auth_revoked' }),
    event(2, 'closed', 800, { closedAs: 'success' }),
    event(2, 'extended', 500),
    event(2, 'opened', 400),
    event(null, 'changed', 300),
    event(1, 'closed', 200, { closedAs: 'time' }),
  ];
  expect(
    stretchesOf(events).map(({ block, from, to, closedAs, manual }) => [
      block,
      from - START,
      to && to - START,
      closedAs,
      manual,
    ]),
  ).toEqual([
    [1, 200, 200, 'time', false],
    [2, 400, 800, 'success', false],
    [3, 900, null, null, true],
  ]);
});
