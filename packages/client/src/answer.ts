// Answers as they come: JSON of a bounded size, problems as errors, lines of a stream; anything else is not Recoup.
import { type ErrorCode, RecoupError } from './errors.ts';
import type { Opened } from './transport.ts';

const TYPES = { json: 'application/json', ndjson: 'application/x-ndjson', sse: 'text/event-stream' } as const;
export type Kind = keyof typeof TYPES;
/** More than any problem says. */
const PROBLEM_BYTES = 65_536;

const typeOf = (response: Response) => (response.headers.get('content-type') ?? '').split(';')[0]!.trim().toLowerCase();

/** Throws what a response refuses, or that it is not one of the service. */
export async function checkAnswer(response: Response, kind: Kind): Promise<void> {
  const type = typeOf(response);
  if (response.ok && type === TYPES[kind]) return;
  const { status } = response;
  if (type === 'application/problem+json') {
    const problem = parsed(await text(response, PROBLEM_BYTES));
    if (typeof problem?.code === 'string') throw refusal(problem, response);
  }
  await response.body?.cancel().catch(() => {});
  const redirects = response.type === 'opaqueredirect' || (status >= 300 && status < 400);
  const words = redirects
    ? `It redirects to ${response.headers.get('location') ?? 'another address'}; the URL of the service itself is needed.`
    : `Not Recoup answered: status ${status}, ${type || 'no content type'}.`;
  throw new RecoupError('unexpected_answer', words, { status, ...more(response) });
}

/** A problem, with its status line or as the last words of a stream. */
export function refusal(problem: Record<string, unknown>, response: Response): RecoupError {
  const { type: _, title, status, detail, instance: __, code, requestId, ...details } = problem;
  return new RecoupError(code as ErrorCode, String(detail ?? title ?? code), {
    ...more(response),
    status: typeof status === 'number' ? status : response.status,
    details,
    ...(typeof requestId === 'string' ? { requestId } : {}),
  });
}

function more(response: Response) {
  const after = response.headers.get('retry-after');
  const seconds =
    after === null ? Number.NaN : /^\d+$/.test(after) ? Number(after) : (Date.parse(after) - Date.now()) / 1000;
  return {
    requestId: response.headers.get('x-request-id') ?? undefined,
    retryAfterMs: Number.isFinite(seconds) ? Math.max(seconds, 0) * 1000 : undefined,
  };
}

/** The JSON of an answer. What is not whole counts as lost. */
export async function json(response: Response, maxBytes: number): Promise<unknown> {
  const body = await text(response, maxBytes);
  try {
    return JSON.parse(body);
  } catch (cause) {
    throw new RecoupError('unreachable', 'The answer broke off: it is not whole JSON.', { status: 0, cause });
  }
}

/** Each line of a stream without its end, as it comes. */
export async function* lines({ response, hold, listen }: Opened, maxBytes: number): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of pieces(response, Number.POSITIVE_INFINITY)) {
    hold();
    rest += piece;
    const found = rest.split('\n');
    rest = found.pop()!;
    if (rest.length > maxBytes) throw tooLarge(response, maxBytes);
    for (const line of found) yield line.endsWith('\r') ? line.slice(0, -1) : line;
    listen();
  }
  if (rest !== '') throw new RecoupError('unreachable', 'The answer broke off in the middle of a line.', { status: 0 });
}

async function text(response: Response, maxBytes: number): Promise<string> {
  const found: string[] = [];
  for await (const piece of pieces(response, maxBytes)) found.push(piece);
  return found.join('');
}

async function* pieces(response: Response, maxBytes: number): AsyncGenerator<string> {
  // A reader: not every runtime can iterate a stream.
  const reader = response.body?.getReader();
  if (!reader) return;
  const decoder = new TextDecoder();
  let bytes = 0;
  let ended = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        ended = true;
        break;
      }
      bytes += value.byteLength;
      if (bytes > maxBytes) throw tooLarge(response, maxBytes);
      yield decoder.decode(value, { stream: true });
    }
    yield decoder.decode();
  } finally {
    if (!ended) await reader.cancel().catch(() => {});
  }
}

const tooLarge = ({ status }: Response, maxBytes: number) =>
  new RecoupError('unexpected_answer', `The answer is larger than ${maxBytes} bytes.`, {
    status,
    details: { maxAnswerBytes: maxBytes },
  });

/** Undefined where it is not a JSON object. */
export function parsed(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
