// Figures: what each step took, by name, with the server's CPU and WAL; medians and spreads of them.
import type pg from 'pg';
import { serverCpu } from './server.ts';

export interface Figure {
  perSecond: number;
  serverCpuUs: number | null;
  walBytes: number;
}

/** One row of the table: medians, and the lowest and highest rate of the rounds. */
export interface Row {
  name: string;
  jobs_per_second: number;
  lowest: number;
  highest: number;
  server_cpu_us_per_job: number;
  wal_bytes_per_job: number;
}

export const median = (numbers: readonly number[]) => quantile(numbers, 0.5);

/** NaN where there are none. */
export function quantile(numbers: readonly number[], q: number): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}

export class Figures {
  readonly #all = new Map<string, Figure[]>();
  readonly #server: { pid: number; client: pg.Client };
  readonly #say: (line: string) => void;

  /** `client` is asked for the position of the WAL: a connection of its own, outside of what is timed. */
  constructor(server: { pid: number; client: pg.Client }, say: (line: string) => void) {
    this.#server = server;
    this.#say = say;
  }

  /** Times some work on so many jobs. Work that is done in another process gives the ms it took by that process's clock. */
  async timed(name: string, jobs: number, work: () => Promise<unknown>): Promise<void> {
    const wal = await this.#wal();
    const cpu = serverCpu(this.#server.pid);
    const started = performance.now();
    const told = await work();
    const ms = typeof told === 'number' ? told : performance.now() - started;
    const cpuAfter = serverCpu(this.#server.pid);
    const figure = {
      perSecond: (jobs / ms) * 1000,
      serverCpuUs: cpu === null || cpuAfter === null ? null : ((cpuAfter - cpu) * 1000) / jobs,
      walBytes: ((await this.#wal()) - wal) / jobs,
    };
    this.#all.set(name, [...this.of(name), figure]);
    this.#say(`  ${name.padEnd(44)} ${Math.round(figure.perSecond).toString().padStart(7)} jobs/s`);
  }

  of(name: string): readonly Figure[] {
    return this.#all.get(name) ?? [];
  }

  /** The median rate; NaN where nothing was timed under that name. */
  rate(name: string): number {
    return median(this.of(name).map((figure) => figure.perSecond));
  }

  rows(): Row[] {
    return [...this.#all].map(([name, all]) => ({
      name,
      jobs_per_second: Math.round(this.rate(name)),
      lowest: Math.round(Math.min(...all.map((figure) => figure.perSecond))),
      highest: Math.round(Math.max(...all.map((figure) => figure.perSecond))),
      server_cpu_us_per_job: Math.round(median(all.map((figure) => figure.serverCpuUs ?? Number.NaN))),
      wal_bytes_per_job: Math.round(median(all.map((figure) => figure.walBytes))),
    }));
  }

  async #wal(): Promise<number> {
    const { rows } = await this.#server.client.query(
      `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as at`,
    );
    return Number(rows[0].at);
  }
}
