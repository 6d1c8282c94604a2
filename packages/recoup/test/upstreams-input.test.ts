// What a caller says of upstreams wrongly is the caller's mistake: refused by the field's name, and no upstream is blamed for it.
import { expect } from 'vitest';
import type { InTransaction, Recoup, Used } from '../src/index.ts';
import { told, upstreamAt } from './support/answers.ts';
import { poolOf } from './support/pools.ts';
import { refuses } from './support/refuses.ts';
import { booksAreRight, staging } from './support/stage.ts';

const { onEvery, onFirst } = staging();

onEvery(
  'a status that no answer has is refused, in a report and in a note; null and 100 to 599 are taken',
  async (s) => {
    const upstream = await upstreamAt(s, 'openai');
    for (const status of [
      9999,
      600,
      99,
      0,
      -1,
      200.5,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      'abc',
      '429',
      true,
      {},
      [],
    ]) {
      const answer = { status: status as number, body: '{}' };
      await refuses(s, 'answer.status', ({ upstreams }) => upstreams.report({ upstream, answer }), status);
      await refuses(s, 'answer.status', ({ upstreams }) => upstreams.note({ upstream, answer }), status);
    }
    for (const status of [100, 200, 404, 599, null])
      expect(await told(s, upstream, { status, body: {} })).toMatchObject({ dropped: [] });
  },
);

class Mine extends Error {}
/** An object with one field that throws when it is read, of its own or inherited. */
const throwing = (field: string, inherited: boolean, more: object = {}): object => {
  const get = () => {
    throw new Mine('not for others');
  };
  const property = { [field]: { get, enumerable: true } };
  const { [field]: _, ...others } = more as Record<string, unknown>;
  if (!inherited) return Object.defineProperties(others, property);
  return Object.assign(Object.create(Object.defineProperties({}, property)) as object, others);
};

type Call = [fields: string[], more: object, call: (r: InTransaction, input: never) => Promise<unknown>];

onFirst('an object whose getters throw is refused, by every call and in every place', async (s) => {
  const { pool, names } = await poolOf(s, 1);
  const upstream = names[0]!;
  const report =
    (more: object): Call[2] =>
    (r, input) =>
      r.upstreams.report({ upstream, ...more, ...wrap(input) });
  let wrap = (input: object): object => input;
  const inside = (name: string) => (input: object) => ({ [name]: input });
  const calls: Record<string, Call> = {
    register: [['pool', 'weight'], { upstream: 'u' }, (r, input) => r.upstreams.register(input)],
    change: [['weight', 'status'], {}, (r, input) => r.upstreams.change(upstream, input)],
    credential: [['credentialRef'], {}, (r, input) => r.upstreams.replaceCredential(upstream, input)],
    select: [['pool', 'model', 'sticky'], { pool }, (r, input) => r.upstreams.select(input)],
    release: [['use', 'model'], {}, (r, input) => r.upstreams.release('lease', input)],
    report: [['success', 'answer', 'block', 'use', 'job'], { upstream }, (r, input) => r.upstreams.report(input)],
    note: [['snapshots', 'answer', 'observedAt'], { upstream }, (r, input) => r.upstreams.note(input)],
    window: [
      ['used', 'observedAt', 'resetsAt'],
      { name: 'w' },
      (r, input) => r.upstreams.note({ upstream, snapshots: [input] }),
    ],
    block: [['reason', 'actor'], {}, (r, input) => r.upstreams.block(upstream, input)],
    free: [['as', 'reason'], {}, (r, input) => r.upstreams.free(1, input)],
    explain: [['pool', 'model'], {}, (r, input) => r.upstreams.explain(input)],
    list: [['pool', 'usable'], {}, (r, input) => r.upstreams.list(input)],
    blocks: [['policy'], {}, (r, input) => r.upstreams.blocks(input)],
    pool: [['model'], {}, (r, input) => r.upstreams.pool(pool, input)],
    pools: [['limit'], {}, (r, input) => r.upstreams.pools(input)],
    history: [['limit'], {}, (r, input) => r.upstreams.historyPage(upstream, input)],
    set: [['limit', 'zone', 'lengthMs'], { upstream }, (r, input) => r.upstreams.limits.set(input)],
    reset: [['window'], {}, (r, input) => r.upstreams.limits.reset('l', input)],
    windows: [['count'], {}, (r, input) => r.upstreams.limits.windows('l', input)],
    limits: [['upstream'], {}, (r, input) => r.upstreams.limits.list(input)],
    inbox: [['pool'], {}, (r, input) => (r as Recoup).inbox.list(input)],
    take: [['note'], { actor: 'ann' }, (r, input) => (r as Recoup).inbox.take('block:1', input)],
  };
  for (const inherited of [false, true]) {
    for (const [name, [fields, more, call]] of Object.entries(calls))
      for (const field of fields)
        await refuses(s, field, (r) => call(r, throwing(field, inherited, more) as never), [name, field, inherited]);
    const places: [name: string, field: string, place: object, says: string][] = [
      ['answer', 'body', {}, 'body'],
      ['answer', 'status', {}, 'status'],
      ['block', 'kind', { success: false }, 'kind'],
      ['job', 'attempt', { success: true }, 'attempt'],
    ];
    for (const [name, field, more, says] of places) {
      wrap = inside(name);
      await refuses(s, says, (r) => report(more)(r, throwing(field, inherited) as never), [name, field, inherited]);
    }
  }
  const body = throwing('error', false);
  const hostile = new Proxy(
    {},
    {
      ownKeys: () => {
        throw new Mine('keys');
      },
    },
  );
  await refuses(s, 'answer', (r) => r.upstreams.report({ upstream, answer: { status: 429, body } }));
  await refuses(s, 'answer', (r) => r.upstreams.report({ upstream, answer: { status: 429, headers: body as never } }));
  await refuses(s, 'use', (r) =>
    r.upstreams.report({ upstream, success: true, key: 'k', use: throwing('tokens', false) as Used }),
  );
  await refuses(s, 'use', (r) => r.upstreams.report({ upstream, success: true, key: 'k', use: hostile as Used }));
  await refuses(s, 'select', (r) => r.upstreams.select(hostile as never));
});

onFirst('the books are right', booksAreRight);
