// The server a bench runs on: an embedded PostgreSQL with full durability and default settings, and its CPU time.
import { readdirSync, readFileSync } from 'node:fs';
import { type Embedded, startEmbedded } from '../packages/server/src/embedded/embedded.ts';

export type BenchServer = Embedded;

export const startServer = (): Promise<BenchServer> => startEmbedded({ throwaway: true });

/** CPU time of the server and all its backends so far, in ms; null where /proc is not there. */
export function serverCpu(postmaster: number): number | null {
  let ticks = 0;
  try {
    for (const name of readdirSync('/proc')) {
      if (!/^\d+$/.test(name)) continue;
      const fields = statOf(name);
      if (!fields) continue;
      const own = Number(fields[11]) + Number(fields[12]);
      if (Number(name) === postmaster) ticks += own + Number(fields[13]) + Number(fields[14]);
      else if (Number(fields[1]) === postmaster) ticks += own;
    }
  } catch {
    return null;
  }
  return ticks * 10;
}

/** CPU time of a process so far, in ms; null where /proc is not there. */
export function processCpu(pid: number): number | null {
  const fields = statOf(`${pid}`);
  return fields ? (Number(fields[11]) + Number(fields[12])) * 10 : null;
}

/** The fields of /proc/PID/stat behind the name, from the state on; undefined when the process is gone. */
function statOf(pid: string): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}
