// The processes of a run: started, killed, and started again by a supervisor, as systemd would.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { errors } from '../../packages/recoup/src/errors.ts';
import type { Relay } from './relay.ts';

const RECOUP = fileURLToPath(new URL('../../packages/server/bin/recoup.mjs', import.meta.url));
const WORKER = fileURLToPath(new URL('./worker.ts', import.meta.url));

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export class Program {
  readonly name: string;
  readonly #start: () => ChildProcess;
  readonly #ready: RegExp;
  readonly #onReady: (found: RegExpExecArray) => void;
  readonly #onGone: () => void;
  #child: ChildProcess | undefined;
  #stopping = false;
  #killed = false;
  #told = '';
  readonly #loop: Promise<void>;
  /** What it said when it ended by itself, although the database is not to blame. */
  readonly crashes: string[] = [];
  /** What it wrote line by line, of what the run wants to know. */
  readonly lines: string[] = [];

  constructor(
    name: string,
    start: () => ChildProcess,
    ready: RegExp,
    onReady: (found: RegExpExecArray) => void,
    onGone = () => {},
  ) {
    this.name = name;
    this.#start = start;
    this.#ready = ready;
    this.#onReady = onReady;
    this.#onGone = onGone;
    this.#loop = this.#supervise();
  }

  /** SIGKILL; the supervisor starts it again. False where it is just not there. */
  kill(): boolean {
    this.#killed = this.#child !== undefined;
    return this.#child?.kill('SIGKILL') ?? false;
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    const limit = setTimeout(() => this.#child?.kill('SIGKILL'), 10_000);
    this.#child?.kill('SIGTERM');
    await this.#loop;
    clearTimeout(limit);
  }

  async #supervise(): Promise<void> {
    while (!this.#stopping) {
      const { code, signal, wasReady } = await this.#once();
      this.#onGone();
      const waits = code === errors.database_unavailable.exit && !wasReady;
      if (!this.#stopping && !this.#killed && !waits)
        this.crashes.push(`${this.name} ended with ${code ?? signal}: ${this.#told.slice(-500).trim()}`);
      this.#killed = false;
      if (!this.#stopping) await sleep(200);
    }
  }

  #once(): Promise<{ code: number | null; signal: NodeJS.Signals | null; wasReady: boolean }> {
    const child = this.#start();
    this.#child = child;
    this.#told = '';
    running.add(child);
    let wasReady = false;
    const look = (chunk: Buffer) => {
      this.#told = (this.#told + chunk.toString()).slice(-4000);
      const found = wasReady ? null : this.#ready.exec(this.#told);
      if (!found) return;
      wasReady = true;
      this.#onReady(found);
    };
    createInterface({ input: child.stdout! }).on('line', (line) => {
      if (/^(run|used) /.test(line)) this.lines.push(line);
    });
    child.stdout!.on('data', look);
    child.stderr!.on('data', look);
    return new Promise((done) => {
      child.once('close', (code, signal) => {
        running.delete(child);
        this.#child = undefined;
        done({ code, signal, wasReady });
      });
    });
  }
}

const spawned = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  spawn(process.execPath, args, {
    // In a group of its own: Ctrl-C is for the run, which then stops its processes in order.
    detached: true,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });

/** `recoup start` on a database; clients reach it by the relay. Needs what `npm run build` makes. */
export function server(name: string, databaseUrl: string, relay: Relay): Program {
  const args = [
    RECOUP,
    'start',
    '--port',
    '0',
    '--log-level',
    'silent',
    '--poll-ms',
    '200',
    '--lock-timeout-ms',
    '2000',
  ];
  return new Program(
    name,
    () => spawned(args, { DATABASE_URL: databaseUrl }),
    /Recoup serves (\S+)/,
    ([, url]) => relay.leadTo(Number(new URL(url!).port)),
    () => relay.leadTo(undefined),
  );
}

/** A worker of the library, in a process of its own. */
export function worker(name: string, databaseUrl: string, queue: string): Program {
  const args = ['--import', 'tsx', '-C', 'recoup-source', WORKER, queue];
  return new Program(
    name,
    () => spawned(args, { DATABASE_URL: databaseUrl }),
    /works/,
    () => {},
  );
}
