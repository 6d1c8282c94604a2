// Cases that have gone wrong in pools of upstreams elsewhere, each from the provider's answers to what is open afterwards.
import { afterEach, expect } from 'vitest';
import { CASES } from './support/answer-cases.ts';
import {
  answerOf,
  blocksInWords,
  clocksAt,
  clocksRun,
  codex,
  later,
  named,
  told,
  upstreamAt,
} from './support/answers.ts';
import { blockEvents, failing, HOUR, MINUTE, SECOND } from './support/pools.ts';
import { booksAreRight, newId, staging } from './support/stage.ts';

const { onEvery } = staging();
afterEach(clocksRun);
const NOON = '2026-03-10T12:00:00Z';

for (const { name, provider, steps } of CASES)
  onEvery(name, async (s) => {
    await clocksAt(s, NOON);
    const upstream = await upstreamAt(s, provider);
    for (const [index, { after = 0, answer, model, open }] of steps.entries()) {
      await later(s, after * SECOND);
      await told(s, upstream, answer, model ? { model } : {});
      expect([index, await blocksInWords(s, upstream)]).toEqual([index, open]);
    }
    for (const { block } of await blockEvents(s, upstream)) await s.recoup.upstreams.free(block!);
  });

onEvery(
  '400, 413, a content filter, a context that is too long, a client that hung up: nobody is blamed',
  async (s) => {
    await clocksAt(s, NOON);
    const names = [
      ...['anthropic/bad-input', 'anthropic/too-large', 'azure-openai/content-filter', 'openai/context-too-long'],
      ...['generic/client-gone', 'gemini/bad-input', 'openrouter/moderation', 'bedrock/bad-input'],
    ];
    for (const name of names) {
      const one = named(name);
      const upstream = await upstreamAt(s, one.answer.provider);
      const reported = await told(s, upstream, answerOf(one));
      expect([name, reported]).toMatchObject([name, { outcome: 'noted', class: 'request_scoped', blocks: [] }]);
      expect([name, await blocksInWords(s, upstream)]).toEqual([name, []]);
    }
  },
);

onEvery('five upstreams get a page of a CDN: no upstream is blocked, one event on the route they share', async (s) => {
  await clocksAt(s, NOON);
  const route = newId('egress');
  const shared = await Promise.all(Array.from({ length: 5 }, () => upstreamAt(s, 'codex', { route })));
  const elsewhere = await upstreamAt(s, 'codex', { route: newId('egress') });
  for (const upstream of shared) await told(s, upstream, answerOf(named('codex/cdn-403')));
  for (const upstream of shared) expect(await blocksInWords(s, upstream)).toEqual(['route cdn_or_proxy backoff +30']);
  expect(await failing(s, elsewhere)).toEqual([]);
  const events = (await blockEvents(s, shared[4]!)).filter(({ kind }) => kind === 'cdn_or_proxy');
  expect(events.filter(({ subject }) => !subject.startsWith('provider:'))).toMatchObject([
    { subject: `route:${route}`, type: 'opened' },
  ]);
  // Where nobody named a way, other providers are not held up by it.
  const [direct, other] = [await upstreamAt(s, newId('provider')), await upstreamAt(s, newId('provider'))];
  await told(s, direct, { status: 403, body: '<html>' });
  expect([await failing(s, direct), await failing(s, other)]).toEqual([['blocked'], []]);
});

onEvery(
  'a workspace denied, an organization disabled, no balance: manual, each with its own reason and next step',
  async (s) => {
    await clocksAt(s, NOON);
    const reports = [];
    for (const name of ['codex/workspace-denied', 'anthropic/organization-disabled', 'deepseek/balance']) {
      const one = named(name);
      const upstream = await upstreamAt(s, one.answer.provider);
      reports.push(await told(s, upstream, answerOf(one)));
      await later(s, 30 * 24 * HOUR);
      const [explained] = await s.recoup.upstreams.explain({ upstream });
      expect(explained!.failing).toMatchObject([
        { check: 'blocked', until: null, policy: 'manual', nextStep: reports.at(-1)!.nextStep },
      ]);
    }
    expect(new Set(reports.map(({ reason }) => reason)).size).toBe(3);
    expect(new Set(reports.map(({ nextStep }) => nextStep)).size).toBe(3);
  },
);

onEvery('401 about the account: never freed by time, in the inbox at once, and no sweep ends it', async (s) => {
  await clocksAt(s, NOON);
  const upstream = await upstreamAt(s, 'openai');
  const { block, class: kind } = await told(s, upstream, answerOf(named('openai/wrong-key')));
  const items = (await s.recoup.inbox.list()).filter(({ subject }) => subject === `upstream:${upstream}`);
  expect(items).toMatchObject([{ item: `block:${block}`, kind }]);
  await later(s, 400 * 24 * HOUR);
  await s.recoup.sweep();
  expect(await failing(s, upstream)).toEqual(['blocked']);
  await s.recoup.upstreams.free(block!, { actor: 'ann' });
});

onEvery('A starts, B is told 429 and blocks, A answers 200: the block stays', async (s) => {
  await clocksAt(s, NOON);
  const upstream = await upstreamAt(s, 'codex');
  const startedAt = await s.db.now();
  await later(s, MINUTE);
  await told(s, upstream, codex(429, [[300, 100, 600]]));
  await later(s, SECOND);
  expect(await told(s, upstream, codex(200, [[300, 12, 600]]), { startedAt })).toMatchObject({ closed: 0 });
  expect(await blocksInWords(s, upstream)).toEqual(['upstream quota_exhausted_upstream reset_announced +599']);
  // What started later and was answered so speaks against it.
  expect(await told(s, upstream, codex(200, [[300, 12, 600]]))).toMatchObject({ closed: 1 });
  expect(await failing(s, upstream)).toEqual([]);
});

onEvery(
  'the operator releases every kind of block: each policy, source and subject, and it is selected at once',
  async (s) => {
    const policies = ['auto', 'manual', 'snapshot', 'rolling'] as const;
    const sources = ['retry_after', 'reset_announced', 'backoff', 'operator'] as const;
    for (const policy of policies)
      for (const source of sources)
        for (const subject of ['upstream', 'quota_group', 'provider', 'route'] as const) {
          const [pool, upstream] = [newId('pool'), newId('upstream')];
          const shares = { provider: newId('provider'), quotaGroup: newId('group'), route: newId('route') };
          await s.recoup.upstreams.register({ upstream, pool, ...shares });
          const forMs = policy === 'manual' || source === 'backoff' ? {} : { forMs: 5 * 24 * HOUR };
          const { block } = await s.recoup.upstreams.report({
            upstream,
            success: false,
            block: { kind: 'some', policy, source, subject, ...forMs },
          });
          expect((await s.recoup.upstreams.select({ pool })).outcome).toBe('none');
          const free = (as?: 'snapshot') =>
            s.recoup.upstreams.free(block!, { actor: 'ann', reason: 'quota was reset', ...(as && { as }) });
          if (policy === 'manual') await expect(free('snapshot')).rejects.toMatchObject({ code: 'manual_block' });
          expect(await free()).toEqual({ outcome: 'closed' });
          expect((await s.recoup.upstreams.select({ pool })).outcome).toBe('selected');
          const events = (await blockEvents(s, upstream)).filter(({ type }) => type === 'closed');
          expect(events).toMatchObject([{ block, actor: 'ann', reason: 'quota was reset', closedAs: 'operator' }]);
        }
  },
);

onEvery(
  'when is the pool back: the earliest of its upstreams, none where all need a person; every failing check is told',
  async (s) => {
    await clocksAt(s, NOON);
    const pool = newId('pool');
    const names = ['week', 'hours', 'unpaid'].map((name) => `${pool}/${name}`);
    for (const upstream of names)
      await s.recoup.upstreams.register({ upstream, pool, provider: 'codex', maxConcurrency: 1 });
    const [week, hours, unpaid] = names as [string, string, string];
    await told(s, week, codex(429, [[10_080, 100, 432_000]]));
    await told(s, hours, codex(429, [[300, 100, 7200]]));
    await told(s, unpaid, { status: 402 });
    const at = (seconds: number) => new Date(Date.parse(NOON) + seconds * SECOND);
    expect(await s.recoup.upstreams.select({ pool })).toMatchObject({
      retryAfterMs: 300_000,
      expectedRecoveryAt: at(7200),
    });
    await told(s, hours, { status: 402 });
    await told(s, hours, { status: 429, headers: { 'retry-after': '60' } });
    await s.recoup.upstreams.change(hours, { status: 'draining' });
    const [one] = await s.recoup.upstreams.explain({ upstream: hours });
    expect(one!.failing.map(({ check, kind }) => `${check} ${kind ?? ''}`.trim()).sort()).toEqual([
      ...['blocked billing', 'blocked quota_exhausted_upstream', 'blocked rate_limited', 'draining'],
    ]);
    expect(one!.failing.filter(({ nextStep }) => nextStep !== null).length).toBe(2);
    expect(await s.recoup.upstreams.select({ pool })).toMatchObject({ expectedRecoveryAt: at(432_000) });
    await told(s, week, { status: 402 });
    expect(await s.recoup.upstreams.select({ pool })).toMatchObject({ outcome: 'none', expectedRecoveryAt: null });
  },
);

onEvery('the books are right', booksAreRight);
