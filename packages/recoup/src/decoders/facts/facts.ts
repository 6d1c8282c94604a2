// What goes into a decoder and what comes out of it: the shapes of an answer and of its facts.
import type { Class, Policy, Subject } from './classes.ts';

/** Anything that holds headers: a Headers object, a Map, pairs, or an object with any casing and values or lists of them. */
export type HeadersLike =
  | { forEach(each: (value: string, name: string) => void): void }
  | Iterable<readonly [string, unknown]>
  | Readonly<Record<string, unknown>>;

/** One answer of a provider, as it came. */
export interface Answer {
  /** A name of `PROVIDERS` or one of its aliases; any other is read as `generic`, with the rules that name it. */
  provider: string;
  /** The HTTP status; null where none came. */
  status: number | null;
  headers?: HeadersLike | null;
  /** Text, bytes, or JSON that was parsed already; or one event of a stream. Text is read up to 256 KiB. */
  body?: unknown;
  /** The code of the network failure where no answer came, such as `ETIMEDOUT`. */
  error?: string | null;
  /** The model that was asked for: the name of the scope where only that model is meant. */
  model?: string | null;
  /** When the answer began to arrive, by the clock that `until` is compared with. */
  receivedAt: Date;
}

/** What a time rests on: an order of the provider, its estimate, or nothing (the caller backs off). */
export type Source = 'retry_after' | 'reset_announced' | 'backoff';

export interface Hint {
  source: Exclude<Source, 'backoff'>;
  until: Date;
}

/** How much of the subject is meant; `name` is null where the answer does not say which model or capability. */
export interface Scope {
  kind: 'all' | 'model' | 'capability';
  name: string | null;
}

/** By length: at most 6 h, 20–28 h, 6–8 d, at least 28 d; `other` between those, `unknown` without a length. */
export type WindowKind = 'short' | 'daily' | 'weekly' | 'monthly' | 'other' | 'unknown';

/** What a provider says of one of its quota windows. */
export interface Snapshot {
  /** As the provider calls it. */
  name: string;
  kind: WindowKind;
  lengthMs: number | null;
  /** Used part as a fraction: 1 is all of it, and it may be more. */
  used: number | null;
  /** What the source counts in. */
  scale: 'fraction' | 'percent' | 'count' | null;
  resetsAt: Date | null;
  observedAt: Date;
  exhausted: boolean;
  scope: Scope;
}

/** One thing in the answer that was implausible and is therefore not in the facts. */
export interface Dropped {
  field: string;
  /** Shortened, without secrets. */
  value: string;
  rule: DropRule;
}
export type DropRule =
  | 'implausible_hint'
  | 'implausible_reset'
  | 'implausible_used'
  | 'implausible_date'
  | 'implausible_status'
  | 'placeholder_window'
  | 'not_positive'
  | 'not_understood'
  | 'too_large'
  | 'unknown_provider';

/** What an answer says. A success has snapshots and nothing else. */
export interface Facts {
  /** Whose decoder read it. */
  provider: string;
  class: Class | null;
  policy: Policy | null;
  subject: Subject;
  scope: Scope;
  /** Null for `backoff`, where only a person ends it, and where nothing is blocked. */
  until: Date | null;
  source: Source | null;
  /** Every time that the answer names, the one in `until` first. Each may be a block of its own. */
  hints: Hint[];
  snapshots: Snapshot[];
  /** The provider's own code and words, cut, without secrets. */
  reason: { code: string | null; message: string | null } | null;
  /** What an operator does; null where nobody has to do anything. */
  nextStep: string | null;
  /** The name of the operator's rule that decided; null where a built-in one did. */
  rule: string | null;
  dropped: Dropped[];
}

export const ALL: Scope = Object.freeze({ kind: 'all', name: null });
