// The trace: reads the CSV, refuses what is wrong in it by line and rule, and makes each request a job of a wallet.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type Options, UsageError } from './options.ts';

/** A request of the trace as a job. */
export interface DemoJob {
  id: string;
  wallet: string;
  price: number;
  /** How long its work takes at the upstream, in ms. */
  ms: number;
  /** When it arrives, in ms after the replay began. */
  atMs: number;
}

interface Request {
  at: number;
  context: number;
  generated: number;
}

const COLUMNS = 'TIMESTAMP,ContextTokens,GeneratedTokens';
const TIMESTAMP = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,7}))?$/;
const MAX_TOKENS = 10_000_000;
const WALLETS = 200;

/** The jobs of the trace that the options name. */
export async function loadJobs(options: Options): Promise<DemoJob[]> {
  const requests = parseTrace(await text(options.trace), options.trace);
  if (options.jobs !== undefined && options.jobs > requests.length) {
    throw new UsageError(`--jobs: the trace has ${requests.length} requests; got ${options.jobs}`);
  }
  const first = requests[0]!.at;
  return requests.slice(0, options.jobs).map((request, index) => ({
    id: `request-${String(index + 1).padStart(5, '0')}`,
    wallet: walletOf(options.seed, index),
    price: Math.max(1, Math.ceil(request.context / 100) + request.generated),
    ms: Math.min(2 + Math.round(request.generated / 5), 200),
    atMs: (request.at - first) / options.speed,
  }));
}

async function text(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new UsageError(`--trace: ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** Every line as a request. Nothing is skipped or guessed: the first wrong line is refused. */
export function parseTrace(csv: string, file: string): Request[] {
  const lines = csv.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  const refuse = (line: number, rule: string): never => {
    throw new UsageError(`${file}, line ${line}: ${rule}`);
  };
  if (lines[0] !== COLUMNS) refuse(1, `must name the columns: ${COLUMNS}; got ${shown(lines[0] ?? '')}`);
  if (lines.length === 1) refuse(2, 'there must be at least one request');
  let before = Number.NEGATIVE_INFINITY;
  return lines.slice(1).map((line, index) => {
    const fields = line.split(',');
    if (fields.length !== 3) refuse(index + 2, `must have 3 fields; got ${shown(line)}`);
    const [timestamp, context, generated] = fields as [string, string, string];
    const at = instantOf(timestamp);
    if (Number.isNaN(at)) {
      refuse(index + 2, `TIMESTAMP must be an instant like 2023-11-16 18:17:03.9799600; got ${shown(timestamp)}`);
    }
    if (at < before) refuse(index + 2, 'TIMESTAMP must not be earlier than that of the line before');
    before = at;
    const tokens = (name: string, field: string) =>
      /^\d{1,8}$/.test(field) && Number(field) <= MAX_TOKENS
        ? Number(field)
        : refuse(index + 2, `${name} must be an integer from 0 to ${MAX_TOKENS}; got ${shown(field)}`);
    return { at, context: tokens('ContextTokens', context), generated: tokens('GeneratedTokens', generated) };
  });
}

/** In ms with a fraction; NaN where there is no such instant (also 30 February, which Date would move to March). */
function instantOf(timestamp: string): number {
  const [, date, time, fraction = ''] = TIMESTAMP.exec(timestamp) ?? [];
  const at = Date.parse(`${date}T${time}Z`);
  if (Number.isNaN(at) || !new Date(at).toISOString().startsWith(`${date}T${time}`)) return Number.NaN;
  return at + Number(`0.${fraction.padEnd(1, '0')}`) * 1000;
}

/** Some customers ask for much more than others, as everywhere: the square makes the first wallets the busiest. */
function walletOf(seed: number, index: number): string {
  const drawn = createHash('sha256').update(`${seed} ${index}`).digest().readUInt32BE() / 2 ** 32;
  return `wallet-${String(1 + Math.floor(WALLETS * drawn ** 2)).padStart(3, '0')}`;
}

function shown(field: string): string {
  return JSON.stringify(field.length <= 60 ? field : `${field.slice(0, 60)}…`);
}

/** What each wallet is given at the start: twice what its jobs cost, so that nobody is short of credits. */
export function grantsOf(jobs: readonly DemoJob[]): Map<string, number> {
  const grants = new Map<string, number>();
  for (const { wallet, price } of jobs) grants.set(wallet, (grants.get(wallet) ?? 0) + 2 * price);
  return grants;
}
