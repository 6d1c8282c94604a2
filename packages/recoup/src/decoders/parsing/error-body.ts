// What a body says is wrong: codes, message and status, from every place where providers put them.
import type { Body } from './body.ts';
import { plainNumber } from './durations.ts';
import type { HeaderReader } from './headers.ts';
import { at, isObject, listOf, textOf } from './json.ts';

export interface ErrorBody {
  /** Whether the body says by itself that something failed, whatever the status. */
  said: boolean;
  /** The most telling one first. */
  codes: readonly string[];
  message: string;
  /** The status inside, as in an event after 200. */
  status: number | null;
}

const CODE_PATHS = [
  ['details', 'error_code'],
  ['code'],
  ['type'],
  ['status'],
  ['reason'],
  ['errorCode'],
  ['__type'],
] as const;
/** Types that say that it is an error, not which. */
const SAYS_NOTHING = new Set(['error', 'response.failed', 'response.incomplete']);

/** The first value that says something is wrong; of none, the codes of the first, which an operator's rule may know. */
export function errorOf(body: Body, headers: HeaderReader): ErrorBody {
  const amazon = headers.get('x-amzn-errortype');
  const read = body.values.map(one);
  const found = read.find(({ said }) => said) ?? read[0] ?? { said: false, codes: [], message: '', status: null };
  return amazon ? { ...found, said: true, codes: [codeOf(amazon), ...found.codes] } : found;
}

function one(value: unknown): ErrorBody {
  if (typeof value === 'string') return { said: false, codes: [], message: textOf(value) ?? '', status: null };
  const error = [at(value, 'error'), at(value, 'response', 'error'), streamed(value)].find(
    (each) => isObject(each) || typeof each === 'string',
  );
  const detail = at(value, 'detail');
  const places = [error, detail, value].filter(isObject);
  const type = at(value, 'type');
  const said =
    (isObject(error) && Object.keys(error).length > 0) ||
    textOf(error) !== undefined ||
    type === 'error' ||
    type === 'response.failed' ||
    textOf(at(value, '__type')) !== undefined;
  const codes = places.flatMap(codesOf);
  // OAuth answers with a code in `error`; others put a sentence there.
  const bare = textOf(error);
  if (bare !== undefined && !bare.includes(' ')) codes.unshift(codeOf(bare));
  return { said, codes: [...new Set(codes)], message: messageOf(value, error, detail), status: statusOf(places) };
}

/** An event of an AWS stream: `{throttlingException: {message}}`. */
function streamed(value: unknown): unknown {
  if (!isObject(value)) return undefined;
  const name = Object.keys(value)
    .slice(0, 8)
    .find((key) => /^[a-z]{1,40}Exception$/i.test(key));
  const inner = name === undefined ? undefined : at(value, name);
  return isObject(inner) ? { ...inner, code: name } : undefined;
}

function codesOf(place: Record<string, unknown>): string[] {
  const own = CODE_PATHS.map((path) => textOf(at(place, ...path)));
  const details = listOf(at(place, 'details')).map((detail) => textOf(at(detail, 'reason')));
  return [...details, ...own]
    .filter((code) => code !== undefined)
    .map(codeOf)
    .filter((code) => !SAYS_NOTHING.has(code));
}

/** `com.amazon.coral#ThrottlingException:http://…` is ThrottlingException. Other codes have colons of their own. */
function codeOf(code: string): string {
  const local = code.slice(0, 200).replace(/^[\w.]{1,100}#/, '');
  return /^\w+Exception:/.test(local) ? local.slice(0, local.indexOf(':')) : local;
}

function messageOf(value: unknown, error: unknown, detail: unknown): string {
  const candidates = [
    at(error, 'message'),
    at(error, 'Message'),
    error,
    at(detail, 'message'),
    detail,
    at(value, 'error_description'),
    at(value, 'message'),
    at(value, 'Message'),
    at(value, 'msg'),
  ];
  const texts = candidates.map(textOf).filter((text) => text !== undefined);
  return texts.find((text) => text.includes(' ')) ?? texts[0] ?? '';
}

function statusOf(places: readonly Record<string, unknown>[]): number | null {
  for (const place of places) {
    for (const name of ['status', 'status_code', 'code']) {
      const number = plainNumber(at(place, name));
      if (number !== null && Number.isInteger(number) && number >= 400 && number <= 599) return number;
    }
  }
  return null;
}
