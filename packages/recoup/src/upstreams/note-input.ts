// What callers say of a provider's windows, checked: read-outs that come from elsewhere than an answer.
import type { Scope, Snapshot, WindowKind } from '../decoders/facts/facts.ts';
import { InvalidInput } from '../errors.ts';
import * as check from '../input.ts';
import type { Decoded, ProviderAnswer } from './answer.ts';
import { windowRow } from './answer.ts';
import type { BlockFacts } from './inputs.ts';

/** One window of a provider's own quota. A `Snapshot` of the decoders is one. */
export interface WindowFacts {
  /** As the provider calls it. */
  name: string;
  /** Used part as a fraction: 1 is all of it, and it may be more. */
  used?: number | null;
  resetsAt?: Date | null;
  /** Used up; where not given, whether `used` is 1 or more. */
  exhausted?: boolean;
  kind?: WindowKind;
  lengthMs?: number | null;
  /** Everything, unless it is a model's or a capability's: `model:…`, `capability:…`, or as the decoders say it. */
  scope?: string | Scope;
  /** Of the decoders; when the read-out was made is said of all windows at once. */
  observedAt?: Date;
  scale?: Snapshot['scale'];
}

/** A read-out: windows, or the answer of the provider that has them. */
export interface Note {
  upstream: string;
  snapshots?: readonly WindowFacts[];
  answer?: ProviderAnswer;
  /** Whose quota it is; `upstream` unless set. */
  subject?: Extract<BlockFacts['subject'], 'upstream' | 'quota_group'>;
  /** When the request for it started, or how long ago: it speaks only against what was evidenced before. Unless set, when it was observed. */
  startedAt?: Date;
  elapsedMs?: number;
  /** When it was observed, by this machine's clock; now unless set. */
  observedAt?: Date;
  model?: string;
  capability?: string;
  actor?: string;
}

const FIELDS = [
  'upstream',
  'snapshots',
  'answer',
  'subject',
  'startedAt',
  'elapsedMs',
  'observedAt',
  'model',
  'capability',
  'actor',
];
const WINDOW = ['name', 'used', 'resetsAt', 'exhausted', 'kind', 'lengthMs', 'scope', 'observedAt', 'scale'];
const KINDS = ['short', 'daily', 'weekly', 'monthly', 'other', 'unknown'] as const;
const MAX_WINDOWS = 100;

export function noteInput(input: Note) {
  check.onlyFields('note', input, FIELDS);
  if ((input.snapshots === undefined) === (input.answer === undefined))
    throw new InvalidInput('snapshots', 'give snapshots or answer, one of them');
  if (input.answer !== undefined && input.observedAt !== undefined)
    throw new InvalidInput('observedAt', 'belongs to snapshots; of an answer it is its receivedAt');
  if (input.subject !== undefined) check.oneOf('subject', input.subject, ['upstream', 'quota_group']);
  check.optionalId('model', input.model);
  check.optionalId('capability', input.capability);
  return {
    upstream_id: check.id('upstream', input.upstream),
    started_at: check.instant('startedAt', input.startedAt),
    elapsed_ms: check.duration('elapsedMs', input.elapsedMs),
    actor: check.text('actor', input.actor, 200),
  };
}

/** The windows of a read-out, as an answer's. `now`: this machine's clock. */
export function windowRows(
  input: Note,
  now: number,
): Pick<Decoded, 'windows' | 'ageMs' | 'speaks'> & { facts?: undefined } {
  const windows = check.items('snapshots', input.snapshots!, (one) => {
    check.onlyFields('snapshot', one, WINDOW);
    return one;
  });
  if (windows.length > MAX_WINDOWS) throw new InvalidInput('snapshots', `must be at most ${MAX_WINDOWS}`);
  check.instant('observedAt', input.observedAt);
  const observedAt = input.observedAt ?? windows[0]?.observedAt ?? new Date(now);
  const asked = { model: input.model ?? null, capability: input.capability ?? null };
  return {
    windows: check.items('snapshots', windows, (one) => windowRow(snapshotOf(one, observedAt), asked)),
    ageMs: Math.min(Math.max(now - observedAt.getTime(), 0), check.MAX_DURATION_MS),
    speaks: true,
  };
}

function snapshotOf(given: WindowFacts, observedAt: Date): Snapshot {
  const used = given.used ?? null;
  if (used !== null && !(typeof used === 'number' && used >= 0 && used <= 1000))
    throw new InvalidInput('used', 'must be a fraction from 0 to 1000; 1 is all of it');
  check.instant('resetsAt', given.resetsAt);
  check.instant('observedAt', given.observedAt);
  return {
    name: check.id('name', given.name),
    kind: check.oneOf('kind', given.kind ?? 'unknown', KINDS),
    lengthMs: check.duration('lengthMs', given.lengthMs, 1),
    used,
    scale: given.scale ?? null,
    resetsAt: given.resetsAt ?? null,
    observedAt,
    exhausted: check.flag('exhausted', given.exhausted, used !== null && used >= 1),
    scope: scopeFacts(given.scope),
  };
}

function scopeFacts(given: WindowFacts['scope']): Scope {
  if (typeof given === 'object' && given !== null) {
    check.onlyFields('scope', given, ['kind', 'name']);
    const kind = check.oneOf('scope.kind', given.kind, ['all', 'model', 'capability']);
    return { kind, name: check.optionalId('scope.name', given.name) };
  }
  const text = check.scope('scope', given);
  const [kind, ...rest] = text.split(':');
  return text === '' ? { kind: 'all', name: null } : { kind: kind as 'model', name: rest.join(':') };
}
