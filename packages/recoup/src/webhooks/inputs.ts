// What callers give of endpoints, checked: addresses, kinds, secrets.
import { randomBytes } from 'node:crypto';
import { InvalidInput } from '../errors.ts';
import * as check from '../input.ts';
import { EVENT_KINDS, type EventKind } from './kinds.ts';

/** An https or http address without user, password and fragment. Where it leads is the sender's to look at, each time. */
export function url(field: string, value: unknown): string {
  const text = check.text(field, value, 2000);
  const rule = 'must be an http or https URL of at most 2,000 characters, without user, password and fragment';
  if (text === null || !URL.canParse(text)) throw new InvalidInput(field, rule);
  const { protocol, username, password, hash, href } = new URL(text);
  if (!/^https?:$/.test(protocol) || username || password || hash || href.length > 2000)
    throw new InvalidInput(field, rule);
  return href;
}

export function kinds(field: string, value: unknown): EventKind[] {
  if (!Array.isArray(value) || value.length === 0) {
    throw new InvalidInput(field, `must be a list of at least one of ${EVENT_KINDS.join(', ')}`);
  }
  return [...new Set(value.map((kind) => check.oneOf(field, kind, EVENT_KINDS)))];
}

const SECRET = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;

/** The bytes of a secret, base64; new ones where none is given. It repeats nothing of what it refuses. */
export function secret(field: string, value: unknown): string {
  if (value === undefined || value === null) return randomBytes(32).toString('base64');
  const bytes = typeof value === 'string' ? (SECRET.exec(value)?.[1] ?? '') : '';
  const { length } = Buffer.from(bytes, 'base64');
  if (length < 24 || length > 64)
    throw new InvalidInput(field, 'must be whsec_ and the base64 of 24 to 64 bytes, or absent');
  return bytes;
}

/** As its receiver configures it. */
export const asSecret = (bytes: string): string => `whsec_${bytes}`;
