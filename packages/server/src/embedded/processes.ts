// Knows a process by its pid and its start time, so that a recycled pid is never taken for the process that had it.
import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { isErrno } from './errors.ts';
import { run } from './run.ts';

export interface ProcessId {
  readonly pid: number;
  /** Compared for equality only; safe inside a file name. */
  readonly started: string;
}

interface Seen extends ProcessId {
  readonly name: string;
  readonly zombie: boolean;
}

const unknown = 'unknown';
const hasProc = existsSync('/proc/self/stat');

/** Ticks since boot repeat after a reboot, and pids with them. */
const boot = readFile('/proc/sys/kernel/random/boot_id', 'utf8').then(
  (id) => id.slice(0, 8),
  () => 'boot',
);

async function fromProc(pid: number): Promise<Seen | undefined> {
  let text: string;
  try {
    text = await readFile(`/proc/${pid}/stat`, 'utf8');
  } catch (error) {
    // Only these two mean "no such process"; anything else (EMFILE, say) must not declare a living owner dead.
    if (isErrno(error, 'ENOENT', 'ESRCH')) return undefined;
    throw error;
  }
  const end = text.lastIndexOf(')');
  const fields = text.slice(end + 2).split(' ');
  const zombie = fields[0] === 'Z' || fields[0] === 'X';
  return { pid, started: `${await boot}-${fields[19]}`, name: text.slice(text.indexOf('(') + 1, end), zombie };
}

async function fromPs(pid: number): Promise<Seen> {
  const { output } = await run('ps', ['-o', 'stat=,lstart=,comm=', '-p', String(pid)]);
  const found = /^\s*(\S+)\s+(\w+\s+\w+\s+\d+\s+[\d:]+\s+\d+)\s+(.*)$/m.exec(output);
  if (!found) return { pid, started: unknown, name: unknown, zombie: false };
  const seconds = Date.parse(`${found[2]} UTC`) / 1000;
  const name = found[3]!.trim().split('/').at(-1)!;
  return { pid, started: Number.isNaN(seconds) ? unknown : String(seconds), name, zombie: found[1]!.startsWith('Z') };
}

async function fromPowerShell(pid: number): Promise<Seen> {
  const script = `$p = Get-Process -Id ${pid}; "$([DateTimeOffset]::new($p.StartTime).ToUnixTimeSeconds()) $($p.ProcessName)"`;
  const { output } = await run('powershell', ['-NoProfile', '-NonInteractive', '-Command', script]);
  const found = /^(\d+) (.*)$/m.exec(output);
  return { pid, started: found?.[1] ?? unknown, name: found?.[2]?.trim() ?? unknown, zombie: false };
}

async function lookUp(pid: number): Promise<Seen | undefined> {
  if (hasProc) return fromProc(pid);
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (isErrno(error, 'ESRCH')) return undefined;
  }
  return process.platform === 'win32' ? fromPowerShell(pid) : fromPs(pid);
}

/** The process that has this pid now; nothing if there is none or only a zombie. */
export async function identify(pid: number): Promise<ProcessId | undefined> {
  const seen = await lookUp(pid);
  return seen && !seen.zombie ? { pid: seen.pid, started: seen.started } : undefined;
}

export async function isAlive(id: ProcessId): Promise<boolean> {
  return (await identify(id.pid))?.started === id.started;
}

/** The same for one that is looked at again and again: without /proc by its pid alone, since `ps` is a process each time. */
export async function isThere(id: ProcessId): Promise<boolean> {
  try {
    if (hasProc) return await isAlive(id);
    process.kill(id.pid, 0);
  } catch (error) {
    return !isErrno(error, 'ESRCH');
  }
  return true;
}

let self: Promise<ProcessId> | undefined;
export function thisProcess(): Promise<ProcessId> {
  self ??= identify(process.pid).then((id) => id ?? { pid: process.pid, started: unknown });
  return self;
}

export function formatId(id: ProcessId): string {
  return `${id.pid}.${id.started}`;
}

export function parseId(text: string): ProcessId | undefined {
  const found = /^(\d+)\.([\w-]+)$/.exec(text);
  return found ? { pid: Number(found[1]), started: found[2]! } : undefined;
}

/** The postmaster that has this pid and works in this data directory. A postmaster's cwd is its data directory. */
export async function identifyPostgres(pid: number, data: string, since: number): Promise<ProcessId | undefined> {
  const seen = await lookUp(pid);
  if (!seen || seen.zombie) return undefined;
  const id = { pid: seen.pid, started: seen.started };
  if (seen.name !== unknown && !/^postgres|^postmaster/.test(seen.name)) return undefined;
  if (!hasProc) {
    // The lock file says when the postmaster started, to the second and a moment after the process did.
    return seen.started === unknown || Math.abs(Number(seen.started) - since) <= 5 ? id : undefined;
  }
  try {
    const [itsFolder, ours] = await Promise.all([stat(`/proc/${pid}/cwd`), stat(data)]);
    return itsFolder.dev === ours.dev && itsFolder.ino === ours.ino ? id : undefined;
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ESRCH')) return undefined;
    // A postgres of another user whose folder we may not see: take it for the real one rather than start a second.
    return id;
  }
}

/** Waits for its end; false if it outlives the limit. */
export async function ended(id: ProcessId, limitMs: number): Promise<boolean> {
  const until = Date.now() + limitMs;
  while (await isAlive(id)) {
    if (Date.now() > until) return false;
    await sleep(20);
  }
  return true;
}
