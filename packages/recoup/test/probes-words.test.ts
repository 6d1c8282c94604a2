// Probes: what they cost and bought, what an answer of the provider means, what is shared, how pools are asked.
import { expect } from 'vitest';
import type { BlockFacts } from '../src/index.ts';
import { failing, HOUR, MINUTE, SECOND, soft, use } from './support/pools.ts';
import { probedPool } from './support/probing.ts';
import { booksAreRight, type Stage, staging } from './support/stage.ts';

const { onEvery } = staging();

const fails = (s: Stage, upstream: string, block: BlockFacts = soft) =>
  s.recoup.upstreams.report({ upstream, success: false, block });

onEvery('the report says what probes cost and what they bought against waiting', async (s) => {
  const { pool, names, asker, hand } = await probedPool(s, 2, { cost: { tokens: 5 } });
  await fails(s, names[0]!, { kind: 'quota_exhausted_upstream', policy: 'snapshot', forMs: 5 * HOUR });
  await s.db.advance(16 * MINUTE);
  hand.said = 'no';
  await asker.probes.ask();
  hand.said = 'yes';
  await s.db.advance(44 * MINUTE);
  await asker.probes.ask();
  await fails(s, names[1]!);
  await s.db.advance(31 * SECOND);
  await asker.probes.ask();
  const report = await s.recoup.probes.report({ pool });
  expect(report).toMatchObject([
    { source: 'backoff', probes: 1, yes: 1, no: 0, minutesRegained: 0, cost: { requests: 1, tokens: 5 } },
    {
      source: 'reset_announced',
      probes: 2,
      yes: 1,
      no: 1,
      unavailable: 0,
      ignored: 0,
      cost: { requests: 2, tokens: 10 },
    },
  ]);
  expect(Math.abs(report[1]!.minutesRegained - 240)).toBeLessThan(0.2);
  expect(Math.abs(report[1]!.minutesPerRequest! - 120)).toBeLessThan(0.2);
  expect(await s.recoup.probes.report({ pool, since: new Date(Date.now() + 10 * 24 * HOUR) })).toEqual([]);
});

onEvery('one probe through one of them answers for what upstreams share', async (s) => {
  const { pool, names, asker, asked } = await probedPool(s, 3, {}, { quotaGroup: 'project' });
  await fails(s, names[1]!, { kind: 'rate_limited', policy: 'auto', subject: 'quota_group' });
  await s.db.advance(31 * SECOND);
  for (const name of names) expect(await failing(s, name)).toEqual(['gated']);
  expect(await asker.probes.ask()).toMatchObject({ asked: 1, yes: 1 });
  expect(asked).toMatchObject([{ upstream: names[1] }]);
  expect(await use(s, pool)).toMatchObject({ outcome: 'selected' });
  expect(await use(s, pool)).toMatchObject({ outcome: 'none' });
  // The one that failed is switched off: another one is asked.
  await fails(s, names[1]!, { kind: 'overloaded', policy: 'auto', subject: 'provider' });
  await s.recoup.upstreams.change(names[1]!, { status: 'off' });
  await s.db.advance(31 * SECOND);
  expect(await asker.probes.ask()).toMatchObject({ asked: 1 });
  expect(asked[1]!.upstream).not.toBe(names[1]);
});

onEvery(
  'an answer of the provider is decoded: a success is a yes, unless a quota is used up; a 401 waits for a person',
  async (s) => {
    const { names, asker, hand } = await probedPool(s, 4, {}, { provider: 'openai' });
    const results = [
      { status: 200 },
      { status: 429, headers: { 'retry-after': '900' } },
      { status: 401, body: { error: { code: 'invalid_api_key', message: 'Incorrect API key' } } },
      { status: 400, body: { error: { message: 'bad request' } } },
    ];
    hand.said = ({ upstream }) => ({ answer: results[names.indexOf(upstream)]! });
    for (const name of names) await fails(s, name);
    await s.db.advance(31 * SECOND);
    expect(await asker.probes.ask()).toMatchObject({ asked: 4, yes: 1, no: 2, unavailable: 1 });
    const kinds = await Promise.all(
      names.map(async (upstream) => {
        const [one] = await s.recoup.upstreams.explain({ upstream });
        return one!.failing.map(({ kind }) => kind).sort();
      }),
    );
    expect(kinds).toEqual([[], ['rate_limited'], ['auth_revoked', 'rate_limited'], []]);
  },
);

onEvery('a fault of the prober is a word that it could not tell; what it says is checked', async (s) => {
  const { names, asker, hand } = await probedPool(s, 1, { timeoutMs: 100 });
  for (const said of ['perhaps', { result: 'yes', sure: true }, () => new Promise(() => {})]) {
    hand.said = said as never;
    await fails(s, names[0]!);
    await s.db.advance(10 * MINUTE);
    await fails(s, names[0]!);
    await s.db.advance(5 * MINUTE);
    await asker.probes.ask();
  }
  const { probes } = await s.recoup.probes.list({ upstream: names[0]! });
  expect(probes.every(({ outcome }) => outcome === 'unavailable')).toBe(true);
  expect(probes.at(0)!.reason).toBe('no answer within 0.1 s');
});

onEvery('how pools are asked is set, listed and checked', async (s) => {
  const pool = 'asked';
  const http = {
    url: 'https://api.example.com/v1/models?of={upstream}',
    headers: { Authorization: 'Bearer {credential}' },
  };
  expect(await s.recoup.probes.set({ pool, http, graceMs: 5000, actor: 'ann' })).toEqual({ outcome: 'set' });
  expect(await s.recoup.probes.set({ pool, http, graceMs: 5000, actor: 'bob' })).toEqual({ outcome: 'duplicate' });
  const listed = (await s.recoup.probes.probers()).find((one) => one.pool === pool);
  expect(listed).toMatchObject({
    ...{ kind: 'http', graceMs: 5000, everyMs: 900_000, timeoutMs: 5000, cost: { requests: 1 }, actor: 'ann' },
    http: { method: 'GET', headers: { authorization: 'Bearer {credential}' } },
  });
  const wrong = [
    ...[
      'ftp://x.example/',
      'https://{upstream}.example/',
      'https://u:p@x.example/',
      'https://x.example/?k={credential}',
    ],
  ];
  for (const url of wrong)
    await expect(s.recoup.probes.set({ pool, http: { url } })).rejects.toMatchObject({ code: 'invalid' });
  for (const bad of [{ graceMs: 999 }, { timeoutMs: 31_000 }, { cost: { tokens: -1 } }, { everyMs: 1 }, { colour: 1 }])
    await expect(s.recoup.probes.set({ pool, ...(bad as object) })).rejects.toMatchObject({ code: 'invalid' });
  for (const headers of [{ Host: 'x' }, { 'a b': 'x' }, { a: 'x\r\ny: z' }])
    await expect(s.recoup.probes.set({ pool, http: { ...http, headers: headers as never } })).rejects.toMatchObject({
      code: 'invalid',
    });
});

onEvery('books', booksAreRight);
