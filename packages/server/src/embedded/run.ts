// Runs a program to its end, as an unprivileged user where that is asked for, in an environment without secrets.
import { spawn } from 'node:child_process';
import type { Account } from './account.ts';

export interface Ran {
  /** null when it did not start or was killed. */
  readonly code: number | null;
  /** What it wrote to stdout and stderr. */
  readonly output: string;
  /** Why it did not start. */
  readonly failure: NodeJS.ErrnoException | undefined;
}

/**
 * What PostgreSQL gets to see: not the keys and PG* variables of the application. English messages, because the
 * reasons for a failure are read out of them; UTC, because initdb writes the time zone into the configuration.
 */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const environment: NodeJS.ProcessEnv = { LC_ALL: 'C', TZ: 'UTC' };
  for (const name of ['PATH', 'Path', 'SystemRoot', 'TEMP', 'TMP', 'TMPDIR']) {
    if (process.env[name] !== undefined) environment[name] = process.env[name];
  }
  return environment;
}

/** Works from '/', because the unprivileged user may not be able to enter the current folder. */
export function asAccount(account: Account | undefined): {
  cwd: string;
  env: NodeJS.ProcessEnv;
  uid?: number;
  gid?: number;
} {
  const base = { cwd: '/', env: plainEnvironment() };
  return account ? { ...base, uid: account.uid, gid: account.gid } : base;
}

export function run(file: string, args: string[], account?: Account): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(file, args, { ...asAccount(account), stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true });
    let output = '';
    const collect = (chunk: Buffer) => {
      output += chunk.toString();
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.once('error', (failure) => resolve({ code: null, output, failure }));
    child.once('close', (code) => resolve({ code, output, failure: undefined }));
  });
}
