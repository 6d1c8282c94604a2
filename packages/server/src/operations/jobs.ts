// Operations on jobs: submit, single and in batches, and the reads.
import { JOB_STATES } from 'recoup';
import Type, { type Static } from 'typebox';
import { answerItems, type Context, type Operation, operation } from './operation.ts';
import * as s from './schemas.ts';

const submitFields = {
  queue: s.orNull(s.id('The queue it waits in; null: you deliver it through a queue of your own.')),
  price: s.amount('What it is charged.'),
  payload: s.optional(s.json('JSON for the worker, at most 1 MiB.')),
  priority: s.optional(s.count('0 first … 9 last; 5 unless set.', 0, 9)),
  notBefore: s.optional(s.instant('The earliest instant of the first attempt.')),
  delayMs: s.optional(s.durationMs('The same as a delay.')),
  maxFailures: s.optional(s.count('After this many failures it is a dead letter.', 1, 1_000_000)),
  labels: s.optional(
    Type.Record(Type.String(), Type.String({ maxLength: 200 }), {
      maxProperties: 32,
      description: 'Your own words about the job, {"name": "value"}: for reading, nothing goes by them.',
    }),
  ),
  deadlineMs: s.optional(s.durationMs('Only without a queue: when it counts as failed unless it is heard of.', 1)),
  upstreamRef: s.optional(s.id('Only without a queue: the reference that the upstream gave.')),
};
const item = s.fields({ ...s.jobKey.properties, ...submitFields });

/** As the library takes it: an instant of JSON as a Date, and the trace that the request came in. */
function submitOf({ traceparent }: Context, { notBefore, ...rest }: Static<typeof item>) {
  return {
    ...rest,
    ...(notBefore === undefined ? {} : { notBefore: new Date(notBefore) }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

const Submitted = s.fields(
  {
    outcome: s.outcome('job.submit'),
    job: s.Job,
    seq: Type.Integer({ description: 'The charge; the same for every repeat.' }),
    balance: Type.Integer({ description: 'The balance right after the charge; the same for every repeat.' }),
  },
  { title: 'Submitted' },
);

const READERS = ['app', 'worker', 'viewer', 'support', 'operator'] as const;

export const jobs: readonly Operation[] = [
  operation({
    name: 'jobs.submit',
    summary: 'Charge the price and queue the job',
    description:
      'Repeat it as often as you like: the id of the job is its idempotency key. A W3C `traceparent` header is kept with the job.',
    scopes: ['app'],
    method: 'PUT',
    path: '/v1/wallets/{wallet}/jobs/{job}',
    params: s.jobKey,
    query: s.none,
    body: s.fields(submitFields),
    output: Submitted,
    created: 'charged',
    errors: ['no_wallet', 'pruned', 'conflict', 'wallet_closed', 'insufficient_credits', 'wallet_busy'],
    run: (context, input) => context.recoup.jobs.submit(submitOf(context, input)),
  }),
  operation({
    name: 'jobs.submitMany',
    summary: 'Submit a batch: an answer per item, as if they were submitted one by one',
    scopes: ['app'],
    method: 'POST',
    path: '/v1/batch/jobs',
    params: s.none,
    query: s.none,
    body: s.fields({ items: Type.Array(item, { minItems: 1, maxItems: 1000, description: s.ITEMS }) }),
    output: s.fields({ items: Type.Array(Type.Union([Submitted, s.Refused])) }),
    batch: true,
    errors: [],
    run: (context, { items }) =>
      answerItems(context.recoup.jobs.submitMany(items.map((one) => submitOf(context, one)))),
  }),
  operation({
    name: 'jobs.list',
    summary: 'The jobs of a wallet, newest first, page by page',
    description:
      'A page of a filter may hold fewer than `limit`, or none, and go on: only a `cursor` of null is the end.',
    scopes: READERS,
    method: 'GET',
    path: '/v1/wallets/{wallet}/jobs',
    params: s.walletKey,
    query: s.fields({
      state: s.optional(s.oneOf(JOB_STATES, 'Only those in this state.')),
      queue: s.optional(s.queue),
      cursor: s.optional(s.amount('Where to go on: the `cursor` of the page before.', 1)),
      limit: s.limit,
    }),
    body: null,
    output: s.fields({ jobs: Type.Array(s.Job), cursor: s.orNull(Type.Integer()) }, { title: 'JobPage' }),
    errors: ['no_wallet'],
    run: ({ recoup }, { wallet, ...options }) => recoup.jobs.list(wallet, options),
  }),
  operation({
    name: 'jobs.get',
    summary: 'One job with its payload and result',
    scopes: READERS,
    method: 'GET',
    path: '/v1/wallets/{wallet}/jobs/{job}',
    params: s.jobKey,
    query: s.none,
    body: null,
    output: s.fields({ job: s.Job, payload: s.json('As submitted.'), result: s.json('As reported.') }),
    errors: ['no_job'],
    run: ({ recoup }, input) => recoup.jobs.get(input),
  }),
  operation({
    name: 'jobs.attempts',
    summary: 'How the attempts of a job ended',
    scopes: READERS,
    method: 'GET',
    path: '/v1/wallets/{wallet}/jobs/{job}/attempts',
    params: s.jobKey,
    query: s.none,
    body: null,
    output: s.fields({ attempts: Type.Array(s.Attempt) }),
    errors: ['no_job'],
    run: async ({ recoup }, input) => {
      const attempts = await recoup.jobs.attempts(input);
      if (attempts.length === 0) await recoup.jobs.get(input);
      return { attempts };
    },
  }),
  operation({
    name: 'jobs.entries',
    summary: 'What a job put into the ledger, with the adjusts that name it',
    description: 'Also for a job whose row was pruned: its entries stay.',
    scopes: READERS,
    method: 'GET',
    path: '/v1/wallets/{wallet}/jobs/{job}/entries',
    params: s.jobKey,
    query: s.none,
    body: null,
    output: s.fields({ entries: Type.Array(s.Entry) }),
    errors: ['no_job'],
    run: async ({ recoup }, input) => {
      const entries = await recoup.wallets.entriesOf(input.wallet, input.job);
      if (entries.length === 0) await recoup.jobs.get(input);
      return { entries };
    },
  }),
  operation({
    name: 'jobs.byUpstreamRef',
    summary: 'The jobs that carry a reference of an upstream, with the attempt it belongs to',
    scopes: READERS,
    method: 'GET',
    path: '/v1/upstream-refs/{upstreamRef}/jobs',
    params: s.fields({ upstreamRef: s.id('The reference that the upstream gave.') }),
    query: s.none,
    body: null,
    output: s.fields({ jobs: Type.Array(s.fields({ job: s.Job, attempt: Type.Integer() })) }),
    errors: [],
    run: async ({ recoup }, { upstreamRef }) => ({ jobs: await recoup.jobs.byUpstreamRef(upstreamRef) }),
  }),
  operation({
    name: 'jobs.prune',
    summary: 'Delete rows of jobs that ended long ago, a bounded number at a time; their entries stay',
    description: 'Repeat it until it answers fewer than `count`. Dead, discarded and failed jobs are never pruned.',
    scopes: ['operator'],
    method: 'POST',
    path: '/v1/prune',
    params: s.none,
    query: s.none,
    body: s.fields({
      olderThanMs: s.durationMs('Only jobs that ended longer ago.'),
      state: s.optional(s.oneOf(['succeeded', 'canceled'], 'Only jobs that ended so; both unless set.')),
      count: s.optional(s.count('At most this many; 1,000 unless set.', 1, 10_000)),
      dryRun: s.optional(s.flag('Delete nothing; say how many there are in all.')),
    }),
    output: s.fields({
      pruned: Type.Integer({ description: 'Rows that this call deleted.' }),
      prunable: s.optional(Type.Integer({ description: 'Of a dry run: how many there are in all.' })),
    }),
    errors: [],
    run: async ({ recoup }, input) => {
      const found = await recoup.jobs.prune(input);
      return input.dryRun ? { pruned: 0, prunable: found } : { pruned: found };
    },
  }),
];
