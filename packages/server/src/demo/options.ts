// The demo's options, as they stand on the command line.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

export interface Options {
  headless: boolean;
  json: boolean;
  help: boolean;
  /** Stay up at the end: true, false, or where a terminal shows it. */
  serve: boolean | undefined;
  /** The first so many requests of the trace; all unless set. */
  jobs: number | undefined;
  seed: number;
  /** How many times faster than the requests really arrived. */
  speed: number;
  trace: string;
  /** Where it serves at the end; a free one where it is taken. */
  port: number;
}

/** The arguments, or what is in the files they name, are not as they must be: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const SPEED = 150;
export const bundledTrace = fileURLToPath(new URL('../../data/azure-llm-inference-2023-code.csv', import.meta.url));

/** Every option, for `npm start -- --help` and for `recoup demo --help`. */
export const descriptions = [
  { flags: '--jobs <n>', about: 'only the first n requests of the trace' },
  { flags: '--seed <n>', about: 'another course of misfortune, 0 to 4294967295; 1 unless set' },
  { flags: '--speed <n>', about: `how many times faster than the requests really arrived; ${SPEED} unless set` },
  { flags: '--trace <file>', about: 'another trace: CSV with TIMESTAMP,ContextTokens,GeneratedTokens' },
  { flags: '--serve', about: 'stay up at the end and serve what came of it, also without a terminal' },
  { flags: '--headless', about: 'plain lines only, the last of them "demo ok: …" or "demo failed: …"; then it ends' },
] as const;
const PORT_OPTION = { flags: '--port <n>', about: 'serve there at the end; RECOUP_PORT, or 7420 unless set' };
const JSON_OPTION = { flags: '--json', about: 'one JSON object on stdout, all else on stderr; then it ends' };

export const help = `Recoup's demo: real requests, a provider that misbehaves, and what the credits come to in the end. On a terminal it then
serves what came of it, until Ctrl-C. Without one (in a pipe, in CI) it ends, unless --serve is given.

  npm start -- [options]

${[...descriptions, PORT_OPTION, JSON_OPTION, { flags: '--help', about: 'this' }].map(({ flags, about }) => `  ${flags.padEnd(15)} ${about}`).join('\n')}

Exit codes: 0 all is as it must be, 1 something is not, 2 wrong options or trace, 130 Ctrl-C before its end.`;

/** `port`: the one of the environment. */
export function parseOptions(args: string[], port = '7420'): Options {
  const { values } = parsed(args);
  const ends = values.headless || values.json;
  if (ends && values.serve) throw new UsageError('--serve: goes neither with --headless nor with --json, which end');
  return {
    headless: values.headless ?? false,
    json: values.json ?? false,
    help: values.help ?? false,
    serve: ends ? false : values.serve,
    jobs: values.jobs === undefined ? undefined : integer('--jobs', values.jobs, 1, 1_000_000),
    seed: integer('--seed', values.seed ?? '1', 0, 4_294_967_295),
    speed: speed(values.speed ?? String(SPEED)),
    trace: values.trace ?? bundledTrace,
    port: integer(values.port === undefined ? 'RECOUP_PORT' : '--port', values.port ?? port, 0, 65_535),
  };
}

function parsed(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        headless: { type: 'boolean' },
        serve: { type: 'boolean' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
        jobs: { type: 'string' },
        seed: { type: 'string' },
        speed: { type: 'string' },
        trace: { type: 'string' },
        port: { type: 'string' },
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
