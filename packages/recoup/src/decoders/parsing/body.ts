// The body of an answer as JSON values: one for a document, several for events of a stream, none for what is no JSON.

export interface Body {
  /** `foreign`: HTML or other text, written by something on the way. `unread`: too long, or bytes of no text. */
  kind: 'json' | 'empty' | 'foreign' | 'unread';
  values: readonly unknown[];
}

/** In characters of text and in bytes. An error is a few hundred; a long answer is a success and has its facts in headers. */
export const MAX_BODY = 262_144;
const MAX_EVENTS = 64;
const EMPTY: Body = { kind: 'empty', values: [] };

export function bodyOf(given: unknown): Body {
  if (given === null || given === undefined) return EMPTY;
  if (given instanceof ArrayBuffer) return bodyOf(new Uint8Array(given));
  if (given instanceof Uint8Array) {
    const [start, end] = [given.subarray(0, 64), given.subarray(-MAX_BODY)].map((part) =>
      new TextDecoder().decode(part),
    );
    return given.byteLength > MAX_BODY ? tooLong(start!, end!) : ofText(end!);
  }
  if (typeof given === 'string') {
    return given.length > MAX_BODY ? tooLong(given.slice(0, 64), given.slice(-MAX_BODY)) : ofText(given);
  }
  // A list of JSON documents is how a stream of Gemini looks when it is read as a whole.
  if (typeof given === 'object') {
    return { kind: 'json', values: Array.isArray(given) ? given.slice(0, MAX_EVENTS) : [given] };
  }
  return { kind: 'unread', values: [] };
}

const EVENTS = /^(event|data|id|retry)?:/;

/** Of a long stream the end, where an error stands; of anything else only whether it is a page. */
function tooLong(start: string, end: string): Body {
  if (EVENTS.test(start)) return { kind: 'json', values: eventsOf(end) };
  return { kind: start.trimStart().startsWith('<') ? 'foreign' : 'unread', values: [] };
}

function ofText(text: string): Body {
  const trimmed = text.replace(/^\ufeff/, '').trim();
  if (trimmed === '') return EMPTY;
  if (EVENTS.test(trimmed)) {
    const values = eventsOf(trimmed);
    if (values.length > 0) return { kind: 'json', values };
  }
  const value = parsed(trimmed);
  if (value === undefined) return { kind: 'foreign', values: [] };
  return { kind: 'json', values: Array.isArray(value) ? value.slice(0, MAX_EVENTS) : [value] };
}

/** The JSON of server-sent events: the newest, since an error ends its stream. */
function eventsOf(text: string): unknown[] {
  return text
    .split(/\r\n?|\n/)
    .filter((line) => line.startsWith('data:'))
    .slice(-MAX_EVENTS)
    .map((line) => parsed(line.slice(5)))
    .filter((value) => value !== undefined);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
