// The body of an answer as JSON values: one for a document, several for events of a stream, none for what is no JSON.

export interface Body {
  /**
   * `foreign`: HTML or other text for people, written by something on the way. `garbled`: nobody's words (bytes that are no text, JSON
   * that was cut), so nobody is blamed for them. `unread`: too long.
   */
  kind: 'json' | 'empty' | 'foreign' | 'garbled' | 'unread';
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
const PAGE = /^<(!|\?xml|[a-z][a-z0-9]*[\s/>])/i;
/** Where decoding failed, and controls that no text has. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const NO_TEXT = /[\0-\x08\x0e-\x1f\x7f-\x9f\ufffd]/;
const CUT_JSON = /^[{[]\s*($|["{[])/;

/** Of a long stream the end, where an error stands; of anything else only whether it is a page. */
function tooLong(start: string, end: string): Body {
  if (EVENTS.test(start)) return { kind: 'json', values: eventsOf(end) };
  return { kind: PAGE.test(start.trimStart()) ? 'foreign' : 'unread', values: [] };
}

function ofText(text: string): Body {
  const trimmed = text.replace(/^\ufeff/, '').trim();
  if (trimmed === '') return EMPTY;
  if (EVENTS.test(trimmed)) {
    const values = eventsOf(trimmed);
    if (values.length > 0) return { kind: 'json', values };
  }
  const value = parsed(trimmed);
  if (value === undefined) return { kind: kindOfText(trimmed), values: [] };
  return { kind: 'json', values: Array.isArray(value) ? value.slice(0, MAX_EVENTS) : [value] };
}

/** Of what is no JSON. A page of another encoding than UTF-8 is still a page. */
function kindOfText(text: string): 'foreign' | 'garbled' {
  if (PAGE.test(text)) return 'foreign';
  return NO_TEXT.test(text) || CUT_JSON.test(text) || EVENTS.test(text) ? 'garbled' : 'foreign';
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
