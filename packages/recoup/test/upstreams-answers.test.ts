// From what a provider answered to what is blocked: every recorded answer, on a real database.
import { afterEach, expect } from 'vitest';
import { decode, readRules } from '../src/decoders.ts';
import { type DroppedHint, InvalidInput, type ProviderAnswer } from '../src/index.ts';
import {
  answerOf,
  clocksAt,
  clocksRun,
  named,
  openBlocks,
  type Recorded,
  recorded,
  told,
  upstreamAt,
} from './support/answers.ts';
import { failing, SECOND } from './support/pools.ts';
import { booksAreRight, newId, type Stage, staging } from './support/stage.ts';

const { onEvery, onFirst } = staging();
afterEach(clocksRun);

const factsOf = ({ answer }: Recorded) => decode({ ...answer, receivedAt: new Date(answer.receivedAt) });

/** What should be open after an answer, by its facts. */
function expected(one: Recorded) {
  const { subject, policy, scope, hints, class: kind } = factsOf(one);
  if (kind === null || subject === 'none') return [];
  const name = scope.kind === 'all' ? null : (one.answer.model ?? scope.name);
  const block = {
    subject,
    policy,
    kind,
    scope: name === null ? '' : `${scope.kind}:${name}`,
    step: 1,
    contradicted: false,
  };
  const backoff = new Date(Date.parse(one.answer.receivedAt) + 30 * SECOND);
  if (policy === 'manual') return [{ ...block, source: 'operator', until: null }];
  if (hints.length === 0) return [{ ...block, source: 'backoff', until: backoff }];
  return hints.map((hint) => ({ ...block, ...hint }));
}

const windowsOf = (all: readonly { name: string; used: number | null; exhausted: boolean; resetsAt: Date | null }[]) =>
  all
    .map(({ name, used, exhausted, resetsAt }) => ({ name, used, exhausted, resetsAt }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));

async function holds(s: Stage, one: Recorded) {
  const { provider, model, receivedAt } = one.answer;
  await clocksAt(s, receivedAt);
  const facts = factsOf(one);
  const upstream = await upstreamAt(s, provider, { quotaGroup: newId('project'), route: newId('proxy') });
  const reported = await told(s, upstream, answerOf(one), model ? { model } : {});
  const { class: kind, nextStep, dropped, rule } = facts;
  const open = expected(one);
  expect(reported).toMatchObject({
    outcome: open.length > 0 ? 'blocked' : 'noted',
    class: kind,
    nextStep,
    dropped,
    rule,
  });
  expect(reported.blocks.map(({ source, until }) => ({ source, until }))).toEqual(
    open.map(({ source, until }) => ({ source, until })),
  );
  const blocks = await openBlocks(s, upstream);
  expect(blocks.map(({ id, ...block }) => block)).toEqual(open);
  expect(windowsOf(await s.recoup.upstreams.snapshots(upstream))).toEqual(windowsOf(facts.snapshots));
  for (const { id } of blocks) expect(await s.recoup.upstreams.free(id)).toEqual({ outcome: 'closed' });
  expect(await failing(s, upstream)).toEqual([]);
}

onEvery('every recorded answer blocks what its facts say, once per hint and until then, or nothing', async (s) => {
  for (const one of recorded)
    await holds(s, one).catch((error: Error) => {
      error.message = `${one.name}: ${error.message}`;
      throw error;
    });
  expect(recorded.length).toBeGreaterThan(100);
});

onEvery('what is implausible is in the report and told once per value, with upstream and provider', async (s) => {
  const heard: DroppedHint[] = [];
  const recoup = await s.replica({ onDropped: (dropped) => void heard.push(dropped) });
  const upstream = await upstreamAt(s, 'codex');
  const headers = { 'x-codex-primary-used-percent': '0', 'x-codex-primary-reset-at': '0', 'retry-after': '1587827' };
  const { dropped } = await recoup.upstreams.report({ upstream, answer: { status: 429, headers } });
  expect(dropped.map(({ rule }) => rule).sort()).toEqual(['implausible_hint', 'placeholder_window']);
  expect(heard).toEqual(dropped.map((one) => ({ ...one, upstream, provider: 'codex' })));
  expect(await recoup.upstreams.snapshots(upstream)).toEqual([]);
});

onEvery(
  'an answer that came a while ago: its times count from then, and an order that is over lets in a trial',
  async (s) => {
    await s.stopClock();
    const wait = { status: 429, headers: { 'retry-after': '60' } };
    const upstream = await upstreamAt(s, 'generic');
    const now = await s.db.now();
    const receivedAt = new Date(Date.now() - 20_000);
    const { until } = await told(s, upstream, { ...wait, receivedAt });
    expect(Math.abs(until!.getTime() - now.getTime() - 40_000)).toBeLessThan(5000);
    const other = await upstreamAt(s, 'generic');
    await told(s, other, { ...wait, receivedAt: new Date(Date.now() - 90_000) });
    await s.db.advance(1);
    expect(await failing(s, other)).toEqual([]);
    expect(await openBlocks(s, other)).toMatchObject([{ source: 'retry_after' }]);
  },
);

onEvery(
  'the answer is decoded by the provider of the upstream, in a transaction too, which leaves nothing behind',
  async (s) => {
    const client = await s.client();
    const answer = answerOf(named('anthropic/out-of-credits'));
    const upstream = newId('upstream');
    for (const [provider, kind] of [
      ['anthropic', factsOf(named('anthropic/out-of-credits')).class],
      ['deepseek', null],
    ] as const) {
      await client.query('begin');
      const { upstreams } = s.recoup.using(client);
      await upstreams.register({ upstream, pool: 'p', provider });
      const reported = await upstreams.report({ upstream, answer });
      if (kind !== null) expect(reported.class).toBe(kind);
      expect(reported.class).toBe(
        decode({ ...answer, status: answer.status ?? null, provider, receivedAt: new Date() }).class,
      );
      await client.query('rollback');
    }
    await expect(s.recoup.upstreams.report({ upstream, answer })).rejects.toMatchObject({ code: 'no_upstream' });
  },
);

onEvery(
  'rules of an operator decide first, for a provider of his own too; replicas without them read it as generic',
  async (s) => {
    const decoderRules = readRules({
      rules: [
        { name: 'empty', provider: 'acme', code: 'tank_empty', class: 'billing', nextStep: 'Fill it.' },
        { name: 'busy', provider: 'acme', status: 200, code: 'busy', class: 'overloaded' },
      ],
    });
    const recoup = await s.replica({ decoderRules });
    const [upstream, other] = [await upstreamAt(s, 'Acme'), await upstreamAt(s, 'Acme')];
    const body = { error: { code: 'tank_empty', message: 'no more' } };
    expect(await recoup.upstreams.report({ upstream, answer: { status: 429, body } })).toMatchObject({
      ...{
        outcome: 'blocked',
        class: 'billing',
        rule: 'empty',
        nextStep: 'Fill it.',
        reason: 'tank_empty: no more',
        dropped: [],
      },
    });
    expect(await recoup.upstreams.report({ upstream, answer: { status: 200, body: { code: 'busy' } } })).toMatchObject({
      class: 'overloaded',
      rule: 'busy',
    });
    expect(await told(s, other, { status: 429, body })).toMatchObject({ class: 'rate_limited', rule: null });
    await expect(s.replica({ decoderRules: { rules: [] } })).rejects.toMatchObject({
      details: { field: 'decoderRules' },
    });
    await expect(s.replica({ onDropped: 5 as never })).rejects.toMatchObject({ details: { field: 'onDropped' } });
  },
);

onFirst('what no answer can be is refused with its field; whatever a provider sends is not', async (s) => {
  const upstream = await upstreamAt(s, 'openai');
  const { upstreams } = s.recoup;
  const wrong: [object, string][] = [
    [{ answer: {} }, 'answer.status'],
    [{ answer: null }, 'answer'],
    [{ answer: { status: 200, statuz: 1 } }, 'statuz'],
    [{ answer: { status: 200, receivedAt: 'now' } }, 'answer.receivedAt'],
    [{ answer: { status: 200 }, success: true }, 'success'],
    [{ answer: { status: 429 }, block: { kind: 'rate_limited' } }, 'block'],
    [{}, 'success'],
    [{ answer: { status: 200 }, modell: 'x' }, 'modell'],
  ];
  for (const [more, field] of wrong) {
    const refused = await upstreams.report({ upstream, ...more } as never).catch((error: unknown) => error);
    expect([more, refused]).toMatchObject([more, { code: 'invalid', details: { field } }]);
    expect(refused).toBeInstanceOf(InvalidInput);
  }
  const nul = '\u0000\ud800';
  const hostile: ProviderAnswer[] = [
    { status: 429, body: { error: { code: nul, message: `${nul} model ${'x'.repeat(5000)}` } } },
    { status: 599, headers: { [nul]: nul, 'retry-after': '1e309' }, body: nul },
    { status: 429, headers: { 'retry-after': '-5', 'x-ratelimit-remaining-requests': 'NaN' }, body: [[[[]]]] },
    { error: nul.repeat(1000) },
  ];
  for (const answer of hostile)
    expect(['blocked', 'duplicate', 'extended']).toContain((await told(s, upstream, answer)).outcome);
});

onEvery('the books are right', booksAreRight);
