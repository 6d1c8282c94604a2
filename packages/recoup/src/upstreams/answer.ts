// An answer of a provider as reports and observations: decoded, each hint a block of its own, times as distances from now.
import { decode } from '../decoders/decode.ts';
import type { Policy } from '../decoders/facts/classes.ts';
import type { Dropped, Facts, HeadersLike, Scope, Snapshot } from '../decoders/facts/facts.ts';
import type { Rules } from '../decoders/rules.ts';
import { InvalidInput } from '../errors.ts';
import * as check from '../input.ts';
import type { BlockFacts } from './inputs.ts';
import type { WindowRow } from './snapshot.ts';

/** An answer as it came: what a decoder looks at. One of status, body and error is needed. */
export interface ProviderAnswer {
  /** The HTTP status; null or absent where none came. */
  status?: number | null;
  headers?: HeadersLike | null;
  /** Text, bytes, or parsed JSON; of a stream the event with the error. */
  body?: unknown;
  /** The code of the network failure where no answer came, such as `ETIMEDOUT`. */
  error?: string | null;
  /** When it began to arrive, by this machine's clock; now unless set. */
  receivedAt?: Date;
}

/** What an answer comes to. */
export interface Decoded {
  facts: Facts;
  success: boolean;
  /** One for each time that is named; one without a time where none is; none where nothing is blocked. */
  blocks: BlockFacts[];
  windows: WindowRow[];
  /** How long ago it came. */
  ageMs: number;
  /** Whether its windows may speak against a block: not where the answer itself says that a quota is used up, or that a person is needed. */
  speaks: boolean;
}

const FIELDS = ['status', 'headers', 'body', 'error', 'receivedAt'];
/** The longest that a distance may be, as the database takes it. */
const MAX_MS = check.MAX_DURATION_MS;
/** More windows than any provider tells of. */
const MAX_WINDOWS = 100;

/** Refuses what no answer can be; what a provider sent is never refused. */
export function checkAnswer(value: unknown): ProviderAnswer {
  check.onlyFields('answer', value, FIELDS);
  const answer = value as ProviderAnswer;
  check.instant('answer.receivedAt', answer.receivedAt);
  check.optionalInteger('answer.status', answer.status, 100, 599);
  if ((answer.status ?? answer.body ?? answer.error ?? null) === null)
    throw new InvalidInput('answer.status', 'is required where there is neither body nor error');
  return answer;
}

/**
 * Times become distances from now, so that this machine's clock (`now`) need not agree with the database's: only how long the answer has been
 * here counts. The provider's clock is set right by its Date header before (see decode).
 */
export function decoded(
  answer: ProviderAnswer,
  { provider, model, capability, rules, now }: Asked & { provider: string; rules: Rules | undefined; now: number },
): Decoded {
  const receivedAt = answer.receivedAt ?? new Date(now);
  const ageMs = Math.min(Math.max(now - receivedAt.getTime(), 0), MAX_MS);
  const { status = null, headers, body, error } = answer;
  const facts = decode(
    { provider, status, headers: headers ?? null, body, error: error ?? null, model, receivedAt },
    rules === undefined ? {} : { rules },
  );
  const asked = { model, capability };
  const left = (at: Date) => Math.min(Math.max(at.getTime() - receivedAt.getTime() - ageMs, 1), MAX_MS);
  return {
    facts,
    success: facts.class === null,
    blocks: blocksOf(facts, asked, left),
    windows: facts.snapshots.slice(0, MAX_WINDOWS).map((snapshot) => windowRow(snapshot, asked)),
    ageMs,
    speaks: facts.policy !== 'snapshot' && facts.policy !== 'manual',
  };
}

/** What the request was for. */
export interface Asked {
  model: string | null;
  capability: string | null;
}

function blocksOf(facts: Facts, asked: Asked, left: (at: Date) => number): BlockFacts[] {
  const { subject, hints, nextStep, reason, policy } = facts;
  if (facts.class === null || subject === 'none' || policy === null) return [];
  const said = wordsOf(reason);
  const block = {
    kind: facts.class,
    subject,
    // A quota of our own is nothing that a provider says.
    policy: policy as Exclude<Policy, 'quota'>,
    scope: scopeOf(facts.scope.kind, [nameAsked(facts.scope, asked), facts.scope.name], ''),
    ...(said === null ? {} : { reason: said }),
    ...(nextStep === null ? {} : { nextStep }),
  };
  if (hints.length === 0) return [block];
  return hints.map(({ source, until }) => ({ ...block, source, forMs: left(until) }));
}

/** The provider's code and words. */
export const wordsOf = (reason: Facts['reason']): string | null =>
  [reason?.code, reason?.message].filter((one) => one).join(': ') || null;

/** The model or capability that was asked for, in the caller's words: those that he will select by. */
const nameAsked = ({ kind }: Scope, asked: Asked) => (kind === 'all' ? null : asked[kind]);

/** The first name that is one, as a scope: not those of more than 200 characters, or not printable. */
function scopeOf(kind: Scope['kind'], names: readonly (string | null)[], otherwise: string): string {
  if (kind === 'all') return '';
  const scopes = names.flatMap((name) => (name ? [`${kind}:${name}`] : []));
  return scopes.find((scope) => check.idProblem(scope) === null) ?? otherwise;
}

/** Of several windows each is about its own model. That of some model which nobody names is kept as `model:*`: it says nothing about everything. */
export function windowRow(snapshot: Snapshot, asked: Asked): WindowRow {
  const { name, kind, lengthMs, used, resetsAt, observedAt, exhausted, scope } = snapshot;
  return {
    name: check.text('name', name, 200, 'cut') || kind,
    scope: scopeOf(scope.kind, [scope.name, nameAsked(scope, asked)], `${scope.kind}:*`),
    kind,
    length_ms: lengthMs === null ? null : Math.max(1, Math.round(lengthMs)),
    used,
    reset_ms: resetsAt === null ? null : resetsAt.getTime() - observedAt.getTime(),
    exhausted,
  };
}

/** The values that were left out, as the callers and the metrics are told of them. */
export interface DroppedHint extends Dropped {
  upstream: string;
  provider: string;
}
