// What can go wrong with the embedded PostgreSQL, as sentences for a person and codes for a program.

const exitCodes = {
  /** Somebody else runs a PostgreSQL on this data. */
  data_directory_in_use: 3,
  /** The port that was asked for is taken. */
  port_in_use: 3,
  /** There is no PostgreSQL for this machine, or it cannot run here. */
  embedded_unavailable: 1,
  /** This user may not, or the place takes no folder: another user or another place is needed. */
  permission_denied: 3,
  disk_full: 1,
  /** What is named is a file, holds something else, or data of another major version. */
  data_directory_unusable: 2,
  start_failed: 1,
  stop_failed: 1,
} as const;

export type EmbeddedCode = keyof typeof exitCodes;

/** Its message is complete: callers show it as it is, without a stack trace. */
export class EmbeddedError extends Error {
  override readonly name = 'EmbeddedError';
  readonly code: EmbeddedCode;
  readonly exitCode: number;

  constructor(code: EmbeddedCode, message: string) {
    super(message);
    this.code = code;
    this.exitCode = exitCodes[code];
  }
}

export const useDatabaseUrl = 'Set DATABASE_URL to a PostgreSQL of your own (15 or newer) instead.';

export function isErrno(error: unknown, ...codes: string[]): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

/** Turns whatever was thrown into a sentence. */
export function asEmbeddedError(error: unknown): EmbeddedError {
  if (error instanceof EmbeddedError) return error;
  const path = error instanceof Error && 'path' in error ? String(error.path) : 'a needed folder';
  if (isErrno(error, 'ENOSPC', 'EDQUOT')) {
    return new EmbeddedError('disk_full', `The disk is full: ${path} could not be written.`);
  }
  if (isErrno(error, 'EACCES', 'EPERM', 'EROFS')) {
    return new EmbeddedError('permission_denied', `This user may not use ${path} (${error.code}).`);
  }
  const text = error instanceof Error ? error.message : String(error);
  return new EmbeddedError('start_failed', `The embedded PostgreSQL could not be started: ${text}`);
}

/** Reads the reason out of what initdb or postgres wrote before it gave up. */
export function fromOutput(output: string, what: string): EmbeddedError {
  const said = /^.*?(?:FATAL|PANIC|error|ERROR):\s+(.*)$/m.exec(output)?.[1] ?? output.trim().split('\n').at(-1) ?? '';
  if (/No space left on device|Disk quota exceeded/.test(output)) {
    return new EmbeddedError('disk_full', `The disk is full: ${what} failed (${said}).`);
  }
  if (/could not look up effective user ID/.test(output)) {
    const text = `PostgreSQL runs only as a user that the system knows by name, and this one is unknown: ${said}.`;
    return new EmbeddedError('embedded_unavailable', `${text} ${useDatabaseUrl}`);
  }
  if (/Permission denied|invalid permissions|wrong ownership|Read-only file system/.test(output)) {
    return new EmbeddedError('permission_denied', `${what} was not permitted: ${said}.`);
  }
  if (/incompatible with server/.test(output)) {
    return new EmbeddedError('data_directory_unusable', `${what} found data of another version: ${said}.`);
  }
  return new EmbeddedError('start_failed', `${what} failed: ${said || 'it said nothing'}`);
}
