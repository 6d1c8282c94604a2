// Operations of people on dead letters: list, preview, redrive one or a filter, discard.
import Type from 'typebox';
import { type Context, type Operation, operation, type StreamEvent } from './operation.ts';
import * as s from './schemas.ts';

const filterFields = {
  queue: s.optional(s.queue),
  wallet: s.optional(s.wallet),
  reason: s.optional(s.text('The exact reason of the last failure.', 2000)),
  asOf: s.optional(s.instant('Dead by this instant; what died later is not touched.')),
};
interface Filter {
  queue?: string;
  wallet?: string;
  reason?: string;
  asOf?: string;
}
const filterOf = ({ queue, wallet, reason, asOf }: Filter) => ({
  ...(queue === undefined ? {} : { queue }),
  ...(wallet === undefined ? {} : { wallet }),
  ...(reason === undefined ? {} : { reason }),
  ...(asOf === undefined ? {} : { asOf: new Date(asOf) }),
});

const Progress = s.fields(
  {
    done: Type.Integer(),
    of: Type.Integer(),
    ended: Type.Boolean({ description: 'True in the last line: all of them were looked at.' }),
    redriven: s.optional(Type.Integer()),
    skipped: s.optional(Type.Integer({ description: 'Somebody else had moved them meanwhile.' })),
  },
  { title: 'RedriveProgress' },
);

/** Tells the progress while it runs. Steps that come faster than they are read are told as one. */
async function* redrive(context: Context, filter: Filter, confirm: number): AsyncGenerator<StreamEvent> {
  let done = 0;
  let told = (_: 'step') => {};
  const running = context.recoup.jobs.deadLetters.redriveAll(filterOf(filter), {
    confirm,
    signal: context.signal,
    onProgress: (count) => {
      done = count;
      told('step');
    },
  });
  for (;;) {
    const step = new Promise<'step'>((resolve) => {
      told = resolve;
    });
    const next = await Promise.race([running, step]);
    if (next !== 'step') {
      yield { data: { done: next.redriven + next.skipped, of: confirm, ended: true, ...next } };
      return;
    }
    yield { data: { done, of: confirm, ended: false } };
  }
}

const OUTCOME_ERRORS = ['no_job', 'pruned', 'not_dead', 'wallet_busy'] as const;

export const deadLetters: readonly Operation[] = [
  operation({
    name: 'deadLetters.list',
    summary: 'Dead letters of a filter, oldest first, page by page',
    scopes: ['app', 'viewer', 'support', 'operator'],
    method: 'GET',
    path: '/v1/dead-letters',
    params: s.none,
    query: s.fields({ ...filterFields, cursor: s.cursor, limit: s.limit }),
    body: null,
    output: s.fields({ jobs: Type.Array(s.Job), cursor: s.nextCursor }),
    errors: [],
    run: ({ recoup }, { cursor, limit, ...filter }) =>
      recoup.jobs.deadLetters.page(filterOf(filter), { cursor: cursor ?? null, limit: limit ?? 100 }),
  }),
  operation({
    name: 'deadLetters.preview',
    summary: 'What redriving a filter would do; changes nothing',
    scopes: ['viewer', 'support', 'operator'],
    method: 'GET',
    path: '/v1/dead-letters/preview',
    params: s.none,
    query: s.fields(filterFields),
    body: null,
    output: s.fields(
      {
        count: Type.Integer({ description: 'Dead letters that match: confirm this number.' }),
        mayReclaim: Type.Integer({ description: 'Credits that would be reclaimed if all of them succeeded.' }),
        walletsIntoDebt: Type.Integer({ description: 'Wallets that would then be below zero.' }),
        asOf: s.instant('Give it to the redrive: what dies later is not touched.'),
      },
      { title: 'RedrivePreview' },
    ),
    errors: [],
    run: ({ recoup }, filter) => recoup.jobs.deadLetters.preview(filterOf(filter)),
  }),
  operation({
    name: 'deadLetters.redriveAll',
    summary: 'Redrive a filter in small steps, telling its progress',
    description:
      'One JSON object a line; the last one has `ended: true`. It stops when the caller goes: what was redriven stays so, preview again for the rest. A repeat after it ended refuses `count_changed`.',
    scopes: ['operator'],
    method: 'POST',
    path: '/v1/dead-letters/redrive',
    params: s.none,
    query: s.none,
    body: s.fields({ ...filterFields, confirm: s.amount('The count that the preview showed.') }),
    output: Progress,
    stream: 'ndjson',
    repeatable: false,
    errors: ['count_changed'],
    run: (context, { confirm, ...filter }) => redrive(context, filter, confirm),
  }),
  operation({
    name: 'deadLetters.redrive',
    summary: 'Run a dead or discarded job again; never charges',
    scopes: ['support', 'operator'],
    method: 'POST',
    path: '/v1/wallets/{wallet}/jobs/{job}/redrive',
    params: s.jobKey,
    query: s.none,
    body: s.none,
    output: s.fields({ outcome: s.outcome('job.redrive') }),
    errors: OUTCOME_ERRORS,
    run: ({ recoup }, input) => recoup.jobs.deadLetters.redrive(input),
  }),
  operation({
    name: 'deadLetters.discard',
    summary: 'Put a dead letter aside; a late success still reclaims',
    scopes: ['support', 'operator'],
    method: 'POST',
    path: '/v1/wallets/{wallet}/jobs/{job}/discard',
    params: s.jobKey,
    query: s.none,
    body: s.none,
    output: s.fields({ outcome: s.outcome('job.discard') }),
    errors: OUTCOME_ERRORS,
    run: ({ recoup }, input) => recoup.jobs.deadLetters.discard(input),
  }),
];
