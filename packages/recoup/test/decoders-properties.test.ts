// Decoders under anything: they never throw, no time is past or absurd, the same answer gives the same facts, no secret comes through.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ALIASES, type Answer, CLASSES, decode, PROVIDERS } from '../src/decoders.ts';

const NAMES = [
  ...['retry-after', 'retry-after-ms', 'date', 'x-ratelimit-reset', 'x-ratelimit-remaining', 'x-ratelimit-limit'],
  ...['requests', 'tokens'].flatMap((kind) =>
    ['limit', 'remaining', 'reset'].map((what) => `x-ratelimit-${what}-${kind}`),
  ),
  ...['used-percent', 'window-minutes', 'reset-at', 'reset-after-seconds'].flatMap((what) => [
    `x-codex-primary-${what}`,
    `x-codex-other-secondary-${what}`,
  ]),
  ...['status', 'reset', 'utilization', 'surpassed-threshold'].flatMap((what) =>
    ['5h-', '7d-', '7d_oi-', ''].map((window) => `anthropic-ratelimit-unified-${window}${what}`),
  ),
  'anthropic-ratelimit-unified-representative-claim',
  'anthropic-ratelimit-tokens-reset',
  'x-amzn-errortype',
  '__proto__',
];
const value = fc.oneof(
  fc.constantFrom(
    '0',
    '-1',
    '1',
    '100',
    '1e9',
    'NaN',
    'Infinity',
    'rejected',
    'true',
    'five_hour',
    '1587827',
    '6m0s',
    '15023672358',
  ),
  fc.integer({ min: 1_773_000_000, max: 1_780_000_000 }).map(String),
  fc.double().map(String),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
  fc.string({ unit: 'binary', maxLength: 30 }),
);
const cased = (name: string) => fc.mixedCase(fc.constant(name));
const headers = fc
  .uniqueArray(fc.constantFrom(...NAMES), { maxLength: 14 })
  .chain((names) => fc.tuple(...names.map((name) => fc.tuple(cased(name), value))));
const keys = [
  'error',
  'code',
  'type',
  'message',
  'status',
  'detail',
  'details',
  'violations',
  'quotaId',
  'retryDelay',
  'metadata',
];
const field = fc.constantFrom(
  ...[
    ...keys,
    'quotaResetDelay',
    'resets_at',
    'resets_in_seconds',
    'rate_limits',
    'primary',
    'used_percent',
    '__proto__',
  ],
);
const word = fc.constantFrom(
  'usage_limit_reached',
  'insufficient_quota',
  'PerDay',
  'Try again in 5s',
  'resets in 9 days',
  '36s',
  'error',
);
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    word,
    fc.double(),
    fc.jsonValue({ maxDepth: 1 }),
    tie('object'),
    tie('list'),
  ),
  list: fc.array(tie('tree'), { maxLength: 3 }),
  object: fc.dictionary(field, tie('tree'), { maxKeys: 6 }),
}));
const body = fc.oneof(
  tree,
  tree.map((one) => JSON.stringify(one) ?? ''),
  tree.map((one) => `event: error\ndata: ${JSON.stringify(one)}\n\n`),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.uint8Array({ maxLength: 200 }),
  fc.constantFrom('<html>', '', undefined, null),
);
const answer: fc.Arbitrary<Answer & { headers: [string, string][] }> = fc.record({
  provider: fc.oneof(fc.constantFrom(...PROVIDERS, ...Object.keys(ALIASES)), fc.string()),
  status: fc.oneof(
    fc.constantFrom(200, 400, 401, 402, 403, 429, 500, 503, 529, null),
    fc.integer(),
    fc.constant(Number.NaN),
  ),
  headers: headers as fc.Arbitrary<[string, string][]>,
  body,
  model: fc.option(fc.string(), { nil: null }),
  error: fc.option(fc.string(), { nil: null }),
  receivedAt: fc.date({ min: new Date('2026-03-01'), max: new Date('2026-04-30'), noInvalidDate: true }),
});
const RUNS = { numRuns: 3000 };
const LONGEST_MS = 39 * 86_400_000;

test('never a throw, and no time that is past or absurd', () => {
  fc.assert(
    fc.property(answer, (one) => {
      const facts = decode(one);
      const times = [
        facts.until,
        ...facts.hints.map(({ until }) => until),
        ...facts.snapshots.map(({ resetsAt }) => resetsAt),
      ];
      for (const time of times) {
        if (time === null) continue;
        const ahead = time.getTime() - one.receivedAt.getTime();
        expect(ahead).toBeGreaterThan(0);
        expect(ahead).toBeLessThanOrEqual(LONGEST_MS);
      }
      for (const { used } of facts.snapshots) if (used !== null) expect(used >= 0 && used <= 2).toBe(true);
      if (facts.class !== null) expect(CLASSES).toContain(facts.class);
      if (facts.policy === 'manual') expect([facts.until, typeof facts.nextStep]).toEqual([null, 'string']);
      expect(facts.subject === 'none').toBe(facts.class === null || facts.class === 'request_scoped');
      expect((facts.reason?.message ?? '').length <= 300 && facts.dropped.length <= 50).toBe(true);
    }),
    RUNS,
  );
});

test('the same answer gives the same facts, and the answer stays as it was', () => {
  fc.assert(
    fc.property(answer, (one) => {
      const before = structuredClone(one);
      expect(decode(one)).toEqual(decode(one));
      expect(one).toEqual(before);
    }),
    RUNS,
  );
});

test('the case and the order of headers do not matter', () => {
  fc.assert(
    fc.property(answer, (one) => {
      const lower = one.headers.map(([name, text]) => [name.toLowerCase(), text] as const).reverse();
      const { dropped, ...facts } = decode({ ...one, headers: lower });
      const { dropped: others, ...same } = decode(one);
      expect(facts).toEqual(same);
      expect(dropped.length).toBe(others.length);
    }),
    RUNS,
  );
});

test('no key that a provider repeats comes through', () => {
  const secret = fc.stringMatching(/^sk-[a-zA-Z0-9]{20,40}$/);
  fc.assert(
    fc.property(secret, fc.constantFrom(...PROVIDERS), (key, provider) => {
      const error = { message: `Incorrect API key provided: ${key}.`, code: key, type: key };
      const facts = decode({
        provider,
        status: 401,
        headers: { 'retry-after': key },
        body: { error },
        receivedAt: new Date(0),
      });
      expect(JSON.stringify(facts)).not.toContain(key.slice(3));
    }),
    { numRuns: 300 },
  );
});

test('what the caller itself gives wrongly is refused', () => {
  const good = { provider: 'openai', status: 429, receivedAt: new Date() };
  expect(() => decode({ ...good, receivedAt: new Date(Number.NaN) })).toThrow('receivedAt: must be a valid Date');
  expect(() => decode({ ...good, receivedAt: '2026' as unknown as Date })).toThrow('receivedAt: must be a valid Date');
  expect(() => decode({ ...good, provider: 5 as unknown as string })).toThrow('provider: must be a string');
});
