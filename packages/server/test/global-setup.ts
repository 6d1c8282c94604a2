// Starts the PostgreSQL servers of a test run: the embedded one and, where it is installed, the oldest supported one.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statfsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { type Embedded, startEmbedded } from '../src/embedded/embedded.ts';

export interface TestServer {
  readonly name: string;
  readonly url: string;
}

declare module 'vitest' {
  export interface ProvidedContext {
    /** The embedded PostgreSQL first; the URLs name a superuser. */
    servers: readonly TestServer[];
  }
}

const oldestSupported = 15;
const installed = '/usr/lib/postgresql';

/** What a test run can do without is durability: nothing here outlives it. */
const settings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'on',
  max_connections: '300',
  shared_buffers: '256MB',
};

/**
 * Where the databases lie: in memory, if there is plenty. Thousands come and go in a run, each of hundreds of files, and a journaling
 * file system looks for a free inode ever longer the more were freed of late.
 */
function roomiest(): string {
  const [memory, enough] = ['/dev/shm', 8 * 2 ** 30];
  if (!existsSync(memory) || freemem() < 1.5 * enough) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize >= enough ? memory : tmpdir();
}

/** Tests start processes as they ship, from what is built: it is made new where the sources are. */
function build(): void {
  const packages = ['recoup', 'server'].map((name) => join(import.meta.dirname, '../..', name));
  const newest = (folder: string) => {
    const sources = readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' });
    return Math.max(...sources.map((source) => statSync(join(folder, 'src', source)).mtimeMs));
  };
  const builtAt = (folder: string) =>
    statSync(join(folder, 'dist/.tsbuildinfo'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (packages.every((folder) => newest(folder) < builtAt(folder))) return;
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  execFileSync(process.execPath, [tsc, '-b', ...packages], { stdio: 'inherit' });
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  build();
  const running: Embedded[] = [];
  const tmpDir = roomiest();
  const stopAll = async () => {
    await Promise.all(running.map((server) => server.stop()));
  };
  try {
    running.push(await startEmbedded({ throwaway: true, tmpDir, settings }));
    const binDir = oldestInstalled();
    if (binDir) running.push(await startEmbedded({ throwaway: true, tmpDir, settings, binDir }));
  } catch (error) {
    await stopAll();
    throw error;
  }
  const kinds = ['embedded', 'installed'];
  const named = running.map(({ version, url }, index) => ({
    name: `PostgreSQL ${Number.parseInt(version, 10)} (${kinds[index]})`,
    url,
  }));
  project.provide('servers', named);
  return stopAll;
}

function oldestInstalled(): string | undefined {
  if (!existsSync(installed)) return undefined;
  const versions = readdirSync(installed).map(Number);
  const usable = versions.filter((version) => version >= oldestSupported).sort((a, b) => a - b);
  const folders = usable.map((version) => join(installed, String(version), 'bin'));
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')));
}
