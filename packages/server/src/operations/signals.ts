// Operations that say how a job went: succeed, fail, settle, cancel; by the job's key, in batches, and by upstream_ref.
import Type from 'typebox';
import { answerItems, type Operation, operation } from './operation.ts';
import * as s from './schemas.ts';

const upstreamRef = s.id('The reference that the upstream gave.');
const failFields = {
  attempt: s.optional(s.attempt),
  verdict: s.optional(s.oneOf(['definitive', 'presumed'], 'What the report is worth; `presumed` unless set.')),
  retryable: s.optional(s.flag('False: straight to the dead letters.')),
  retryAfterMs: s.optional(s.durationMs('The Retry-After of the upstream.')),
  reason: s.optional(s.report('Why, for people.')),
};
const succeedFields = {
  attempt: s.optional(s.attempt),
  result: s.optional(s.json('JSON, at most 1 MiB.')),
  finalPrice: s.optional(s.amount('What the job turned out to be worth: settles the difference to its price.')),
};
const withRef = { upstreamRef: s.optional(upstreamRef) };

export const Failed = s.fields(
  {
    outcome: s.outcome('job.fail'),
    state: Type.String(),
    attempt: Type.Integer(),
    failures: Type.Integer(),
    notBefore: s.orNull(s.instant()),
    refunded: Type.Boolean({ description: 'Whether this call booked the refund.' }),
  },
  { title: 'Failed' },
);
export const Succeeded = s.fields(
  {
    outcome: s.outcome('job.succeed'),
    succeededAttempt: Type.Integer({ description: 'The attempt that counts as the successful one.' }),
    succeededAt: s.instant(),
    reclaimed: Type.Boolean({ description: 'Whether a refund was taken back, by this call or an earlier one.' }),
    finalPrice: s.orNull(Type.Integer()),
  },
  { title: 'Succeeded' },
);

const FAIL_ERRORS = ['no_job', 'pruned', 'attempt_required', 'wallet_busy'] as const;
const SUCCEED_ERRORS = ['no_job', 'pruned', 'canceled', 'balance_limit', 'conflict', 'wallet_busy'] as const;
const items = <P extends Type.TProperties>(properties: P) =>
  s.fields({
    items: Type.Array(s.fields({ ...s.jobKey.properties, ...properties }), {
      minItems: 1,
      maxItems: 1000,
      description: s.ITEMS,
    }),
  });

const byKey: readonly Operation[] = [
  operation({
    name: 'jobs.fail',
    summary: 'Report a failed attempt: refunds and retries, or ends the job',
    scopes: ['app', 'worker'],
    method: 'POST',
    path: '/v1/wallets/{wallet}/jobs/{job}/fail',
    params: s.jobKey,
    query: s.none,
    body: s.fields({ ...failFields, ...withRef }),
    output: Failed,
    errors: FAIL_ERRORS,
    run: ({ recoup }, input) => recoup.jobs.fail(input),
  }),
  operation({
    name: 'jobs.succeed',
    summary: 'The work is done, whoever says so and however late',
    scopes: ['app', 'worker'],
    method: 'POST',
    path: '/v1/wallets/{wallet}/jobs/{job}/succeed',
    params: s.jobKey,
    query: s.none,
    body: s.fields({ ...succeedFields, ...withRef }),
    output: Succeeded,
    errors: SUCCEED_ERRORS,
    run: ({ recoup }, input) => recoup.jobs.succeed(input),
  }),
  operation({
    name: 'jobs.settle',
    summary: 'Book what an ended job turned out to be worth',
    scopes: ['app', 'worker'],
    method: 'POST',
    path: '/v1/wallets/{wallet}/jobs/{job}/settle',
    params: s.jobKey,
    query: s.none,
    body: s.fields({ finalPrice: s.amount('What it was worth.') }),
    output: s.fields({ outcome: s.outcome('job.settle'), finalPrice: Type.Integer(), amount: Type.Integer() }),
    errors: ['no_job', 'pruned', 'not_ended', 'conflict', 'balance_limit', 'wallet_busy'],
    run: ({ recoup }, input) => recoup.jobs.settle(input),
  }),
  operation({
    name: 'jobs.cancel',
    summary: 'Give a job up: refunds, and keeps what was already delivered',
    scopes: ['app', 'support'],
    method: 'POST',
    path: '/v1/wallets/{wallet}/jobs/{job}/cancel',
    params: s.jobKey,
    query: s.none,
    body: s.fields({
      keep: s.optional(s.amount('What the part already delivered is worth.')),
      reason: s.optional(s.report('Why, for people.')),
    }),
    output: s.fields({
      outcome: s.outcome('job.cancel'),
      state: Type.String(),
      refunded: Type.Boolean(),
      kept: s.orNull(Type.Integer()),
    }),
    errors: ['no_job', 'pruned', 'balance_limit', 'conflict', 'wallet_busy'],
    run: ({ recoup }, input) => recoup.jobs.cancel(input),
  }),
];

const batches: readonly Operation[] = [
  operation({
    name: 'jobs.failMany',
    summary: 'Report failures in a batch: an answer per item, in order',
    scopes: ['app', 'worker'],
    method: 'POST',
    path: '/v1/batch/failures',
    params: s.none,
    query: s.none,
    body: items({ ...failFields, ...withRef }),
    output: s.fields({ items: Type.Array(Type.Union([Failed, s.Refused])) }),
    batch: true,
    errors: [],
    run: ({ recoup }, input) => answerItems(recoup.jobs.failMany(input.items)),
  }),
  operation({
    name: 'jobs.succeedMany',
    summary: 'Report successes in a batch: an answer per item, in order',
    scopes: ['app', 'worker'],
    method: 'POST',
    path: '/v1/batch/successes',
    params: s.none,
    query: s.none,
    body: items({ ...succeedFields, ...withRef }),
    output: s.fields({ items: Type.Array(Type.Union([Succeeded, s.Refused])) }),
    batch: true,
    errors: [],
    run: ({ recoup }, input) => answerItems(recoup.jobs.succeedMany(input.items)),
  }),
];

const { attempt: _, ...failByRef } = failFields;
const { attempt: __, ...succeedByRef } = succeedFields;

const byUpstreamRef: readonly Operation[] = [
  operation({
    name: 'upstreamRefs.fail',
    summary: 'Report a failure of the attempt that carries this reference',
    scopes: ['app', 'worker'],
    method: 'POST',
    path: '/v1/upstream-refs/{upstreamRef}/fail',
    params: s.fields({ upstreamRef }),
    query: s.none,
    body: s.fields(failByRef),
    output: Failed,
    errors: [...FAIL_ERRORS, 'conflict'],
    run: async ({ recoup, callbacks }, { upstreamRef, ...rest }) =>
      recoup.jobs.fail({ ...(await callbacks.find(upstreamRef)), ...rest }),
  }),
  operation({
    name: 'upstreamRefs.succeed',
    summary: 'Report a success of the attempt that carries this reference',
    scopes: ['app', 'worker'],
    method: 'POST',
    path: '/v1/upstream-refs/{upstreamRef}/succeed',
    params: s.fields({ upstreamRef }),
    query: s.none,
    body: s.fields(succeedByRef),
    output: Succeeded,
    errors: SUCCEED_ERRORS,
    run: async ({ recoup, callbacks }, { upstreamRef, ...rest }) =>
      recoup.jobs.succeed({ ...(await callbacks.find(upstreamRef)), ...rest }),
  }),
];

export const signals: readonly Operation[] = [...byKey, ...batches, ...byUpstreamRef];
