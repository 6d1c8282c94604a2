// The parsing rules of decoders as tables: durations, waits, instants, plausible resets, lengths, scales, clocks, secrets.
import { describe, expect, test } from 'vitest';
import { MAX_BODY } from '../src/decoders/parsing/body.ts';
import { durationAfter, durationMs } from '../src/decoders/parsing/durations.ts';
import { headersOf } from '../src/decoders/parsing/headers.ts';
import { httpDateMs, instantMs, pacificMidnight } from '../src/decoders/parsing/instants.ts';
import { at } from '../src/decoders/parsing/json.ts';
import { redacted } from '../src/decoders/parsing/redact.ts';
import { kindOf } from '../src/decoders/parsing/windows.ts';
import { type Answer, decode } from '../src/decoders.ts';

const NOW = new Date('2026-03-10T12:00:00Z');
const S = NOW.getTime() / 1000;
const HOUR = 3600;
const DAY = 24 * HOUR;
const factsOf = (answer: Partial<Answer>) => decode({ provider: 'generic', status: 429, receivedAt: NOW, ...answer });
/** How long after the answer, in ms. */
const waitOf = (headers: Record<string, string>, answer: Partial<Answer> = {}) => {
  const { until } = factsOf({ headers, ...answer });
  return until === null ? null : until.getTime() - NOW.getTime();
};

test.each([
  ['6m0s', 360_000],
  ['20ms', 20],
  ['1m', 60_000],
  ['36.434s', 36_434],
  ['41.724s', 41_724],
  ['1h2m3s', 3_723_000],
  ['1s', 1000],
  ['0.5ms', 1],
  ['1.0001s', 1001],
  ['2h', 7_200_000],
  ['', null],
  ['1', null],
  ['s', null],
  ['1s1m', null],
  ['-1s', null],
  ['1.5m', null],
  ['1e3s', null],
  [' ', null],
  [20, null],
  [null, null],
])('rule 1: the duration %j is %j ms', (text, ms) => {
  expect(durationMs(text)).toBe(ms);
});

test.each([
  ['Please try again in 41.724s. Visit', 41_724],
  ['Please try again in 20ms', 20],
  ['try again in 1h2m3s.', 3_723_000],
  ['Try again in 86400 seconds', 86_400_000],
  ['try again in 2 days', 172_800_000],
  ['try again in 1 Hour', 3_600_000],
  ['try again in 4 days, 3 hours and 1 minute. Or 5 hours.', 356_460_000],
  ['try again in 2 days 1 hour', 176_400_000],
  ['try again in 0 seconds', null],
  ['try again in a while', null],
  ['try again', null],
])('in words: %j', (text, ms) => {
  expect(durationAfter(text, ['try again in '])).toBe(ms);
});

test.each([
  [{ 'retry-after': '30' }, 30_000],
  [{ 'retry-after': '1.5' }, 1500],
  [{ 'retry-after': 'Tue, 10 Mar 2026 12:01:30 GMT' }, 90_000],
  [{ 'retry-after': 'Tuesday, 10-Mar-26 12:01:30 GMT' }, 90_000],
  [{ 'retry-after': 'Tue Mar 10 12:01:30 2026' }, 90_000],
  [{ 'retry-after': '2', 'retry-after-ms': '1250' }, 1250],
  [{ 'retry-after': '2', 'retry-after-ms': 'x' }, 2000],
  [{ 'retry-after': '0' }, null],
  [{ 'retry-after': '-1' }, null],
  [{ 'retry-after': 'NaN' }, null],
  [{ 'retry-after': 'soon' }, null],
  [{ 'retry-after': '1e3' }, null],
  [{ 'retry-after': 'Tue, 10 Mar 2026 11:59:00 GMT' }, null],
  [{ 'retry-after': 'Tue, 30 Feb 2026 12:01:30 GMT' }, null],
  [{ 'retry-after': '3600' }, 3_600_000],
  [{ 'retry-after': '1587827' }, 3_600_000],
])('rule 2: the wait of %j is %j ms', (headers, ms) => {
  expect(waitOf(headers as Record<string, string>)).toBe(ms);
});

test('rule 2: the cap may be another', () => {
  const answer = { provider: 'generic', status: 429, headers: { 'retry-after': '7200' }, receivedAt: NOW };
  const { until, dropped } = decode(answer, { maxRetryAfterMs: 7_200_000 });
  expect([until, dropped]).toEqual([new Date(NOW.getTime() + 7_200_000), []]);
  expect(() => decode(answer, { maxRetryAfterMs: 0 })).toThrow('maxRetryAfterMs: must be an integer from 1 to');
});

test.each([
  [1_773_144_000, 1_773_144_000_000],
  ['1773144000', 1_773_144_000_000],
  [1_773_144_000_000, 1_773_144_000_000],
  [1_773_144_000.5, 1_773_144_000_500],
  [99_999_999_999, 99_999_999_999_000],
  [100_000_000_000, 100_000_000_000],
  ['2026-03-10T12:00:00Z', NOW.getTime()],
  ['2026-03-10T12:00:00', NOW.getTime()],
  ['2026-03-10T14:00:00+02:00', NOW.getTime()],
  ['2026-03-10T12:00:00.000001Z', NOW.getTime() + 1],
  ['2026-02-30T12:00:00Z', null],
  ['2026-03-10', null],
  ['10.3.2026', null],
  [0, null],
  [-5, null],
  ['', null],
  [null, null],
])('rules 3 and 7: the instant %j', (value, ms) => {
  expect(instantMs(value)).toBe(ms);
});

const codex = (minutes: number, used: number, resetAt: number) =>
  factsOf({
    provider: 'codex',
    headers: {
      'x-codex-primary-used-percent': String(used),
      'x-codex-primary-window-minutes': String(minutes),
      'x-codex-primary-reset-at': String(resetAt),
    },
  });

test.each([
  [300, 5 * HOUR, true],
  [300, 6 * HOUR, true],
  [300, 6 * HOUR + 1, false],
  [10_080, 8.4 * DAY, true],
  [10_080, 8.4 * DAY + 1, false],
  [300, 0, false],
  [300, -2 * HOUR, false],
  [0, 32 * DAY, true],
  [0, 32 * DAY + 1, false],
])('rule 4: of a window of %i minutes a reset %d s ahead is plausible: %s', (minutes, ahead, plausible) => {
  const { until, source, dropped } = codex(minutes, 100, S + ahead);
  expect(until).toEqual(plausible ? new Date((S + ahead) * 1000) : null);
  expect(source).toBe(plausible ? 'reset_announced' : 'backoff');
  const noted = !plausible && ahead !== 0;
  expect(dropped.map(({ rule }) => rule)).toEqual(noted ? ['implausible_reset'] : []);
});

test('rule 5: only an exhausted window holds anything up', () => {
  expect(codex(300, 99.9, S + HOUR)).toMatchObject({ class: 'rate_limited', until: null, source: 'backoff' });
  expect(codex(300, 100, S + HOUR)).toMatchObject({ class: 'quota_exhausted_upstream', source: 'reset_announced' });
});

test.each([
  [5 * HOUR, 'short'],
  [6 * HOUR, 'short'],
  [6 * HOUR + 1, 'other'],
  [20 * HOUR, 'daily'],
  [28 * HOUR, 'daily'],
  [28 * HOUR + 1, 'other'],
  [6 * DAY, 'weekly'],
  [8 * DAY, 'weekly'],
  [28 * DAY, 'monthly'],
  [31 * DAY, 'monthly'],
])('rule 6: a window of %d s is %s', (seconds, kind) => {
  expect(kindOf(seconds * 1000)).toBe(kind);
});

describe('rule 8: the scale comes from the source', () => {
  const ofHeader = (used: string) =>
    factsOf({ provider: 'anthropic', status: 200, headers: { 'anthropic-ratelimit-unified-5h-utilization': used } });
  const ofPage = (used: number) =>
    factsOf({ provider: 'anthropic', status: 200, body: { five_hour: { utilization: used } } });
  test.each([
    ['0.9', 0.9],
    ['1.0', 1],
    ['0', 0],
  ])('a fraction of %s', (used, fraction) => {
    expect(ofHeader(used).snapshots[0]).toMatchObject({ used: fraction, scale: 'fraction' });
  });
  test.each([
    [0.9, 0.009],
    [90, 0.9],
    [100, 1],
  ])('%d percent', (used, fraction) => {
    expect(ofPage(used).snapshots[0]).toMatchObject({ used: fraction, scale: 'percent' });
  });
  test.each(['47', '-0.1', 'much', 'Infinity'])('%s is no fraction: left out and noted', (used) => {
    const { snapshots, dropped } = ofHeader(used);
    expect([snapshots, dropped.length]).toEqual([[], 1]);
  });
});

test.each([
  ['two hours ahead', 'Tue, 10 Mar 2026 14:00:00 GMT', 3 * HOUR, HOUR],
  ['two hours behind', 'Tue, 10 Mar 2026 10:00:00 GMT', -HOUR, HOUR],
  ['a minute ahead', 'Tue, 10 Mar 2026 12:01:00 GMT', HOUR, HOUR],
  ['61 s ahead', 'Tue, 10 Mar 2026 12:01:01 GMT', HOUR, HOUR - 61],
  ['two days ahead, which is no clock', 'Thu, 12 Mar 2026 12:00:00 GMT', HOUR, HOUR],
  ['not understood', 'now', HOUR, HOUR],
])('rule 9: a clock that is %s', (_name, date, ahead, expected) => {
  const start = 'anthropic-ratelimit-unified-5h';
  const headers = { date, [`${start}-status`]: 'rejected', [`${start}-reset`]: String(S + ahead) };
  expect(waitOf(headers, { provider: 'anthropic' })).toBe(expected * 1000);
});

test('rule 9: a distance needs no clock', () => {
  expect(waitOf({ date: 'Tue, 10 Mar 2026 14:00:00 GMT', 'retry-after': '30' })).toBe(30_000);
  expect(waitOf({ date: 'Tue, 10 Mar 2026 14:00:00 GMT', 'retry-after': 'Tue, 10 Mar 2026 14:00:30 GMT' })).toBe(
    30_000,
  );
});

test('rule 11: an error event after 200 counts, with its own status', () => {
  expect(factsOf({ status: 200, body: { error: { code: 402, message: 'no credit' } } })).toMatchObject({
    class: 'billing',
  });
  expect(factsOf({ status: 200, body: { error: null, choices: [] } })).toMatchObject({ class: null, snapshots: [] });
  const long = `data: {"delta":"${'x'.repeat(2 * MAX_BODY)}"}\n\ndata: {"type":"error","error":{"type":"overloaded_error"}}\n\n`;
  expect(factsOf({ provider: 'anthropic', status: 200, body: long })).toMatchObject({ class: 'overloaded' });
});

test.each([
  ['2026-03-10T12:00:00Z', '2026-03-11T07:00:00Z'],
  ['2026-03-11T06:59:59.999Z', '2026-03-11T07:00:00Z'],
  ['2026-03-11T07:00:00Z', '2026-03-12T07:00:00Z'],
  ['2026-03-08T07:59:00Z', '2026-03-08T08:00:00Z'],
  ['2026-03-08T09:00:00Z', '2026-03-09T07:00:00Z'],
  ['2026-11-01T08:00:00Z', '2026-11-02T08:00:00Z'],
  ['2026-12-31T23:00:00Z', '2027-01-01T08:00:00Z'],
])('after %s the next Pacific midnight is %s, also where clocks change', (now, midnight) => {
  expect(new Date(pacificMidnight(Date.parse(now)))).toEqual(new Date(midnight));
});

test('HTTP dates are those of RFC 9110 and nothing else', () => {
  expect(httpDateMs('Sun, 06 Nov 1994 08:49:37 GMT')).toBe(Date.UTC(1994, 10, 6, 8, 49, 37));
  for (const wrong of [
    '2026-03-10T12:00:00Z',
    'Sun, 6 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37 +0100',
    '5',
  ]) {
    expect(httpDateMs(wrong)).toBeNull();
  }
});

test('headers of any shape; the first value of a name counts; names of prototypes are names', () => {
  expect(headersOf({ 'Retry-After': ['5', '9'], RETRY_AFTER: 7, x: undefined })).toEqual(
    new Map([
      ['retry-after', '5'],
      ['retry_after', '7'],
    ]),
  );
  const hostile = JSON.parse('{"__proto__": "1", "constructor": "2", "forEach": "3"}') as Record<string, string>;
  expect([...headersOf(hostile).keys()].sort()).toEqual(['__proto__', 'constructor', 'foreach']);
  expect(headersOf([['A', '1']]).get('a')).toBe('1');
  expect(headersOf(Array.from({ length: 10_000 }, (_, i) => [`h${i}`, 'x'] as const)).size).toBe(500);
});

test('of JSON only own properties are read', () => {
  expect(at({ a: { b: 1 } }, 'a', 'b')).toBe(1);
  expect([at({}, 'toString'), at([], 'map'), at('text', 'length'), at(null, 'a'), at({ a: null }, 'a', 'b')]).toEqual(
    Array(5).fill(undefined),
  );
});

test.each([
  ['Incorrect API key provided: sk-proj-abc123def456ghi789.', 'Incorrect API key provided: …'],
  ['Authorization: Bearer abc.def.ghi is wrong', 'Authorization: Bearer … is wrong'],
  ['see https://x.test/?key=AAAA&b=1', 'see https://x.test/?key=…&b=1'],
  ['user ann@example.com is unknown', 'user … is unknown'],
  ['AKIAIOSFODNN7EXAMPLE is unknown', '… is unknown'],
  ['model claude-3-5-sonnet-20241022 is unknown', 'model claude-3-5-sonnet-20241022 is unknown'],
  ['codex_workspace_access_denied', 'codex_workspace_access_denied'],
  ['two\n\u0000lines', 'two lines'],
  ['', null],
])('of %j is kept %j', (text, kept) => {
  expect(redacted(text, 300)).toBe(kept);
});

test('words of a provider are cut', () => {
  const { reason } = factsOf({ body: { error: { code: 'c'.repeat(500), message: 'no '.repeat(500) } } });
  expect([reason!.code!.length, reason!.message!.length]).toEqual([80, 300]);
});
