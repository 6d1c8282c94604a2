// Starts the replica of worker-process.ts as a process that can be killed, or that this one stands still for.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const program = ['--import', 'tsx', fileURLToPath(new URL('./worker-process.ts', import.meta.url))];

export interface WorkerProcess {
  /** The first attempt that it has begun. */
  readonly began: Promise<{ id: string; attempt: number }>;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
}

export function workerProcess(url: string, queue: string): WorkerProcess {
  const child: ChildProcess = spawn(process.execPath, [...program, 'work', url, queue], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = new Promise<void>((done) => child.once('exit', () => done()));
  const began = new Promise<{ id: string; attempt: number }>((resolve, reject) => {
    createInterface({ input: child.stdout! }).on('line', (line) =>
      resolve(JSON.parse(line) as { id: string; attempt: number }),
    );
    child.once('exit', () => reject(new Error('the worker process ended by itself')));
  });
  began.catch(() => {});
  return {
    began,
    kill: () => {
      child.kill('SIGKILL');
      return gone;
    },
  };
}

/** Blocks this process, event loop and all, until another replica has swept the job out of its hands. */
export function standStillUntilSwept(url: string, wallet: string, job: string): void {
  const { status } = spawnSync(process.execPath, [...program, 'sweep', url, wallet, job], {
    stdio: 'inherit',
    // The test's own time limit cannot end what stands still.
    timeout: 30_000,
  });
  if (status !== 0) throw new Error(`the sweeping process ended with ${status}`);
}
