// `recoup start` as a process of its own on a free port: from the sources, or from what `npm run build` made.
import { spawn } from 'node:child_process';
import { join } from 'node:path';

const main = join(import.meta.dirname, '../../bin/recoup.mjs');
const running = new Set<{ kill(): void }>();
process.once('exit', () => {
  for (const server of running) server.kill();
});

export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  /** What it wrote: the log, and what it tells a person. */
  logs(): string;
  told(): string;
  signal(signal: NodeJS.Signals): void;
  /** The exit code, once it has ended. */
  readonly ended: Promise<number | null>;
}

export interface StartOptions {
  argv?: readonly string[];
  env?: NodeJS.ProcessEnv;
  /** Arguments of Node before the program. */
  node?: readonly string[];
  /** Another program than the command line. */
  program?: string;
}

/** Starts it; `url` is there once it serves. A start that fails rejects with what it told. */
export async function startServer(databaseUrl: string, options: StartOptions = {}): Promise<ServerProcess> {
  const { argv = [], env = {}, node = [], program = main } = options;
  const child = spawn(process.execPath, [...node, program, 'start', '--port', '0', ...argv], {
    env: { ...process.env, DATABASE_URL: databaseUrl, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const handle = { kill: () => void child.kill('SIGKILL') };
  running.add(handle);
  const text = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    text.out += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    text.err += chunk;
  });
  const ended = new Promise<number | null>((done) => {
    child.on('close', (code) => {
      running.delete(handle);
      done(code);
    });
  });
  for (;;) {
    const url = /Recoup serves (\S+)/.exec(text.err)?.[1];
    if (url) {
      const signal = (name: NodeJS.Signals) => void child.kill(name);
      return { url, pid: child.pid!, logs: () => text.out, told: () => text.err, signal, ended };
    }
    const over = await Promise.race([ended, new Promise((done) => setTimeout(done, 20, 'running'))]);
    if (over !== 'running') throw Object.assign(new Error(text.err), { exitCode: over });
  }
}
