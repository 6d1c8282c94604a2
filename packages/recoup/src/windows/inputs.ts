// What callers say of limits and of what was used, checked: each input as its statement takes it.
import { InvalidInput } from '../errors.ts';
import * as check from '../input.ts';
import { readable } from '../readable.ts';

export const KINDS = ['daily', 'weekly', 'monthly', 'first_use', 'rolling'] as const;
export type LimitKind = (typeof KINDS)[number];

/** Whose limit it is: one of these. */
export interface LimitSubject {
  upstream?: string;
  quotaGroup?: string;
  provider?: string;
  route?: string;
}

/** How much of a unit a subject may use in a window. */
export interface SetLimit extends LimitSubject {
  /** Its id, of yours. */
  limit: string;
  /** Only what is used for a model or a capability: `model:…`, `capability:…`. */
  scope?: string;
  /** What is counted: `requests` are by themselves, anything else as reports say. */
  unit: string;
  /** What may be used in a window, from 1 up. */
  amount: number;
  /** `daily`, `weekly`, `monthly`: by the calendar. `first_use`: a length that begins with the first use. `rolling`: the last so many ms. */
  kind: LimitKind;
  /** Of the calendar: an IANA zone (`Europe/Berlin`, `UTC`), the hour at which a window begins (0 to 23; 0 unless set). */
  zone?: string;
  startHour?: number;
  /** Of `weekly`: 0 (Sunday) to 6. */
  weekday?: number;
  /** Of `monthly`: 1 to 31; where a month has no such day, its last. */
  day?: number;
  /** Of `first_use` (from a minute) and `rolling` (from a second), up to a year. */
  lengthMs?: number;
}

/** What was used, by unit: integers from 0 to 10^12. */
export type Used = Readonly<Record<string, number>>;

/** What makes a use count once: one of these. */
export interface UseKey {
  /** A key of yours. */
  key?: string;
  /** The lease it was used under. */
  lease?: string;
  /** The attempt of a job that used it. */
  job?: { wallet: string; job: string; attempt: number };
}

const SUBJECTS = [
  ['upstream', 'upstream'],
  ['quotaGroup', 'quota_group'],
  ['provider', 'provider'],
  ['route', 'route'],
] as const;
const NAMES = SUBJECTS.map(([field]) => field);
const CALENDAR = ['daily', 'weekly', 'monthly'];
const MAX_USED = 1_000_000_000_000;
const MAX_UNITS = 20;
const MIN_LENGTH_MS = { first_use: 60_000, rolling: 1000 } as const;

/** The one subject that is named; null: none, where that is allowed. */
export function subjectOf(input: LimitSubject, required: boolean): { type: string; id: string } | null {
  const named = SUBJECTS.filter(([field]) => (input[field] ?? null) !== null);
  if (named.length > 1 || (required && named.length === 0))
    throw new InvalidInput(named[1]?.[0] ?? 'upstream', `give one of ${NAMES.join(', ')}`);
  const [first] = named;
  return first === undefined ? null : { type: first[1], id: check.id(first[0], input[first[0]]) };
}

/**
 * A zone by the name of a place, or UTC: offsets and abbreviations know no summer, and not every machine reads them alike. `Etc/GMT+5` is an
 * offset too, and five hours behind UTC, not ahead: whoever writes it mostly means the other.
 */
export function zone(value: unknown): string {
  const name = check.id('zone', value);
  const rule = `must be an IANA time zone such as Europe/Berlin, or UTC; got ${JSON.stringify(name)}`;
  if (/^Etc\/(?!UTC$)/i.test(name))
    throw new InvalidInput('zone', `${rule}: Etc/… names no place, and its signs are the other way round`);
  if (!/^(UTC|[A-Za-z]+\/[A-Za-z0-9_+/-]+)$/.test(name)) throw new InvalidInput('zone', rule);
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
  } catch {
    throw new InvalidInput('zone', rule);
  }
  return name;
}

/** A field that belongs to some kinds: required there, or with a default, and refused elsewhere. */
function ofKinds<T>(field: string, value: unknown, kind: string, kinds: readonly string[], read: () => T): T | null {
  const given = (value ?? null) !== null;
  if (kinds.includes(kind)) return read();
  if (given) throw new InvalidInput(field, `belongs to ${kinds.join(', ')}, not to ${kind}`);
  return null;
}

export function setInput(input: SetLimit) {
  check.onlyFields('set', input, [
    'limit',
    ...NAMES,
    ...['scope', 'unit', 'amount', 'kind', 'zone', 'startHour', 'weekday', 'day', 'lengthMs'],
  ]);
  const subject = subjectOf(input, true)!;
  const kind = check.oneOf('kind', input.kind, KINDS);
  const min = MIN_LENGTH_MS[kind as 'rolling'] ?? 0;
  return {
    limit_id: check.id('limit', input.limit),
    subject_type: subject.type,
    subject_id: subject.id,
    scope: check.scope('scope', input.scope),
    unit: check.id('unit', input.unit),
    kind,
    amount: check.amount('amount', input.amount, 1),
    zone: ofKinds('zone', input.zone, kind, CALENDAR, () => zone(input.zone)),
    start_hour: ofKinds('startHour', input.startHour, kind, CALENDAR, () =>
      check.integer('startHour', input.startHour ?? 0, 0, 23),
    ),
    weekday: ofKinds('weekday', input.weekday, kind, ['weekly'], () => check.integer('weekday', input.weekday, 0, 6)),
    day: ofKinds('day', input.day, kind, ['monthly'], () => check.integer('day', input.day, 1, 31)),
    length_ms: ofKinds('lengthMs', input.lengthMs, kind, ['first_use', 'rolling'], () =>
      check.integer('lengthMs', input.lengthMs, min, check.MAX_DURATION_MS),
    ),
  };
}

function usedInput(used: unknown): Record<string, number> {
  if (typeof used !== 'object' || used === null || Array.isArray(used))
    throw new InvalidInput('use', 'must be an object of integers by unit, as { requests: 1, tokens: 1200 }');
  const units = readable('use', () => Object.entries(used));
  if (units.length > MAX_UNITS) throw new InvalidInput('use', `must have at most ${MAX_UNITS} units`);
  for (const [unit, amount] of units) {
    check.id('use key', unit);
    check.integer(`use.${unit}`, amount, 0, MAX_USED);
  }
  return Object.fromEntries(units);
}

function keyOf({ key, lease, job }: UseKey): string | null {
  if ((key ?? null) !== null) return `key:${check.id('key', key)}`;
  if ((lease ?? null) !== null) return `lease:${check.id('lease', lease)}`;
  if ((job ?? null) === null) return null;
  check.onlyFields('job', job, ['wallet', 'job', 'attempt']);
  const wallet = check.id('job.wallet', job!.wallet);
  const attempt = check.integer('job.attempt', job!.attempt, 0, 2_147_483_647);
  return `job:${JSON.stringify([wallet, check.id('job.job', job!.job), attempt])}`;
}

/**
 * What is to be booked: one request, unless `use` says how many, and what it says of other units; null: nothing, or nothing that could be told
 * from its repeat. Refuses a `use` without a key.
 */
export function useInput(use: Used | undefined, by: UseKey): { key: string; used: Record<string, number> } | null {
  const key = keyOf(by);
  const given = (use ?? null) === null ? {} : usedInput(use);
  if (key === null) {
    if ((use ?? null) === null) return null;
    throw new InvalidInput('use', 'needs a key, so that its repeat is not booked again: give key, lease or job');
  }
  const used = Object.fromEntries(Object.entries({ requests: 1, ...given }).filter(([, amount]) => amount > 0));
  return Object.keys(used).length === 0 ? null : { key, used };
}
