// A recording: answers of providers as JSON lines, each checked before anything runs, in the order of time.
import { InvalidInput, idProblem } from 'recoup';
import type { HeadersLike } from 'recoup/decoders';
import { instantOf } from '../cli/tools.ts';

/** An account as the line says that names it first. */
export interface Account {
  upstream: string;
  provider: string;
  pool: string;
  quotaGroup: string | null;
  route: string | null;
}

/** One answer that came. */
export interface Recorded {
  line: number;
  /** When it came. */
  at: Date;
  upstream: string;
  model: string | null;
  status: number | null;
  headers: HeadersLike | null;
  body: unknown;
  error: string | null;
  /** How long it took; null: nobody says. */
  elapsedMs: number | null;
}

export interface Recording {
  /** In the order in which they are first named. */
  accounts: Account[];
  /** By time; of one instant in the order of the file. */
  answers: Recorded[];
  /** How many lines stood behind a later one. */
  outOfOrder: number;
}

type Given = Readonly<Record<string, unknown>>;
const OF_ACCOUNT = ['provider', 'pool', 'quotaGroup', 'route'] as const;
const FIELDS = ['at', 'upstream', ...OF_ACCOUNT, 'model', 'status', 'headers', 'body', 'error', 'elapsedMs'];
/** Where a recording says nothing of pools it is one. */
const POOL = 'recorded';
const MAX_ELAPSED_MS = 31_536_000_000;

/** Refuses, by line and field, the first thing that is not right. */
export function readRecording(text: string): Recording {
  const accounts = new Map<string, Account & { line: number }>();
  const answers: Recorded[] = [];
  let outOfOrder = 0;
  let latest = Number.NEGATIVE_INFINITY;
  for (const [index, raw] of text.split('\n').entries()) {
    if (raw.trim() === '') continue;
    const line = index + 1;
    const given = objectOf(line, raw);
    const answer = answerOf(line, given);
    know(accounts, line, answer.upstream, given);
    if (answer.at.getTime() < latest) outOfOrder += 1;
    latest = Math.max(latest, answer.at.getTime());
    answers.push(answer);
  }
  if (answers.length === 0) throw new InvalidInput('file', 'holds no answers: one a line, as JSON');
  answers.sort((one, other) => one.at.getTime() - other.at.getTime());
  return { accounts: [...accounts.values()].map(({ line: _, ...account }) => account), answers, outOfOrder };
}

const fieldOf = (line: number, name: string) => `line ${line}, ${name}`;

function objectOf(line: number, raw: string): Given {
  let value: unknown;
  try {
    value = JSON.parse(raw);
  } catch {
    throw new InvalidInput(`line ${line}`, 'is not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new InvalidInput(`line ${line}`, `must be an object with ${FIELDS.join(', ')}`);
  const unknown = Object.keys(value).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined)
    throw new InvalidInput(fieldOf(line, unknown.slice(0, 40)), `is not known; allowed are ${FIELDS.join(', ')}`);
  return value as Given;
}

function answerOf(line: number, given: Given): Recorded {
  const field = (name: string) => fieldOf(line, name);
  const { at, status = null, headers = null, body = null, error = null, elapsedMs = null } = given;
  const upstream = idOf(field('upstream'), given.upstream);
  if (upstream === null) throw new InvalidInput(field('upstream'), 'is required: which account answered');
  if (status !== null && !integerWithin(status, 100, 599))
    throw new InvalidInput(field('status'), 'must be an integer from 100 to 599, or null');
  if (error !== null && (typeof error !== 'string' || error === ''))
    throw new InvalidInput(field('error'), 'must be the code of a network failure, such as ETIMEDOUT');
  if ((status ?? body ?? error) === null)
    throw new InvalidInput(field('status'), 'is required where there is neither body nor error');
  if (elapsedMs !== null && !integerWithin(elapsedMs, 0, MAX_ELAPSED_MS))
    throw new InvalidInput(field('elapsedMs'), `must be an integer from 0 to ${MAX_ELAPSED_MS}`);
  return {
    line,
    at: dateOf(field('at'), at),
    upstream,
    model: idOf(field('model'), given.model),
    status: status as number | null,
    headers: headersOf(field('headers'), headers),
    body,
    error: error as string | null,
    elapsedMs: elapsedMs as number | null,
  };
}

/** What a line says of its account: the first one decides, a later one may leave it out or repeat it. */
function know(accounts: Map<string, Account & { line: number }>, line: number, upstream: string, given: Given): void {
  const said = Object.fromEntries(OF_ACCOUNT.map((name) => [name, idOf(fieldOf(line, name), given[name])]));
  const known = accounts.get(upstream);
  if (known === undefined) {
    const { provider, pool, quotaGroup, route } = said as Record<(typeof OF_ACCOUNT)[number], string | null>;
    if (provider === null)
      throw new InvalidInput(fieldOf(line, 'provider'), `is required where an upstream is first named: ${upstream}`);
    accounts.set(upstream, { line, upstream, provider, pool: pool ?? POOL, quotaGroup, route });
    return;
  }
  const other = OF_ACCOUNT.find((name) => said[name] !== null && said[name] !== known[name]);
  if (other === undefined) return;
  const first = `${known[other] === null ? 'none' : JSON.stringify(known[other])} on line ${known.line}`;
  throw new InvalidInput(
    fieldOf(line, other),
    `must be what the upstream began with, ${first}; or name another upstream`,
  );
}

const integerWithin = (value: unknown, min: number, max: number) =>
  Number.isInteger(value) && (value as number) >= min && (value as number) <= max;

function idOf(field: string, value: unknown): string | null {
  if (value === undefined || value === null) return null;
  const problem = idProblem(value);
  if (problem !== null) throw new InvalidInput(field, problem);
  return value as string;
}

/** A date alone is not when an answer came. */
function dateOf(field: string, value: unknown): Date {
  const text = typeof value === 'string' && value.includes('T') ? value : JSON.stringify(value ?? null);
  const at = new Date(instantOf(field, text)!);
  if (at.getUTCFullYear() >= 1970 && at.getUTCFullYear() <= 9990) return at;
  throw new InvalidInput(field, `must be an instant of the years 1970 to 9990; got ${text}`);
}

function headersOf(field: string, value: unknown): HeadersLike | null {
  if (value === null) return null;
  if (typeof value !== 'object' || Array.isArray(value))
    throw new InvalidInput(field, 'must be an object of texts, or of lists of texts');
  const isText = (one: unknown) => typeof one === 'string';
  for (const [name, one] of Object.entries(value as Given)) {
    if (!isText(one) && !(Array.isArray(one) && one.every(isText)))
      throw new InvalidInput(`${field}.${name.slice(0, 60)}`, 'must be a text or a list of texts');
  }
  return value as HeadersLike;
}
