// The demo's options, as they stand on the command line.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

export interface Options {
  headless: boolean;
  json: boolean;
  help: boolean;
  /** The first so many requests of the trace; all unless set. */
  jobs: number | undefined;
  seed: number;
  /** How many times faster than the requests really arrived. */
  speed: number;
  trace: string;
}

/** The arguments, or what is in the files they name, are not as they must be: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const SPEED = 150;
export const bundledTrace = fileURLToPath(new URL('../../data/azure-llm-inference-2023-code.csv', import.meta.url));

export const help = `Recoup's demo: real requests, a provider that misbehaves, and what the credits come to in the end.

  npm start -- [options]

  --jobs N      only the first N requests of the trace
  --seed N      another course of misfortune, 0 to 4294967295; 1 unless set
  --speed N     how many times faster than the requests really arrived; ${SPEED} unless set
  --trace FILE  another trace: CSV with TIMESTAMP,ContextTokens,GeneratedTokens
  --headless    plain lines only, the last of them "demo ok: …" or "demo failed: …"
  --json        one JSON object on stdout, all else on stderr
  --help        this

Exit codes: 0 all is as it must be, 1 something is not, 2 wrong options or trace, 130 Ctrl-C.`;

export function parseOptions(args: string[]): Options {
  const { values } = parsed(args);
  return {
    headless: values.headless ?? false,
    json: values.json ?? false,
    help: values.help ?? false,
    jobs: values.jobs === undefined ? undefined : integer('--jobs', values.jobs, 1, 1_000_000),
    seed: integer('--seed', values.seed ?? '1', 0, 4_294_967_295),
    speed: speed(values.speed ?? String(SPEED)),
    trace: values.trace ?? bundledTrace,
  };
}

function parsed(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        headless: { type: 'boolean' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
        jobs: { type: 'string' },
        seed: { type: 'string' },
        speed: { type: 'string' },
        trace: { type: 'string' },
      },
    });
  } catch (error) {
    // Its first sentence says what is wrong; the rest is advice about positional arguments.
    throw new UsageError((error as Error).message.split('. ')[0]!);
  }
}

function integer(name: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max) {
    throw new UsageError(`${name}: must be an integer from ${min} to ${max}; got "${text}"`);
  }
  return value;
}

function speed(text: string): number {
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || value < 0.1 || value > 100_000) {
    throw new UsageError(`--speed: must be a number from 0.1 to 100000; got "${text}"`);
  }
  return value;
}
