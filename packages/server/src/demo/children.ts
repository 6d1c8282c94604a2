// The main process's end of the demo's processes: starts them, asks them, kills them.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Answer, Ask } from './child.ts';

export interface Child {
  readonly name: string;
  readonly pid: number;
  /** Rejects when the process ends first. */
  ask(question: string): Promise<unknown>;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
}

/** All processes of the demo, so that Ctrl-C finds them. */
export class Children {
  readonly #running = new Set<ChildProcess>();
  #over = false;
  #crashed!: (error: Error) => void;
  /** Rejects when a process ends that nobody killed. */
  readonly crash = new Promise<never>((_, reject) => {
    this.#crashed = reject;
  });

  constructor() {
    this.crash.catch(() => {});
  }

  /** Starts `worker` or `upstream` with its task; resolves when it is ready. */
  async start(file: 'worker' | 'upstream', name: string, task: unknown): Promise<Child> {
    if (this.#over) throw new Error('the demo is over');
    const path = fileURLToPath(new URL(`./${file}${extname(import.meta.url)}`, import.meta.url));
    // Its stdout would be mixed into the one JSON object of the main process.
    const child = fork(path, [], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    this.#running.add(child);
    const asked = new Map<number, { resolve: (answer: unknown) => void; reject: (error: Error) => void }>();
    let killed = false;
    child.on('message', ({ ask, answer }: Answer) => {
      asked.get(ask)?.resolve(answer);
      asked.delete(ask);
    });
    child.on('exit', (code, signal) => {
      this.#running.delete(child);
      const error = new Error(`the process ${name} ended by itself (${signal ?? `exit code ${code}`})`);
      for (const { reject } of asked.values()) reject(error);
      asked.clear();
      if (!killed) this.#crashed(error);
    });
    let asks = 0;
    const send = (message: object, ask: number) =>
      new Promise<unknown>((resolve, reject) => {
        asked.set(ask, { resolve, reject });
        child.send(message, (error) => {
          if (error) reject(error);
        });
      });
    await send({ task }, asks);
    return {
      name,
      pid: child.pid!,
      ask: (question) => {
        asks += 1;
        return send({ ask: asks, question } satisfies Ask, asks);
      },
      kill: () => {
        killed = true;
        return end(child);
      },
    };
  }

  /** Kills what runs; from then on nothing starts any more. */
  async killAll(): Promise<void> {
    this.#over = true;
    await Promise.all([...this.#running].map(end));
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}
