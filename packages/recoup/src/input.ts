// Checks of what callers give: each names the field and what is allowed, before anything reaches the database.
import { InvalidInput } from './errors.ts';
import { readable, readEach } from './readable.ts';

/** The largest amount, and the largest balance either way: 2^53 − 1. */
export const MAX_AMOUNT = Number.MAX_SAFE_INTEGER;
export const MAX_ID = 200;
/** A year: the longest duration any field takes. */
export const MAX_DURATION_MS = 31_536_000_000;

const ID_RULE = `1 to ${MAX_ID} printable characters, not "." or ".."`;
// Control, format, surrogate and private characters, and separators other than the plain space.
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/u;
// Joiners inside emoji are format characters, yet printable where they stand.
const EMOJI_PARTS = /\u200c|\u200d|\ufe0f|[\u{e0020}-\u{e007f}]/gu;

/** What is wrong with a value, for messages: its kind and, if short, the value itself. */
function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (typeof value === 'string')
    return value.length <= 40 ? JSON.stringify(value) : `a string of ${value.length} characters`;
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`;
}

/** Ids that need no second look: printable ASCII of allowed length. */
const PLAIN = /^[\x20-\x7e]{1,200}$/;

/** An id: 1–200 code points, printable, nothing trimmed or folded, not `.` or `..` (URL parsers eat them). */
export function id(field: string, value: unknown): string {
  if (typeof value === 'string' && PLAIN.test(value) && value !== '.' && value !== '..') return value;
  if (typeof value !== 'string') throw new InvalidInput(field, `must be a string of ${ID_RULE}; got ${shown(value)}`);
  if (!value.isWellFormed()) throw new InvalidInput(field, `must be well-formed Unicode: it has a lone surrogate`);
  const length = [...value].length;
  if (length < 1 || length > MAX_ID) throw new InvalidInput(field, `must be ${ID_RULE}; got ${length} characters`);
  if (value === '.' || value === '..') throw new InvalidInput(field, `must be ${ID_RULE}; got ${shown(value)}`);
  if (UNPRINTABLE.test(value.replaceAll(EMOJI_PARTS, ''))) {
    throw new InvalidInput(field, `must be ${ID_RULE}; it has a character that is not printable`);
  }
  return value;
}

/** What is wrong with an id, in words; null where nothing is. For who checks before he sends. */
export function idProblem(value: unknown): string | null {
  try {
    id('id', value);
    return null;
  } catch (error) {
    return (error as InvalidInput).details.rule as string;
  }
}

export function optionalId(field: string, value: unknown): string | null {
  return value === undefined || value === null ? null : id(field, value);
}

/** What a block or a limit is about: empty is everything. */
export function scope(field: string, value: unknown): string {
  const given = optionalId(field, value === '' ? null : value) ?? '';
  if (given !== '' && !/^(model|capability):./.test(given))
    throw new InvalidInput(field, 'must be model:… or capability:…, or absent');
  return given;
}

/** An integer in a range. Not a string of digits, not a fraction, not a number that lost precision. */
export function integer(field: string, value: unknown, min: number, max: number): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < min || value > max) {
    throw new InvalidInput(field, `must be an integer from ${min} to ${max}; got ${shown(value)}`);
  }
  return value === 0 ? 0 : value;
}

export function optionalInteger(field: string, value: unknown, min: number, max: number): number | null {
  return value === undefined || value === null ? null : integer(field, value, min, max);
}

/** Credits: an integer of the smallest unit, 0 (or `min`) to 2^53 − 1. */
export function amount(field: string, value: unknown, min = 0): number {
  return integer(field, value, min, MAX_AMOUNT);
}

export function duration(field: string, value: unknown, min = 0): number | null {
  return optionalInteger(field, value, min, MAX_DURATION_MS);
}

/** One of a closed set. */
export function oneOf<T extends string>(field: string, value: unknown, allowed: readonly T[]): T {
  if (typeof value !== 'string' || !(allowed as readonly string[]).includes(value)) {
    throw new InvalidInput(field, `must be one of ${allowed.join(', ')}; got ${shown(value)}`);
  }
  return value as T;
}

export function flag(field: string, value: unknown, otherwise: boolean): boolean {
  if (value === undefined || value === null) return otherwise;
  if (typeof value !== 'boolean') throw new InvalidInput(field, `must be true or false; got ${shown(value)}`);
  return value;
}

/** Free text: what PostgreSQL cannot store is refused; what is too long is refused, or cut where it is only a report. */
export function text(field: string, value: unknown, max: number, tooLong: 'refuse' | 'cut' = 'refuse'): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string') throw new InvalidInput(field, `must be a string; got ${shown(value)}`);
  if (tooLong === 'cut') {
    const clean = value.toWellFormed().replaceAll('\u0000', '\ufffd');
    return clean.length > max ? `${clean.slice(0, max - 1).toWellFormed()}…` : clean;
  }
  if (!value.isWellFormed() || value.includes('\u0000')) {
    throw new InvalidInput(field, 'must be well-formed Unicode without U+0000');
  }
  if (value.length > max) throw new InvalidInput(field, `must be at most ${max} characters; got ${value.length}`);
  return value;
}

/** A Date that is one. Goes to the database as text. */
export function instant(field: string, value: unknown): string | null {
  if (value === undefined || value === null) return null;
  const year = value instanceof Date ? value.getUTCFullYear() : Number.NaN;
  if (!(year >= 1970 && year <= 9999)) throw new InvalidInput(field, 'must be a valid Date from 1970 to 9999');
  return (value as Date).toISOString();
}

/** String labels, at most 32, keys and values at most 200 characters. */
export function labels(field: string, value: unknown): Record<string, string> | null {
  if (value === undefined || value === null) return null;
  const prototype: unknown = typeof value === 'object' ? Object.getPrototypeOf(value) : undefined;
  if (prototype !== Object.prototype && prototype !== null) {
    throw new InvalidInput(field, `must be a plain object of strings; got ${shown(value)}`);
  }
  const entries = Object.entries(value);
  if (entries.length > 32) throw new InvalidInput(field, `must have at most 32 labels; got ${entries.length}`);
  for (const [key, label] of entries) {
    id(`${field} key`, key);
    if (text(`${field}.${key}`, label, MAX_ID) === null) throw new InvalidInput(`${field}.${key}`, 'must be a string');
  }
  return value as Record<string, string>;
}

/** JSON as it is kept, and about how many bytes it has. */
export interface Content {
  value: unknown;
  bytes: number;
}

/**
 * JSON that PostgreSQL stores as it is: no U+0000, no lone surrogates, no integers beyond ±(2^53 − 1) (they change when
 * read back), nothing that JSON does not have, at most `max` bytes as the database writes it. Absent is null.
 */
export function json(field: string, value: unknown, max: number): Content {
  if (value === undefined || value === null) return { value: null, bytes: 0 };
  const size = { field, max, left: max };
  try {
    if (!fits(value, 0, size)) {
      // Something is wrong, or needs a closer look: the walk that names the place.
      size.left = max;
      checkJson(field, value, 0, size);
    }
    const counted = max - size.left;
    // Each character counted is at least one byte, and at most six once escaped: only in between is it measured.
    if (counted * 6 <= max) return { value, bytes: counted };
    const bytes = Math.max(Buffer.byteLength(JSON.stringify(value)), counted);
    if (bytes > max) tooLarge(size);
    return { value, bytes };
  } catch (error) {
    if (error instanceof InvalidInput) throw error;
    throw new InvalidInput(field, 'must be JSON: its toJSON throws');
  }
}

const MAX_DEPTH = 100;

/** Counts down the characters of a value's JSON: this also ends the walk of a value that refers to itself. */
interface Size {
  field: string;
  max: number;
  left: number;
}

/** The same walk for what is plainly right: builds no paths, and counts every integer as a long one. */
function fits(value: unknown, depth: number, size: Size): boolean {
  if (depth > MAX_DEPTH) return false;
  if (typeof value === 'string') {
    size.left -= value.length + 2;
    return size.left >= 0 && value.isWellFormed() && !value.includes('\u0000');
  }
  if (typeof value === 'number') {
    size.left -= Number.isSafeInteger(value) ? 17 : digits(value);
    return size.left >= 0 && Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
  }
  size.left -= 1;
  if (value === null || typeof value === 'boolean') return size.left >= 0;
  if (typeof value !== 'object' || size.left < 0) return false;
  if (Array.isArray(value)) return value.every((inner) => fits(inner ?? null, depth + 1, size));
  const prototype: unknown = Object.getPrototypeOf(value);
  if ((prototype !== Object.prototype && prototype !== null) || 'toJSON' in value) return false;
  for (const [key, inner] of Object.entries(value)) {
    if (inner !== undefined && !(fits(key, depth, size) && fits(inner, depth + 1, size))) return false;
  }
  return true;
}

function tooLarge(size: Size): never {
  throw new InvalidInput(size.field, `must be at most ${size.max} bytes of JSON`);
}

function checkJson(path: string, value: unknown, depth: number, size: Size): void {
  if (depth > MAX_DEPTH) {
    throw new InvalidInput(size.field, `must not be nested deeper than ${MAX_DEPTH}, or refer to itself`);
  }
  size.left -= typeof value === 'string' ? value.length + 2 : typeof value === 'number' ? digits(value) : 1;
  if (size.left < 0) tooLarge(size);
  if (typeof value === 'string') {
    if (!value.isWellFormed() || value.includes('\u0000')) {
      throw new InvalidInput(path, 'must be well-formed Unicode without U+0000');
    }
  } else if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new InvalidInput(path, `must be a finite number; got ${value}`);
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
      throw new InvalidInput(path, `must be within ±${MAX_AMOUNT}, or a string: larger integers change when read back`);
    }
  } else if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) checkJson(`${path}[${i}]`, value[i] ?? null, depth + 1, size);
  } else if (typeof value === 'object' && value !== null) checkObject(path, value, depth, size);
  else if (value !== null && typeof value !== 'boolean') {
    throw new InvalidInput(path, `must be JSON; got ${value === undefined ? 'nothing' : `a ${typeof value}`}`);
  }
}

/** How long PostgreSQL writes a number: jsonb keeps it as a decimal, without an exponent. */
function digits(value: number): number {
  const text = String(value);
  const exponent = /e([+-]\d+)$/.exec(text)?.[1];
  return text.length + (exponent === undefined ? 0 : Math.abs(Number(exponent)));
}

function checkObject(path: string, value: object, depth: number, size: Size): void {
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === 'function') {
    checkJson(path, toJSON.call(value, ''), depth + 1, size);
    return;
  }
  const kind = Object.prototype.toString.call(value).slice(8, -1);
  if (kind !== 'Object') throw new InvalidInput(path, `must be JSON; got a ${kind}, which JSON does not have`);
  for (const [key, inner] of Object.entries(value)) {
    if (inner === undefined) continue;
    checkJson(`${path} key`, key, depth, size);
    checkJson(`${path}.${key}`, inner, depth + 1, size);
  }
}

/** W3C's form: version, trace id, parent id, flags. Version ff and ids of zeros alone are not valid. */
export const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** A traceparent; undefined where there is none, which JSON leaves out. */
export function traceparent(field: string, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string' && TRACEPARENT.test(value)) return value;
  throw new InvalidInput(field, 'must be a W3C traceparent: 00-<32 hex digits>-<16 hex digits>-<2 hex digits>');
}

/** An array. */
export function list<T>(what: string, value: readonly T[]): readonly T[] {
  if (!Array.isArray(value)) throw new InvalidInput(what, `must be given an array; got ${shown(value)}`);
  return value;
}

/** The rows of a batch form (`submitMany`): what is wrong with an item names it, as in `submitMany[3].price`. */
export function items<T, R>(what: string, values: readonly T[], read: (value: T) => R): R[] {
  return list(what, values).map((value, index) => {
    try {
      return read(value);
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error;
      const { field, rule } = error.details as { field: string; rule: string };
      // The single form names itself where the item as a whole is wrong.
      const inside = `${field}Many` === what ? '' : `.${field}`;
      throw new InvalidInput(`${what}[${index}]${inside}`, rule);
    }
  });
}

/** Refuses fields that are not known: a misspelt option must not be silently ignored. And those that cannot be read, or are inherited: what counts is the object's own. */
export function onlyFields(what: string, value: unknown, known: readonly string[]): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidInput(what, `must be an object with the fields ${known.join(', ')}; got ${shown(value)}`);
  }
  for (const key of readable(what, () => Object.keys(value))) {
    if (!known.includes(key)) throw new InvalidInput(key, `is not a field of ${what}; known: ${known.join(', ')}`);
  }
  readEach(known, (key) => {
    if (key in value && !Object.hasOwn(value, key))
      throw new InvalidInput(key, `must be a field of the object itself: that of ${what} is inherited`);
    void (value as Record<string, unknown>)[key];
  });
}
