// What commands share: settings, output, the target they ask, progress, the reading of integers and instants.
import { InvalidInput } from 'recoup';
import { operations } from '../operations/operations.ts';
import type { Output } from './output.ts';
import type { Resolved } from './settings.ts';
import type { Stop } from './stop.ts';
import { openTarget } from './target.ts';

export interface Tools {
  env: NodeJS.ProcessEnv;
  output: Output;
  /** Says when the command is to stop. */
  stop: Stop;
  settings(): Resolved;
  /** Whether JSON is wanted. */
  json(): boolean;
  /** As JSON where that is wanted, else as `view` makes it. */
  print(answer: unknown, view?: (answer: unknown) => string): void;
  /** The exit code of a command that ended without an error. */
  exitWith(code: number): void;
}

type Input = Record<string, unknown>;
/** Asks an operation by its name. The caller knows the shape of its answer. */
export type Ask = <T>(name: string, input?: Input) => Promise<T>;

/** Runs `work` with the database or the server that the settings name, and lets go of it. */
export async function withTarget<T>(tools: Tools, work: (ask: Ask) => Promise<T>): Promise<T> {
  const target = await openTarget(tools.settings().values, tools.output);
  try {
    return await work(<A>(name: string, input: Input = {}) => {
      const operation = operations.find((one) => one.name === name)!;
      return target.ask(operation, input, tools.stop.cut) as Promise<A>;
    });
  } finally {
    await target.close();
  }
}

const EVERY_MS = 1000;
export const count = (value: number): string => value.toLocaleString('en-US');

/** Lines of progress on stderr, at most one a second. */
export class Progress {
  readonly #output: Output;
  #said = performance.now();

  constructor(output: Output) {
    this.#output = output;
  }

  say(line: () => string): void {
    const now = performance.now();
    if (now - this.#said < EVERY_MS) return;
    this.#said = now;
    this.#output.err(line());
  }
}

/** An integer of the command line. */
export function integerOf(name: string, given: string | undefined, min: number, max: number): number | undefined {
  if (given === undefined) return undefined;
  const value = /^\d{1,16}$/.test(given) ? Number(given) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new InvalidInput(name, `must be an integer from ${min} to ${max}; got ${JSON.stringify(given)}`);
}

const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const MAX_MS = 31_536_000_000;

/** A duration of the command line in ms: `90d`, `12h`, `30m`, `10s`, `500ms`. */
export function durationOf(name: string, given: string): number {
  const [, number, unit] = /^(\d{1,12})(ms|s|m|h|d)$/.exec(given) ?? [];
  const ms = Number(number) * (UNITS[unit ?? ''] ?? Number.NaN);
  if (ms >= 0 && ms <= MAX_MS) return ms;
  throw new InvalidInput(
    name,
    `must be a duration such as 90d, 12h, 30m or 10s, at most 365d; got ${JSON.stringify(given)}`,
  );
}

const INSTANT = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/;

/** An instant of the command line as RFC 3339; a date alone is its first moment in UTC. */
export function instantOf(name: string, given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  const at = INSTANT.test(given) ? new Date(given) : new Date(Number.NaN);
  // Date moves 30 February to March: a date is what it says, or it is refused.
  const moved = !given.includes('T') && !Number.isNaN(at.getTime()) && !at.toISOString().startsWith(given);
  if (!Number.isNaN(at.getTime()) && !moved) return at.toISOString();
  throw new InvalidInput(
    name,
    `must be an instant such as 2026-01-31T12:00:00Z, or a date; got ${JSON.stringify(given)}`,
  );
}
