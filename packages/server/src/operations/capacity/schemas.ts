// The schemas that operations on upstreams, blocks and pools share.
import { BLOCK_POLICIES, BLOCK_SOURCES, UPSTREAM_STATUSES } from 'recoup';
import Type from 'typebox';
import * as s from '../schemas.ts';

const integer = Type.Integer();
const maybeInteger = s.orNull(integer);
const maybeText = s.orNull(Type.String());
const maybeInstant = (description: string) => s.orNull(s.instant(description));

export const upstream = s.id('The id of the upstream, yours.');
export const pool = s.id('The name of the pool.');
export const lease = s.id('The id of the lease.');
export const block = s.count('The number of the block.', 1, Number.MAX_SAFE_INTEGER);
export const upstreamKey = s.fields({ upstream });
export const poolKey = s.fields({ pool });
export const actor = s.optional(s.text('Who did it.', 200));
export const reason = s.optional(s.report('Why, for people.'));
/** What an upstream is asked for: blocks of another model or capability do not count. */
export const use = {
  model: s.optional(s.id('The model it is for.')),
  capability: s.optional(s.id('The capability it is for.')),
};
/** What was used, and what makes it count once. */
export const used = {
  use: s.optional(
    Type.Record(Type.String(), Type.Integer({ minimum: 0, maximum: 1_000_000_000_000 }), {
      description: 'What was used, by unit: `{"tokens": 1200}`. One of `requests` unless it says how many.',
    }),
  ),
  key: s.optional(s.id('What makes the use count once: a key of yours, instead of the lease.')),
};
export const leaseMs = s.optional(s.durationMs('How long the slot is held; 60,000 unless set.', 100, 86_400_000));

/** What an operator decides about an upstream. */
export const settings = {
  quotaGroup: s.optional(
    s.orNull(
      s.id(
        'What shares a quota at the provider: a project, an organization; null: nothing, also where there was a group.',
      ),
    ),
  ),
  route: s.optional(s.id('The way there: a proxy, an egress address; `direct` unless set.')),
  credentialRef: s.optional(
    s.text('Where the credential is kept: a name in your secret store, never the secret.', 500),
  ),
  priority: s.optional(s.count('0 first … 9 last; 5 unless set.', 0, 9)),
  weight: s.optional(s.count('Its share among those of one priority; 1 unless set.', 1, 1000)),
  maxConcurrency: s.optional(
    s.orNull(s.count('Uses at once; no limit unless set. null: no limit, also where there was one.', 1, 1_000_000)),
  ),
};

/** Who says when something is back. */
export const SOURCES = ['retry_after', 'reset_announced', 'backoff', 'operator', 'window'] as const;

export const estimate = s.orNull(
  s.fields(
    {
      at: s.instant('The estimate.'),
      source: s.oneOf(SOURCES, 'Who says so; `window`: a limit’s next one.'),
      revision: s.orNull(Type.Integer({ description: 'Which of the estimates of its block.' })),
      range: s.orNull(
        s.fields(
          { from: s.instant(), to: s.instant() },
          { description: 'When four of five that were estimated so came back; null: fewer than 20 are known.' },
        ),
      ),
    },
    { title: 'Estimate', description: 'What the estimate rests on.' },
  ),
);
export const expectedRecoveryAt = (description: string) => maybeInstant(`${description} An estimate.`);

const Failing = s.fields(
  {
    check: s.oneOf(
      ['off', 'draining', 'retired', 'blocked', 'gated', 'trial', 'quota', 'slots'],
      'What keeps it out; gated: a probe is to answer first.',
    ),
    block: maybeInteger,
    kind: maybeText,
    source: maybeText,
    policy: maybeText,
    subject: s.orNull(Type.String({ description: 'What is out: `upstream:…`, `provider:…`.' })),
    scope: s.orNull(Type.String({ description: 'Empty: everything; else `model:…`, `capability:…`.' })),
    until: maybeInstant('When it is expected to end; null: not by time.'),
    reason: maybeText,
    revision: s.orNull(Type.Integer({ description: 'How many events the block has: a later estimate has more.' })),
    nextStep: s.orNull(Type.String({ description: 'What a person can do.' })),
    limit: s.orNull(Type.String({ description: 'Of `quota`: the limit that is used up.' })),
    unit: maybeText,
    used: maybeInteger,
    amount: maybeInteger,
  },
  { title: 'FailingCheck' },
);

export const Upstream = s.fields(
  {
    upstream: Type.String(),
    pool: Type.String(),
    provider: Type.String(),
    quotaGroup: maybeText,
    route: Type.String(),
    credentialRef: maybeText,
    status: s.oneOf(UPSTREAM_STATUSES),
    priority: integer,
    weight: integer,
    maxConcurrency: maybeInteger,
    slotsOut: Type.Integer({ description: 'Slots in somebody’s hands now.' }),
    usable: s.flag('Whether it may be used now.'),
    failing: Type.Array(Failing, { description: 'Every check that fails, not only the first.' }),
    expectedRecoveryAt: expectedRecoveryAt('When it is back; null: a person has to act first.'),
    estimate,
    tightUntil: maybeInstant(
      'Its provider says that little is left until then: it comes after the others of its priority.',
    ),
    lastUsedAt: maybeInstant('When it was selected last.'),
    registeredAt: s.instant(),
  },
  { title: 'Upstream' },
);

export const BlockEvent = s.fields(
  {
    block: s.orNull(Type.Integer({ description: 'Null: an event of the upstream itself.' })),
    generation: Type.Integer({
      description: 'Which of the events of its block, or of the upstream; 0 of a `contradicted`.',
    }),
    subject: Type.String({ description: 'What is out: `upstream:…`, `provider:…`.' }),
    scope: Type.String({ description: 'Empty: everything.' }),
    kind: maybeText,
    source: maybeText,
    policy: s.orNull(s.oneOf(BLOCK_POLICIES)),
    type: s.oneOf(
      [
        'opened',
        'extended',
        'reopened',
        'trial',
        'probed',
        'closed',
        'contradicted',
        'registered',
        'changed',
        'credential',
      ],
      'The last three are the upstream’s own.',
    ),
    at: s.instant(),
    until: maybeInstant('Until when, as of this event.'),
    step: maybeInteger,
    evidenceAt: maybeInstant('When the request started that speaks for it.'),
    closedAs: maybeText,
    actor: maybeText,
    reason: maybeText,
    settings: s.orNull(
      Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Null()]), {
        description: 'All settings of the upstream as of this event of its own.',
      }),
    ),
  },
  { title: 'BlockEvent' },
);

export const Block = s.fields(
  {
    block: integer,
    subject: Type.String({ description: 'What is out: `upstream:…`, `provider:…`.' }),
    scope: Type.String({ description: 'Empty: everything.' }),
    kind: Type.String(),
    source: s.oneOf(BLOCK_SOURCES),
    policy: s.oneOf(BLOCK_POLICIES),
    halfOpen: s.flag('Its time is up: it lets trials in.'),
    openedAt: s.instant(),
    evidenceAt: s.instant('When the request started that last failed for this reason.'),
    until: maybeInstant('When it lets trials in: an estimate; null: a person has to end it.'),
    gatedUntil: maybeInstant('When its time is up, it waits for a probe until then; null: it does not.'),
    nextCheckAt: maybeInstant('When it is asked early; null: it is not.'),
    step: Type.Integer({ description: 'How often its trials failed, and one.' }),
    trials: Type.Integer({ description: 'How many it lets in at once, half open.' }),
    generation: Type.Integer({ description: 'Give it back when you free the block: what changed since stays.' }),
    reason: maybeText,
    nextStep: maybeText,
  },
  { title: 'Block' },
);

export const Dropped = s.fields(
  {
    field: Type.String(),
    value: Type.String({ description: 'Shortened, without secrets.' }),
    rule: Type.String({ description: 'Why it counts for nothing.' }),
  },
  { title: 'Dropped' },
);
