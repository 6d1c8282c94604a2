// Operations of those who use upstreams: select one, keep its slot, give it back, report how the use went.
import { BLOCK_POLICIES, BLOCK_SOURCES, BLOCK_SUBJECTS, type BlockFacts, capacityTransitions } from 'recoup';
import Type from 'typebox';
import { type Operation, operation } from '../operation.ts';
import * as s from '../schemas.ts';
import { answer, answerOf } from './answers.ts';
import * as c from './schemas.ts';

const leaseKey = s.fields({ lease: c.lease });

const blockFields = s.fields({
  kind: s.id('The class of trouble: `rate_limited`, `billing`, `server_error` …'),
  subject: s.optional(s.oneOf(BLOCK_SUBJECTS, 'What is out; `upstream` unless set.')),
  scope: s.optional(s.text('Only a model or a capability: `model:…`, `capability:…`; everything unless set.', 200)),
  source: s.optional(s.oneOf(BLOCK_SOURCES, 'How its end is known; from the rest unless set.')),
  policy: s.optional(s.oneOf(BLOCK_POLICIES, 'What ends it; `rolling` unless set.')),
  forMs: s.optional(s.durationMs('How long, as the provider says.', 1)),
  until: s.optional(s.instant('RFC 3339. Until when, as the provider says; not beside `forMs`.')),
  reason: s.optional(s.report('What was said, for people.')),
  nextStep: s.optional(s.report('What to do, for people.')),
});

/** A block as the library takes it. */
const blockOf = ({ until, ...rest }: Omit<BlockFacts, 'until'> & { until?: string }): BlockFacts => ({
  ...rest,
  ...(until === undefined ? {} : { until: new Date(until) }),
});

/** What a report of how a use went is answered with. */
export const Reported = s.fields(
  {
    outcome: s.outcome('upstream.report'),
    block: s.orNull(
      Type.Integer({ description: 'The block it was about; the provider’s, where the trouble is the provider’s.' }),
    ),
    until: s.orNull(s.instant('Until when that block lasts; null: until a person acts.')),
    step: s.orNull(Type.Integer()),
    closed: Type.Integer({ description: 'How many blocks it closed.' }),
    use: s.orNull(s.oneOf(capacityTransitions['window.use'].outcomes, 'Null: nothing was to be booked.')),
    class: s.orNull(Type.String({ description: 'What it means: null for a success, or where you did not say.' })),
    reason: s.orNull(Type.String({ description: 'In the provider’s words, without secrets.' })),
    nextStep: s.orNull(Type.String({ description: 'What a person can do.' })),
    rule: s.orNull(Type.String({ description: 'The operator’s rule that decided.' })),
    blocks: Type.Array(
      s.fields({
        block: s.orNull(Type.Integer()),
        outcome: s.outcome('upstream.report'),
        source: Type.String(),
        until: s.orNull(s.instant()),
        step: s.orNull(Type.Integer()),
      }),
      { description: 'One for each time that the answer names, that of `block` first.' },
    ),
    dropped: Type.Array(c.Dropped, { description: 'What was implausible in the answer.' }),
  },
  { title: 'Reported' },
);

export const uses: readonly Operation[] = [
  operation({
    name: 'upstreams.select',
    summary: 'Lease a slot of the best upstream of a pool that may be used now',
    description:
      'Report or release it afterwards; what is not given back lapses. With a `lease` id of yours a lost answer can be asked for again: the same id gives the same lease. Outcome `none`: nothing is usable now; `Retry-After` says when to ask again, `expectedRecoveryAt` what is true.',
    scopes: ['worker'],
    method: 'POST',
    path: '/v1/pools/{pool}/select',
    params: c.poolKey,
    query: s.none,
    body: s.fields({
      ...c.use,
      leaseMs: c.leaseMs,
      holder: s.optional(s.id('Who uses it, for people.')),
      lease: s.optional(s.id('An id of yours for the lease: makes a lost answer repeatable.')),
      sticky: s.optional(
        s.id(
          'A key of yours, such as a conversation: the same upstream while it is usable, then another, and stays there.',
        ),
      ),
      stickyMs: s.optional(
        s.durationMs('How long a key that is not used is remembered; an hour unless set.', 1000, 604_800_000),
      ),
    }),
    output: s.fields(
      {
        outcome: s.outcome('upstream.select'),
        upstream: s.orNull(Type.String()),
        provider: s.orNull(Type.String()),
        credentialRef: s.orNull(Type.String({ description: 'Where the credential is kept.' })),
        lease: s.orNull(Type.String({ description: 'Give it back with `report` or `release`.' })),
        leaseUntil: s.orNull(s.instant()),
        retryAfterMs: s.orNull(Type.Integer({ description: 'Of `none`: when to ask again, at most 300,000.' })),
        expectedRecoveryAt: c.expectedRecoveryAt(
          'Of `none`: when the pool is back; null: every upstream needs a person.',
        ),
        estimate: c.estimate,
      },
      { title: 'Selected' },
    ),
    retryAfter: true,
    errors: [],
    run: ({ recoup }, input) => recoup.upstreams.select(input),
  }),
  operation({
    name: 'upstreams.extend',
    summary: 'Keep the slot of an upstream',
    scopes: ['worker'],
    method: 'POST',
    path: '/v1/upstream-leases/{lease}/extend',
    params: leaseKey,
    query: s.none,
    body: s.fields({ leaseMs: c.leaseMs }),
    output: s.fields({ outcome: s.outcome('upstream.extend'), leaseUntil: s.orNull(s.instant()) }),
    errors: ['upstream_busy'],
    run: ({ recoup }, { lease, leaseMs }) => recoup.upstreams.extend(lease, leaseMs),
  }),
  operation({
    name: 'upstreams.release',
    summary: 'Give the slot of an upstream back without saying how it went',
    description: 'With `use` that is booked on the limits, once per lease; else nothing was used.',
    scopes: ['worker'],
    method: 'POST',
    path: '/v1/upstream-leases/{lease}/release',
    params: leaseKey,
    query: s.none,
    body: s.fields({ ...c.use, ...c.used }),
    output: s.fields({ outcome: s.outcome('upstream.release') }),
    errors: ['upstream_busy'],
    run: ({ recoup }, { lease, ...used }) => recoup.upstreams.release(lease, used),
  }),
  operation({
    name: 'upstreams.report',
    summary: 'Say how a use of an upstream went, and give its slot back',
    description:
      'Give `answer`, what the provider answered, or your own words: `success` and `block`. A failure with a `block` takes out what it names; one without blames nobody. A success closes what it refutes: blocks whose last evidence is older than its request. Beside `lease` give `startedAt` or `elapsedMs`: a repeat finds the lease gone, and they say then when the request began.',
    scopes: ['worker'],
    method: 'POST',
    path: '/v1/upstreams/{upstream}/report',
    params: c.upstreamKey,
    query: s.none,
    body: s.fields({
      answer: s.optional(answer),
      success: s.optional(s.flag('Whether the provider did what was asked; not beside `answer`.')),
      lease: s.optional(s.id('The lease it was used under: it is given back.')),
      startedAt: s.optional(s.instant('RFC 3339. When the request started.')),
      elapsedMs: s.optional(s.durationMs('How long ago the request started.')),
      ...c.use,
      block: s.optional(blockFields),
      ...c.used,
      job: s.optional(
        s.fields(
          { wallet: s.wallet, job: s.job, attempt: s.attempt },
          { description: 'What makes the use count once: the attempt of a job, instead of the lease.' },
        ),
      ),
      actor: c.actor,
    }),
    output: Reported,
    errors: ['no_upstream', 'upstream_busy'],
    run: ({ recoup }, { startedAt, block, answer: given, ...rest }) =>
      recoup.upstreams.report({
        ...rest,
        ...(startedAt === undefined ? {} : { startedAt: new Date(startedAt) }),
        ...(block === undefined ? {} : { block: blockOf(block) }),
        ...(given === undefined ? {} : { answer: answerOf(given) }),
      }),
  }),
];
