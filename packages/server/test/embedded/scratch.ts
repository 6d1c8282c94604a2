// Folders and stand-in programs for the tests of the embedded server.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';

/** A new folder that every user may enter. */
export function scratchFolder(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'recoup-test-'));
  chmodSync(path, 0o755);
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }) };
}

export async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

/** Holds a port of the loopback until it is closed. */
export function listen(): Promise<{ port: number; server: Server }> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve({ server, port: typeof address === 'object' && address ? address.port : 0 });
    });
  });
}

export async function freePort(): Promise<number> {
  const { port, server } = await listen();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The folder of the programs that a server runs from. */
export async function binDirOf(url: string): Promise<string> {
  const [row] = await query(url, "select setting from pg_config where name = 'BINDIR'");
  return String(row?.setting);
}

export interface Gate {
  /** A folder of programs of which one stops at the gate. */
  readonly binDir: string;
  reached(): boolean;
  /** The process that stands at the gate, and the data directory it was told to use. */
  pid(): number;
  target(): string;
  open(): void;
}

/** Programs that pass everything on to the real ones; one of them does so only once the gate is open. */
export function gateBefore(gated: 'initdb' | 'postgres', real: string, folder: string): Gate {
  const [binDir, reached, open] = [join(folder, 'bin'), join(folder, 'reached'), join(folder, 'open')];
  mkdirSync(binDir, { recursive: true });
  // PostgreSQL's user writes the mark.
  chmodSync(folder, 0o777);
  for (const name of ['initdb', 'postgres']) {
    const pass = `exec '${join(real, name)}' "$@"`;
    const wait = [
      `if [ "$1" != --version ]; then`,
      name === 'initdb' ? `  [ -e '${open}' ] || (mkdir "$2"; echo half > "$2/half")` : '',
      `  echo "$$ $2" > '${reached}.new'; mv '${reached}.new' '${reached}'`,
      `  while [ ! -e '${open}' ]; do sleep 0.02; done`,
      'fi',
    ];
    writeFileSync(join(binDir, name), ['#!/bin/sh', ...(name === gated ? wait : []), pass, ''].join('\n'));
    chmodSync(join(binDir, name), 0o755);
  }
  return {
    binDir,
    reached: () => existsSync(reached),
    pid: () => Number(readFileSync(reached, 'utf8').split(' ')[0]),
    target: () => readFileSync(reached, 'utf8').trim().split(' ')[1]!,
    open: () => writeFileSync(open, ''),
  };
}
