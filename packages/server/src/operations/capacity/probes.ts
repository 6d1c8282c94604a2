// Operations on probes: how pools are asked, what was asked, what it cost and bought, a re-check of many.
import { BLOCK_POLICIES, PROBE_METHODS, type Progress, type Recheck } from 'recoup';
import Type from 'typebox';
import { type Context, type Operation, operation, type StreamEvent } from '../operation.ts';
import * as s from '../schemas.ts';

const pool = s.id('The pool.');
const units = Type.Record(Type.String(), s.amount('So many.'), { description: 'By unit.' });
const Http = s.fields(
  {
    method: s.optional(s.oneOf(PROBE_METHODS)),
    url: Type.String({
      minLength: 1,
      maxLength: 2000,
      description: '`{upstream}` and `{model}` stand for their names, behind the host.',
    }),
    headers: s.optional(
      Type.Record(Type.String(), Type.String(), {
        description: '`{credential}` stands for the secret of the upstream.',
      }),
    ),
    body: s.optional(Type.String({ maxLength: 20_000 })),
    yes: s.optional(
      s.fields({
        status: s.optional(Type.Array(s.count('A status.', 200, 599))),
        includes: s.optional(Type.String({ maxLength: 500 })),
      }),
    ),
  },
  { title: 'HttpProbe' },
);
const Prober = s.fields(
  {
    pool: Type.String(),
    kind: s.oneOf(['function', 'http'] as const),
    http: s.orNull(Http),
    graceMs: Type.Integer(),
    everyMs: Type.Integer(),
    timeoutMs: Type.Integer(),
    cost: units,
    setAt: s.instant(),
    actor: s.orNull(Type.String()),
  },
  { title: 'Prober' },
);
const Probe = s.fields(
  {
    probe: Type.Integer(),
    block: Type.Integer(),
    upstream: Type.String(),
    pool: Type.String(),
    kind: s.oneOf(['due', 'early', 'asked'] as const),
    startedAt: s.instant(),
    endedAt: s.orNull(s.instant()),
    result: s.orNull(s.oneOf(['yes', 'no', 'unavailable'] as const)),
    outcome: s.orNull(s.oneOf(['confirmed', 'denied', 'unavailable', 'superseded', 'lapsed'] as const)),
    latencyMs: s.orNull(Type.Integer()),
    cost: units,
    reason: s.orNull(Type.String()),
    claimedBy: s.orNull(Type.String()),
    askedBy: s.orNull(Type.String()),
  },
  { title: 'Probe' },
);
const maybeNumber = s.orNull(Type.Number());
const Score = s.fields(
  {
    pool: Type.String(),
    source: Type.String({ description: 'Who said when the blocks would end.' }),
    probes: Type.Integer(),
    yes: Type.Integer(),
    no: Type.Integer(),
    unavailable: Type.Integer(),
    ignored: Type.Integer({ description: 'Answers that changed nothing.' }),
    cost: units,
    minutesRegained: Type.Number({
      description: 'From each yes to when the block would have ended by what was said then.',
    }),
    minutesPerRequest: maybeNumber,
    medianLatencyMs: maybeNumber,
  },
  { title: 'ProbeScore' },
);
const filter = {
  policy: s.optional(s.oneOf(BLOCK_POLICIES, 'Only blocks of this policy.')),
  kind: s.optional(s.id('Only blocks of this kind.')),
};
/** Tells each change while it runs. What comes faster than it is read is told as one. */
async function* recheck({ recoup, signal }: Context, input: Recheck): AsyncGenerator<StreamEvent> {
  let latest: Progress | undefined;
  let told = (_: 'step') => {};
  const data = (progress: Progress, ended: boolean) => ({
    data: { done: progress.of - progress.open, ...progress, ended },
  });
  const onProgress = (progress: Progress) => {
    if (latest && JSON.stringify(latest) === JSON.stringify(progress)) return;
    latest = progress;
    told('step');
  };
  const running = recoup.probes.recheck({ ...input, signal, onProgress });
  for (;;) {
    const step = new Promise<'step'>((resolve) => {
      told = resolve;
    });
    const next = await Promise.race([running, step]);
    if (next !== 'step') return yield data(next, true);
    yield data(latest!, false);
  }
}

const READERS = ['viewer', 'support', 'operator'] as const;

export const probes: readonly Operation[] = [
  operation({
    name: 'probes.set',
    summary: 'Say how the upstreams of a pool are asked whether they work again',
    description:
      'Without `http`, processes that were opened with a function for the pool ask. What is blocked from then on waits for an answer when its time is up.',
    scopes: ['operator'],
    method: 'PUT',
    path: '/v1/pools/{pool}/prober',
    params: s.fields({ pool }),
    query: s.none,
    body: s.fields({
      http: s.optional(Http),
      graceMs: s.optional(s.durationMs('How long a block waits for the answer; 30,000 unless set.', 1000, 3_600_000)),
      everyMs: s.optional(
        s.durationMs('How often an announced reset is asked early; 900,000 unless set.', 1000, 604_800_000),
      ),
      timeoutMs: s.optional(s.durationMs('How long an answer may take; 10,000 unless set.', 100, 3_600_000)),
      cost: s.optional(units),
      actor: s.optional(s.id('Who says so.')),
    }),
    output: s.fields({ outcome: s.outcome('prober.set') }),
    errors: [],
    run: ({ recoup }, input) => recoup.probes.set(input as Parameters<typeof recoup.probes.set>[0]),
  }),
  operation({
    name: 'probes.remove',
    summary: 'Nobody asks any more',
    scopes: ['operator'],
    method: 'DELETE',
    path: '/v1/pools/{pool}/prober',
    params: s.fields({ pool }),
    query: s.none,
    body: null,
    output: s.fields({ outcome: s.outcome('prober.remove') }),
    errors: [],
    run: ({ recoup }, input) => recoup.probes.remove(input.pool),
  }),
  operation({
    name: 'probes.probers',
    summary: 'How pools are asked',
    scopes: READERS,
    method: 'GET',
    path: '/v1/probers',
    params: s.none,
    query: s.none,
    body: null,
    output: s.fields({ probers: Type.Array(Prober) }),
    errors: [],
    run: async ({ recoup }) => ({ probers: await recoup.probes.probers() }),
  }),
  operation({
    name: 'probes.list',
    summary: 'Probes, the newest first: of a block, of an upstream, or all',
    scopes: READERS,
    method: 'GET',
    path: '/v1/probes',
    params: s.none,
    query: s.fields({
      block: s.optional(s.amount('Only of this block.', 1)),
      upstream: s.optional(s.id('Only of this upstream.')),
      cursor: s.optional(s.amount('Where to go on: the `cursor` of the page before.', 1)),
      limit: s.limit,
    }),
    body: null,
    output: s.fields({ probes: Type.Array(Probe), cursor: s.orNull(Type.Integer()) }, { title: 'ProbePage' }),
    errors: [],
    run: ({ recoup }, input) => recoup.probes.list(input),
  }),
  operation({
    name: 'probes.report',
    summary: 'What probes cost and what they bought against waiting, by pool and source',
    scopes: READERS,
    method: 'GET',
    path: '/v1/probes/report',
    params: s.none,
    query: s.fields({
      since: s.optional(s.instant('RFC 3339. Probes of this instant or later.')),
      pool: s.optional(pool),
    }),
    body: null,
    output: s.fields({ scores: Type.Array(Score) }),
    errors: [],
    run: async ({ recoup }, { since, ...rest }) => ({
      scores: await recoup.probes.report({ ...rest, ...(since !== undefined && { since: new Date(since) }) }),
    }),
  }),
  operation({
    name: 'probes.preview',
    summary: 'How many blocks of a pool a re-check would ask',
    scopes: READERS,
    method: 'GET',
    path: '/v1/pools/{pool}/recheck',
    params: s.fields({ pool }),
    query: s.fields(filter),
    body: null,
    output: s.fields({
      count: Type.Integer({ description: 'Confirm this number.' }),
      left: Type.Integer({
        description:
          'Not asked: orders to wait that last, and what a person has decided; all, where the pool has no prober.',
      }),
    }),
    errors: [],
    run: ({ recoup }, input) => recoup.probes.preview(input),
  }),
  operation({
    name: 'probes.recheck',
    summary: 'Have every block of a pool asked now, telling how far that is',
    description:
      'One JSON object a line; the last one has `ended: true`. What says yes comes back; everything else stays out, also what could not be asked. When the caller goes, or the time is over, `open` are still asked.',
    scopes: ['operator'],
    method: 'POST',
    path: '/v1/pools/{pool}/recheck',
    params: s.fields({ pool }),
    query: s.none,
    body: s.fields({
      ...filter,
      confirm: s.count('The count that the preview showed.', 0, 10_000),
      actor: s.id('Who wants it.'),
      withinMs: s.optional(s.durationMs('How long to wait for answers; 600,000 unless set.', 0, 600_000)),
    }),
    output: s.fields(
      {
        done: Type.Integer(),
        of: Type.Integer(),
        ended: Type.Boolean({ description: 'True in the last line.' }),
        open: Type.Integer({ description: 'Not answered yet.' }),
        yes: Type.Integer(),
        no: Type.Integer(),
        unavailable: Type.Integer({ description: 'It could not be told.' }),
        moved: Type.Integer({ description: 'Closed, or changed by other news, before they were answered.' }),
      },
      { title: 'RecheckProgress' },
    ),
    stream: 'ndjson',
    repeatable: false,
    errors: ['count_changed'],
    run: recheck,
  }),
];
