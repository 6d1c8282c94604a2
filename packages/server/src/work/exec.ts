// A job given to a command: payload on stdin, who it is in the environment, the result on stdout, what became of it as exit code.
import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import {
  type Checked,
  Done,
  Failure,
  type Handler,
  jsonProblem,
  type ProviderAnswer,
  Release,
  type Work,
} from 'recoup';

/** What an exit code means; any other is a presumed failure, which may be run again. Those of sysexits.h where they fit. */
export const EXIT = {
  succeeded: 0,
  /** EX_DATAERR: the input is what is wrong; another run would not help. */
  definitive: 65,
  /** EX_UNAVAILABLE: it certainly failed; another run may help. */
  definitiveAgain: 69,
  /** EX_TEMPFAIL: not now; given back, no failure is counted. */
  release: 75,
} as const;

/** More than a result may have: what comes beyond is not kept. */
const MAX_OUT = 2 * 1_048_576;
const MAX_SAID = 2000;
/** How long what a command left in the background may hold its outputs open after it has exited, in ms. */
const PIPES_MS = 1000;

/** What a command may write to its file descriptor 3, as one JSON object. */
interface Said {
  finalPrice?: number;
  upstreamRef?: string;
  retryAfterMs?: number;
  delayMs?: number;
  reason?: string;
  /** What the provider answered, of a job with an upstream; what was used of it. */
  answer?: ProviderAnswer;
  use?: Record<string, number>;
}

interface Ended {
  code: number | null;
  signal: string | null;
  out: string;
  tooLong: boolean;
  lastError: string;
  said: Said;
}

export interface ExecOptions {
  command: string;
  /** How long a command may take to end after SIGTERM, in ms; then it is killed. */
  killAfterMs: number;
  /** Hears each line that a command writes to stderr, and what is wrong with what it said. */
  onLine: (line: string) => void;
}

/** A handler that runs the command once for each attempt. */
export function execHandler(options: ExecOptions): Handler {
  return async (work) => {
    const ended = await run(options, work);
    const { code, out, tooLong, said } = ended;
    if (code === EXIT.succeeded) {
      if (tooLong) {
        const reason = 'the result on stdout is larger than 1 MiB of JSON';
        throw new Failure(reason, { verdict: 'definitive', retryable: false });
      }
      return new Done(resultOf(out, options.onLine), given(said, 'finalPrice', 'upstreamRef', 'answer', 'use'));
    }
    const definitive = code === EXIT.definitive || code === EXIT.definitiveAgain;
    // It ended because it was told to: why it was told is the reason, unless it knows better.
    if (work.signal.aborted && !definitive) throw work.signal.reason;
    const reason = said.reason ?? reasonOf(ended);
    if (code === EXIT.release) throw new Release(reason, given(said, 'delayMs'));
    throw new Failure(reason, {
      verdict: definitive ? 'definitive' : 'presumed',
      retryable: code !== EXIT.definitive,
      ...given(said, 'retryAfterMs', 'upstreamRef', 'answer'),
    });
  };
}

/** Asks a command about an earlier attempt: 0 it was done, 75 it is still at it, anything else: run it again. */
export function execCheck(options: ExecOptions): (work: Work) => Promise<Checked> {
  return async (work) => {
    const { code, out, said } = await run(options, work);
    if (code === EXIT.succeeded)
      return { status: 'succeeded', result: resultOf(out, options.onLine), ...given(said, 'finalPrice') };
    if (code === EXIT.release) return { status: 'working' };
    return { status: 'failed' };
  };
}

/**
 * JSON where it is JSON that can be kept as it is, otherwise the text without its last line break; nothing is null, and so
 * is text that no database keeps: the work was done, whatever it printed.
 */
function resultOf(out: string, onLine: (line: string) => void): unknown {
  if (out.trim() === '') return null;
  try {
    const value: unknown = JSON.parse(out);
    if (jsonProblem(value) === null) return value;
  } catch {
    // Text, then.
  }
  if (out.includes('\u0000')) {
    onLine('recoup work: what the command wrote to stdout has a NUL byte; the result is kept as null');
    return null;
  }
  return out.replace(/\r?\n$/, '');
}

const reasonOf = ({ code, signal, lastError }: Ended) =>
  lastError !== '' ? lastError : signal === null ? `exit code ${code}` : `ended by ${signal}`;

function given<K extends keyof Said>(said: Said, ...names: K[]): { [N in K]?: NonNullable<Said[N]> } {
  return Object.fromEntries(names.filter((name) => said[name] !== undefined).map((name) => [name, said[name]])) as {
    [N in K]?: NonNullable<Said[N]>;
  };
}

async function run({ command, killAfterMs, onLine }: ExecOptions, work: Work): Promise<Ended> {
  work.signal.throwIfAborted();
  // A group of its own: Ctrl-C in a terminal reaches the worker alone, and what the command started ends with it.
  const child = spawn(command, {
    shell: true,
    detached: process.platform !== 'win32',
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...variables(work) },
  });
  const ended = endOf(child, () => PIPES_MS + (work.signal.aborted ? killAfterMs : 0));
  const kill = killing(child, killAfterMs);
  work.signal.addEventListener('abort', kill.begin, { once: true });
  // A command that does not read its input has a reason; its exit code tells.
  child.stdin!.on('error', () => {});
  child.stdin!.end(JSON.stringify(work.payload ?? null));
  const out = collect(child.stdout!, MAX_OUT);
  const third = collect(child.stdio[3] as Readable, 65_536);
  let lastError = '';
  lines(child.stderr!, (line) => {
    if (line.trim() !== '') lastError = line.slice(0, MAX_SAID);
    onLine(line);
  });
  try {
    const { code, signal } = await ended;
    return { code, signal, ...out(), lastError, said: readSaid(third().out, onLine) };
  } finally {
    kill.end();
    work.signal.removeEventListener('abort', kill.begin);
  }
}

/** How it exited, once its outputs are read to their end; what it left in the background may hold them open for ever. */
async function endOf(child: ChildProcess, pipesMs: () => number) {
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<{ code: number | null; signal: string | null }>((done, fail) => {
      child.on('error', fail);
      child.on('close', (code, signal) => done({ code, signal }));
      child.on('exit', (code, signal) => {
        timer = setTimeout(() => done({ code, signal }), pipesMs());
      });
    });
  } finally {
    clearTimeout(timer);
    for (const stream of child.stdio) stream?.destroy();
  }
}

function variables({ wallet, id, attempt, job, earlier, upstream }: Work): NodeJS.ProcessEnv {
  return {
    RECOUP_WALLET: wallet,
    RECOUP_JOB: id,
    RECOUP_ATTEMPT: String(attempt),
    RECOUP_QUEUE: job.queue ?? '',
    RECOUP_EARLIER_ATTEMPT: String(earlier?.attempt ?? ''),
    RECOUP_EARLIER_REF: earlier?.upstreamRef ?? '',
    RECOUP_UPSTREAM: upstream?.upstream ?? '',
    RECOUP_PROVIDER: upstream?.provider ?? '',
    RECOUP_CREDENTIAL_REF: upstream?.credentialRef ?? '',
  };
}

/** SIGTERM to the whole group, SIGKILL where that is not heeded. */
function killing(child: ChildProcess, afterMs: number) {
  let timer: NodeJS.Timeout | undefined;
  const send = (signal: NodeJS.Signals) => {
    try {
      if (process.platform === 'win32') child.kill(signal);
      else process.kill(-child.pid!, signal);
    } catch {
      // Gone already.
    }
  };
  return {
    begin: () => {
      send('SIGTERM');
      timer = setTimeout(() => send('SIGKILL'), afterMs);
    },
    end: () => clearTimeout(timer),
  };
}

function collect(stream: Readable, max: number): () => { out: string; tooLong: boolean } {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on('error', () => {});
  stream.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= max) chunks.push(chunk);
  });
  return () => ({ out: Buffer.concat(chunks).toString('utf8'), tooLong: size > max });
}

function lines(stream: Readable, onLine: (line: string) => void): void {
  let rest = '';
  stream.on('error', () => {});
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = (rest + chunk).split('\n');
    rest = parts.pop()!.slice(0, 65_536);
    for (const part of parts) onLine(part);
  });
  stream.on('end', () => {
    if (rest !== '') onLine(rest);
  });
}

function readSaid(text: string, onLine: (line: string) => void): Said {
  if (text.trim() === '') return {};
  try {
    const said: unknown = JSON.parse(text);
    if (typeof said === 'object' && said !== null && !Array.isArray(said)) return said as Said;
  } catch {
    // Falls through to the complaint.
  }
  onLine('recoup work: what the command wrote to file descriptor 3 is no JSON object; it is not used');
  return {};
}
