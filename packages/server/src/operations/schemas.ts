// The schemas that operations share. One with a title becomes a component of the OpenAPI document.
import {
  capacityTransitions,
  creditTransitions,
  ENTRY_TYPES,
  eventTransitions,
  JOB_STATES,
  probeTransitions,
  transitions,
} from 'recoup';
import Type, { type TProperties, type TSchema } from 'typebox';
import { SCOPES } from './operation.ts';

const MAX = Number.MAX_SAFE_INTEGER;
const YEAR_MS = 31_536_000_000;

/** An object that takes no other fields. */
export const fields = <P extends TProperties>(properties: P, more: Record<string, unknown> = {}) =>
  Type.Object(properties, { additionalProperties: false, ...more });
export const none = fields({});
export const optional = Type.Optional;
export const orNull = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

export const id = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: 200,
    description: `${description} 1 to 200 printable characters, not "." or "..".`,
  });
export const text = (description: string, maxLength: number) => Type.String({ maxLength, description });
/** Free text of a report: what is too long is cut, not refused. */
export const report = (description: string) => Type.String({ description: `${description} Cut at 2,000 characters.` });
export const amount = (description: string, minimum = 0) => Type.Integer({ minimum, maximum: MAX, description });
export const signedAmount = (description: string) => Type.Integer({ minimum: -MAX, maximum: MAX, description });
export const count = (description: string, minimum: number, maximum: number) =>
  Type.Integer({ minimum, maximum, description });
export const durationMs = (description: string, minimum = 0, maximum = YEAR_MS) =>
  Type.Integer({ minimum, maximum, description });
export const instant = (description = 'RFC 3339.') => Type.String({ format: 'date-time', description });
export const oneOf = <T extends string>(values: readonly T[], description?: string) =>
  Type.Unsafe<T>({ type: 'string', enum: [...values], ...(description ? { description } : {}) });
export const json = (description: string) => Type.Unknown({ description });
export const flag = (description: string) => Type.Boolean({ description });
const all = { ...transitions, ...capacityTransitions, ...creditTransitions, ...probeTransitions, ...eventTransitions };
export const outcome = (transition: keyof typeof all) => oneOf<string>(all[transition].outcomes);
export const ITEMS = '1 to 1,000 of what the single form takes; each is answered at its place.';
const integer = Type.Integer();
const maybeInteger = orNull(integer);
const maybeText = orNull(Type.String());
const maybeInstant = orNull(instant());

export const wallet = id('The id of the wallet, yours.');
export const job = id('The id of the job in its wallet, yours; it is the idempotency key.');
export const queue = id('The name of the queue.');
export const attempt = count('The number of the attempt: the fencing token.', 1, 2_147_483_647);
export const limit = optional(count('At most this many.', 1, 1000));
export const cursor = optional(
  Type.String({ minLength: 1, maxLength: 4000, description: 'Where to go on: the `cursor` of the page before.' }),
);
export const nextCursor = orNull(Type.String({ description: 'Where the next page starts; null: that was all.' }));

export const walletKey = fields({ wallet });
export const jobKey = fields({ wallet, job });

export const Balance = fields(
  {
    wallet: Type.String(),
    customer: Type.String(),
    unit: Type.String(),
    status: oneOf(['active', 'closed']),
    booked: Type.Integer({ description: 'The balance of the ledger; negative is a debt.' }),
    overdraftLimit: integer,
    spendable: Type.Integer({ description: 'What a submit may cost now: without what is due to expire.' }),
    held: Type.Integer({ description: 'Charged for jobs that have not ended.' }),
    atRisk: Type.Integer({ description: 'Given back for jobs that may still succeed.' }),
    expiring: Type.Array(fields({ amount: integer, at: instant() }), {
      description:
        'What is left of credit that expires, and when. With an instant that is past: kept while jobs whose refund it may be can still succeed.',
    }),
    lastSeq: integer,
    lastEntryAt: maybeInstant,
  },
  { title: 'Balance' },
);

export const Wallet = fields(
  {
    wallet: Type.String(),
    customer: Type.String(),
    unit: Type.String(),
    status: oneOf(['active', 'closed']),
    booked: Type.Integer({ description: 'The balance of the ledger; negative is a debt.' }),
    overdraftLimit: integer,
  },
  { title: 'Wallet' },
);

export const BalanceAt = fields(
  {
    wallet: Type.String(),
    at: instant(),
    seq: Type.Integer({ description: 'The last entry at or before the instant; 0: none yet.' }),
    booked: integer,
    spendable: Type.Optional(Type.Integer({ description: 'Under the overdraft limit of today.' })),
    atRisk: Type.Optional(
      Type.Integer({ description: 'Only with `parts`: given back then for jobs that might still succeed.' }),
    ),
  },
  { title: 'BalanceAt' },
);

export const Entry = fields(
  {
    wallet: Type.String(),
    seq: integer,
    type: oneOf(ENTRY_TYPES),
    amount: integer,
    balance: Type.Integer({ description: 'The running balance right after this entry.' }),
    job: maybeText,
    key: maybeText,
    reason: maybeText,
    actor: maybeText,
    note: maybeText,
    jobState: maybeText,
    jobReason: maybeText,
    createdAt: instant(),
  },
  { title: 'Entry' },
);

export const Job = fields(
  {
    wallet: Type.String(),
    id: Type.String(),
    queue: maybeText,
    state: oneOf(JOB_STATES),
    price: integer,
    finalPrice: maybeInteger,
    priority: integer,
    refundOn: oneOf(['failure', 'final']),
    attempt: integer,
    failures: integer,
    maxFailures: integer,
    releases: integer,
    verdict: orNull(oneOf(['definitive', 'presumed'])),
    reason: maybeText,
    worker: maybeText,
    upstream: orNull(Type.String({ description: 'The upstream of the latest attempt, where it was leased with one.' })),
    upstreamRef: maybeText,
    labels: orNull(Type.Record(Type.String(), Type.String())),
    traceparent: orNull(Type.String({ description: 'The trace it was submitted in (W3C).' })),
    succeededAttempt: maybeInteger,
    submittedAt: instant(),
    startedAt: maybeInstant,
    notBefore: maybeInstant,
    leaseUntil: maybeInstant,
    deadlineAt: maybeInstant,
    deadAt: maybeInstant,
    refundedAt: maybeInstant,
    succeededAt: maybeInstant,
    reclaimedAt: maybeInstant,
    settledAt: maybeInstant,
    canceledAt: maybeInstant,
  },
  { title: 'Job' },
);

export const Attempt = fields(
  {
    attempt: integer,
    endedAs: oneOf(['failed', 'lapsed', 'confirmed', 'rejected', 'released', 'superseded', 'canceled', 'succeeded']),
    verdict: orNull(oneOf(['definitive', 'presumed'])),
    jobState: Type.String(),
    reason: maybeText,
    worker: maybeText,
    upstream: orNull(Type.String({ description: 'The upstream that it was leased with.' })),
    upstreamRef: maybeText,
    startedAt: maybeInstant,
    endedAt: instant(),
  },
  { title: 'Attempt' },
);

export const Epoch = fields(
  {
    number: integer,
    openedAt: instant(),
    reason: Type.String({ description: 'Why it was opened, for people.' }),
    actor: maybeText,
  },
  { title: 'Epoch' },
);

/** An item of a batch that was refused: the code, the message and its facts. */
export const Refused = Type.Object(
  { code: Type.String(), message: Type.String() },
  { title: 'Refused', description: 'Why this item was refused; the other items are not affected.' },
);

export const Key = fields(
  {
    id: Type.String(),
    prefix: Type.String({ description: 'What the secret starts with: look for it in leaks.' }),
    name: Type.String(),
    scopes: Type.Array(oneOf(SCOPES)),
    customer: maybeText,
    createdAt: instant(),
    revokedAt: maybeInstant,
    lastUsedAt: maybeInstant,
  },
  { title: 'ApiKey' },
);
