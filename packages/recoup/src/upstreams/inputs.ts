// What callers say of upstreams, checked: each input as its statement takes it.
import { InvalidInput } from '../errors.ts';
import * as check from '../input.ts';
import type { Used, UseKey } from '../windows/inputs.ts';
import type { ProviderAnswer } from './answer.ts';

/** An upstream as an operator describes it. What is not given stays as it is, or takes the default. */
export interface Register {
  upstream: string;
  pool: string;
  provider: string;
  /** What shares a quota at the provider: a project, an organization; null: nothing, also where there was a group. */
  quotaGroup?: string | null;
  /** The way there: a proxy, an egress address; `direct` unless set. */
  route?: string;
  /** Where the credential is kept: a name in your secret store, never the secret. */
  credentialRef?: string;
  /** 0 first … 9 last; 5 unless set. */
  priority?: number;
  /** Its share among those of one priority, 1 to 1,000; 1 unless set. */
  weight?: number;
  /** Uses at once; no limit unless set. null: no limit, also where there was one. */
  maxConcurrency?: number | null;
  /** Who says so, and why: for its history. */
  actor?: string;
  reason?: string;
}

export interface Change extends Partial<Omit<Register, 'upstream' | 'pool' | 'provider'>> {
  /** `draining`: no new uses, those under way go on. `retired`: for ever. */
  status?: UpstreamStatus;
}

export const STATUSES = ['on', 'off', 'draining', 'retired'] as const;
export type UpstreamStatus = (typeof STATUSES)[number];

export interface Select {
  pool: string;
  /** What it will be used for: blocks of another model or capability do not count. */
  model?: string;
  capability?: string;
  /** How long the slot is held unless it is extended; 60 s unless set. */
  leaseMs?: number;
  /** Who uses it, for people. */
  holder?: string;
  /** An id of yours makes a lost answer repeatable: the same id gives the same lease. */
  lease?: string;
  /** A key of yours, such as a conversation: the same key gets the same upstream while that one is usable, then another, and stays there. */
  sticky?: string;
  /** How long a key that is not used is remembered; an hour unless set. */
  stickyMs?: number;
}

export const SUBJECTS = ['upstream', 'quota_group', 'provider', 'route'] as const;
export const SOURCES = ['retry_after', 'reset_announced', 'backoff', 'operator'] as const;
export const POLICIES = ['auto', 'manual', 'snapshot', 'rolling'] as const;

/** Why something is out, as a decoder or a person says it. */
export interface BlockFacts {
  /** The class: `rate_limited`, `billing`, `operator` … */
  kind: string;
  /** What is out; `upstream` unless set. */
  subject?: (typeof SUBJECTS)[number];
  /** A model or a capability, where only that is out: `model:…`, `capability:…`. */
  scope?: string;
  source?: (typeof SOURCES)[number];
  policy?: (typeof POLICIES)[number];
  /** How long, as the provider says. */
  forMs?: number;
  /** Until when, as the provider says. */
  until?: Date;
  reason?: string;
  nextStep?: string;
}

export interface Report extends Pick<UseKey, 'key' | 'job'> {
  upstream: string;
  /** The lease it was used under: given back, and its instant is when the request started. */
  lease?: string;
  /** Without a lease: when the request started, or how long ago. */
  startedAt?: Date;
  elapsedMs?: number;
  /** What it was used for. */
  model?: string;
  capability?: string;
  /** What the provider answered: decoded, instead of `success` and `block`. */
  answer?: ProviderAnswer;
  /** The provider did what was asked. */
  success?: boolean;
  /** Of a failure: what is out. None: the request was to blame, not the upstream. */
  block?: BlockFacts;
  /** What was used, by unit: booked once per `key`, lease or `job`, whatever becomes of the report. One request unless it says how many. */
  use?: Used;
  actor?: string;
}

const MAX_TEXT = 2000;
const REGISTER = [
  'upstream',
  'pool',
  'provider',
  'quotaGroup',
  'route',
  'credentialRef',
  'priority',
  'weight',
  'maxConcurrency',
  'actor',
  'reason',
];
const CHANGE = [...REGISTER.slice(3), 'status'];

const settings = (input: Partial<Register>) => ({
  quota_group: check.optionalId('quotaGroup', input.quotaGroup),
  route: check.optionalId('route', input.route),
  credential_ref: check.text('credentialRef', input.credentialRef, 500),
  priority: check.optionalInteger('priority', input.priority, 0, 9),
  weight: check.optionalInteger('weight', input.weight, 1, 1000),
  max_concurrency: check.optionalInteger('maxConcurrency', input.maxConcurrency, 1, 1_000_000),
  no_group: input.quotaGroup === null || null,
  no_max: input.maxConcurrency === null || null,
  ...who(input),
});

const who = (input: { actor?: string | undefined; reason?: string | undefined }) => ({
  actor: check.text('actor', input.actor, 200),
  reason: check.text('reason', input.reason, MAX_TEXT, 'cut'),
});

export function registerInput(input: Register) {
  check.onlyFields('register', input, REGISTER);
  return {
    upstream_id: check.id('upstream', input.upstream),
    pool: check.id('pool', input.pool),
    provider: check.id('provider', input.provider),
    ...settings(input),
  };
}

export function changeInput(upstream: string, change: Change) {
  check.onlyFields('change', change, CHANGE);
  const status = (change.status ?? null) === null ? null : check.oneOf('status', change.status, STATUSES);
  return { upstream_id: check.id('upstream', upstream), status, ...settings(change) };
}

/** Another credential: where it is kept, unless it is kept where it was. */
export interface ReplaceCredential {
  credentialRef?: string;
  actor?: string;
  reason?: string;
}

export function replaceCredentialInput(upstream: string, input: ReplaceCredential) {
  check.onlyFields('replaceCredential', input, ['credentialRef', 'actor', 'reason']);
  const credential_ref = check.text('credentialRef', input.credentialRef, 500);
  return { upstream_id: check.id('upstream', upstream), credential_ref, ...who(input) };
}

export function selectInput(input: Select) {
  check.onlyFields('select', input, [
    'pool',
    'model',
    'capability',
    'leaseMs',
    'holder',
    'lease',
    'sticky',
    'stickyMs',
  ]);
  return {
    pool: check.id('pool', input.pool),
    model: check.optionalId('model', input.model),
    capability: check.optionalId('capability', input.capability),
    lease_id: check.optionalId('lease', input.lease),
    lease_ms: check.optionalInteger('leaseMs', input.leaseMs, 100, 86_400_000) ?? 60_000,
    holder: check.optionalId('holder', input.holder),
    sticky: check.optionalId('sticky', input.sticky),
    sticky_ms: check.optionalInteger('stickyMs', input.stickyMs, 1000, 604_800_000) ?? 3_600_000,
  };
}

/** A block as its statement takes it. */
export function blockInput(block: BlockFacts) {
  const fields = ['kind', 'subject', 'scope', 'source', 'policy', 'forMs', 'until', 'reason', 'nextStep'];
  check.onlyFields('block', block, fields);
  if (block.forMs !== undefined && block.until !== undefined)
    throw new InvalidInput('block.until', 'give forMs or until, not both');
  const policy = check.oneOf('block.policy', block.policy ?? 'rolling', POLICIES);
  const hinted = block.forMs !== undefined || block.until !== undefined;
  const source = check.oneOf(
    'block.source',
    block.source ?? (policy === 'manual' ? 'operator' : hinted ? 'reset_announced' : 'backoff'),
    SOURCES,
  );
  if (policy !== 'manual' && source !== 'backoff' && !hinted)
    throw new InvalidInput('block.forMs', `is required with source ${source}, or until`);
  if (source === 'retry_after' && block.forMs === undefined && policy !== 'manual')
    throw new InvalidInput('block.forMs', 'is how a retry_after says how long');
  return {
    kind: check.id('block.kind', block.kind),
    subject_type: check.oneOf('block.subject', block.subject ?? 'upstream', SUBJECTS),
    scope: check.scope('block.scope', block.scope),
    source,
    policy,
    hint_ms: check.duration('block.forMs', block.forMs, 1),
    announced_until: check.instant('block.until', block.until),
    reason: check.text('block.reason', block.reason, MAX_TEXT, 'cut'),
    next_step: check.text('block.nextStep', block.nextStep, MAX_TEXT, 'cut'),
  };
}

/** The scopes that a use had: everything, and its model and capability. */
export function scopesInput(input: Pick<Report, 'model' | 'capability'>): string[] {
  const model = check.optionalId('model', input.model);
  const capability = check.optionalId('capability', input.capability);
  return [
    '',
    ...(model === null ? [] : [`model:${model}`]),
    ...(capability === null ? [] : [`capability:${capability}`]),
  ];
}

const REPORT = [
  'upstream',
  'lease',
  'startedAt',
  'elapsedMs',
  'model',
  'capability',
  'answer',
  'success',
  'block',
  'actor',
  ...['use', 'key', 'job'],
];

/** What a report may have: one in the caller's words, or one with an answer. */
export const checkReport = (input: Report): void => check.onlyFields('report', input, REPORT);

/** A report in the caller's words. */
export function reportInput(input: Omit<Report, 'answer'>) {
  if (typeof input.success !== 'boolean')
    throw new InvalidInput('success', 'must be true or false; or give answer, what the provider answered');
  const { success } = input;
  if (success && input.block !== undefined) throw new InvalidInput('block', 'belongs to a failure');
  const row = {
    upstream_id: check.id('upstream', input.upstream),
    lease_id: check.optionalId('lease', input.lease),
    started_at: check.instant('startedAt', input.startedAt),
    elapsed_ms: check.duration('elapsedMs', input.elapsedMs),
    success,
    scopes: scopesInput(input),
    ...(input.block === undefined ? NO_BLOCK : blockInput(input.block)),
    actor: check.text('actor', input.actor, 200),
  };
  return { row, block: input.block };
}

export type ReportInput = ReturnType<typeof reportInput>['row'];

const NO_BLOCK: Partial<ReturnType<typeof blockInput>> = {};
