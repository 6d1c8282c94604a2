// What is not understood of limits and uses is refused when it is written, by the field's name, and changes nothing.
import { expect } from 'vitest';
import { InvalidInput, type SetLimit } from '../src/index.ts';
import { daily, limited, used, windows } from './support/limits.ts';
import { refusal } from './support/look.ts';
import { booksAreRight, newId, staging } from './support/stage.ts';

const { onEvery, onFirst } = staging();

onEvery('kinds, zones and fields that are not understood are refused', async (s) => {
  const { upstream } = await limited(s, 1);
  const good = { limit: newId('limit'), upstream, unit: 'tokens', amount: 5, ...daily };
  const rolling = { kind: 'rolling', zone: undefined, lengthMs: 60_000 };
  const zones = [
    ...['Mars/Olympus', 'CET', 'EST5EDT', 'GMT', 'utc', 'UTC+2', '+02:00', '<+02>-02', 'Berlin', 'europe/berlin', ''],
    ...[
      'Etc/GMT+15',
      'Etc/GMT+5',
      'Etc/GMT-14',
      'Etc/GMT',
      'Etc/GMT0',
      'etc/gmt+5',
      'Etc/UCT',
      'US/Nowhere',
      'Europe/Berlin ',
      'posix/UTC',
      null,
      undefined,
      5,
    ],
  ];
  const wrong: [field: string, change: object][] = [
    ...['1d', 'every day', 'Daily', 'hourly', 'fixed', '', null, 5].map(
      (kind) => ['kind', { kind }] as [string, object],
    ),
    ...zones.map((zone) => ['zone', { zone }] as [string, object]),
    ...[-1, 24, 1.5, '8'].map((startHour) => ['startHour', { startHour }] as [string, object]),
    ...[undefined, -1, 7, 'Monday'].map((weekday) => ['weekday', { kind: 'weekly', weekday }] as [string, object]),
    ...[undefined, 0, 32].map((day) => ['day', { kind: 'monthly', day }] as [string, object]),
    ...[undefined, 999, 31_536_000_001].map((lengthMs) => ['lengthMs', { ...rolling, lengthMs }] as [string, object]),
    ['lengthMs', { ...rolling, kind: 'first_use', lengthMs: 59_999 }],
    ['lengthMs', { lengthMs: 60_000 }],
    ['zone', { ...rolling, zone: 'UTC' }],
    ['startHour', { ...rolling, startHour: 3 }],
    ['weekday', { weekday: 3 }],
    ['day', { kind: 'weekly', weekday: 3, day: 3 }],
    ...[0, -1, 1.5, '5', 2 ** 53, undefined].map((amount) => ['amount', { amount }] as [string, object]),
    ['unit', { unit: undefined }],
    ['limit', { limit: '' }],
    ['scope', { scope: 'all' }],
    ['provider', { provider: 'too' }],
    ['upstream', { upstream: undefined }],
    ['walet', { walet: 'x' }],
  ];
  for (const [field, change] of wrong) {
    const got = await refusal(s.recoup.upstreams.limits.set({ ...good, ...change } as SetLimit));
    expect([change, got.code, got.details.field]).toEqual([change, 'invalid', field]);
    expect(got).toBeInstanceOf(InvalidInput);
  }
  expect(await s.recoup.upstreams.limits.list({ limit: good.limit })).toEqual([]);
  expect(await s.recoup.upstreams.limits.set(good as SetLimit)).toEqual({ outcome: 'set' });
  for (const zone of ['UTC', 'Etc/UTC', 'America/Port-au-Prince', 'America/Argentina/Buenos_Aires'])
    expect(await s.recoup.upstreams.limits.set({ ...(good as SetLimit), limit: newId('limit'), zone })).toEqual({
      outcome: 'set',
    });
});

onEvery(
  'another subject, scope or unit under the same id is a conflict; an unknown upstream or limit is told',
  async (s) => {
    const { upstream, limit } = await limited(s, 1);
    const good = { limit, upstream, unit: 'requests', amount: 1, ...daily };
    const code = async (call: Promise<unknown>) => (await refusal(call)).code;
    const { limits } = s.recoup.upstreams;
    for (const change of [{ unit: 'tokens' }, { scope: 'model:m' }, { upstream: undefined, provider: 'p' }])
      expect(await code(limits.set({ ...good, ...change } as SetLimit))).toBe('conflict');
    expect(await code(limits.set({ ...good, limit: newId('limit'), upstream: 'nobody' }))).toBe('no_upstream');
    expect(await code(limits.end('none'))).toBe('no_limit');
    expect(await code(limits.reset('none'))).toBe('no_limit');
    expect([await limits.windows('none'), await limits.list({ upstream: 'nobody' })]).toEqual([[], []]);
    expect([await limits.end(limit), await limits.end(limit)]).toEqual([
      { outcome: 'ended' },
      { outcome: 'duplicate' },
    ]);
    const report = () => s.recoup.upstreams.report({ upstream, success: true, key: newId('key') });
    expect((await report()).use).toBe('none');
    expect((await limits.list({ limit }))[0]!.endedAt).toBeInstanceOf(Date);
    expect([await limits.set(good), await limits.set(good)]).toEqual([
      { outcome: 'changed' },
      { outcome: 'duplicate' },
    ]);
    expect([(await report()).use, await used(s, limit), (await windows(s, limit)).length]).toEqual(['booked', 1, 1]);
  },
);

onFirst('what was used is integers by unit, and has a key', async (s) => {
  const { upstream, limit } = await limited(s, 100);
  const wrong: [field: RegExp, input: object][] = [
    [/^use$/, { key: 'k', use: [1] }],
    [/^use$/, { key: 'k', use: 'x' }],
    [/^use\.tokens$/, { key: 'k', use: { tokens: -1 } }],
    [/^use\.tokens$/, { key: 'k', use: { tokens: 1.5 } }],
    [/^use\.tokens$/, { key: 'k', use: { tokens: 1_000_000_000_001 } }],
    [/^use key$/, { key: 'k', use: { '\u0000': 1 } }],
    [/^use$/, { key: 'k', use: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`u${i}`, 1])) }],
    [/^use$/, { use: { tokens: 1 } }],
    [/^key$/, { key: '' }],
    [/^job$/, { job: 'j' }],
    [/^job\.wallet$/, { job: { job: 'j', attempt: 1 } }],
    [/^job\.attempt$/, { job: { wallet: 'w', job: 'j', attempt: 1.5 } }],
    [/^walet$/, { job: { wallet: 'w', job: 'j', attempt: 1, walet: 'x' } }],
  ];
  for (const [field, input] of wrong) {
    const got = await refusal(s.recoup.upstreams.report({ upstream, success: true, ...input }));
    expect([input, got.code, got.details.field]).toEqual([input, 'invalid', expect.stringMatching(field)]);
  }
  const released = await refusal(s.recoup.upstreams.release('lease', { walet: 1 } as object));
  expect(released.details.field).toBe('walet');
  expect(await used(s, limit)).toBe(0);
});

onEvery('the books are right', booksAreRight);
