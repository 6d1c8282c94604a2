// What a run stands on: a folder, a PostgreSQL, servers and workers behind relays; and all of it gone at the end.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from '../../packages/recoup/src/index.ts';
import { SmallDisk } from './disk.ts';
import { QUEUE } from './load.ts';
import { Postgres } from './postgres.ts';
import { type Program, server, worker } from './programs.ts';
import type { Book } from './record.ts';
import { Relay } from './relay.ts';
import { openPool } from './uses.ts';

const GRANTED = 1_000_000_000;

export interface Stage {
  readonly postgres: Postgres;
  readonly servers: readonly Program[];
  readonly workers: readonly Program[];
  readonly toServers: readonly Relay[];
  readonly toPostgres: readonly Relay[];
  readonly disk: SmallDisk | undefined;
  /** Why there is no small disk. */
  readonly withoutDisk: string | undefined;
  close(): Promise<void>;
}

export interface Plan {
  readonly servers: number;
  readonly workers: number;
  readonly smallDisk: boolean;
  readonly settings?: Record<string, string>;
}

/** Everything that is to be undone, the last thing first. */
class Undo {
  readonly #all: (() => Promise<void> | void)[] = [];

  add(undo: () => Promise<void> | void): void {
    this.#all.unshift(undo);
  }

  async run(): Promise<void> {
    const failures: unknown[] = [];
    for (const undo of this.#all.splice(0)) await (async () => undo())().catch((error) => failures.push(error));
    if (failures.length > 0) throw new AggregateError(failures, 'the run could not be cleared away');
  }
}

export async function stage(plan: Plan): Promise<Stage> {
  const undo = new Undo();
  try {
    return await build(plan, undo);
  } catch (error) {
    await undo.run();
    throw error;
  }
}

async function build(plan: Plan, undo: Undo): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'recoup-faults-'));
  undo.add(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));
  // PostgreSQL does not run as root: another user has to get in.
  chmodSync(folder, 0o755);
  const disk = plan.smallDisk ? SmallDisk.make(join(folder, 'disk')) : 'no small disk was asked for';
  if (disk instanceof SmallDisk) undo.add(() => disk.remove());
  const at = disk instanceof SmallDisk ? join(disk.folder, 'postgres') : join(folder, 'postgres');
  const postgres = await Postgres.start(at, { max_connections: '200', ...plan.settings });
  undo.add(() => postgres.stop());
  const [toServers, toPostgres]: [Relay[], Relay[]] = [[], []];
  const relay = async (speaks: 'http' | 'postgres', list: Relay[]) => {
    const one = await Relay.open(speaks);
    list.push(one);
    undo.add(() => one.close());
    return one;
  };
  const recoup = await open({ connection: postgres.url, migrate: true, sweep: false });
  // Short, so that what a kill leaves behind comes to its end within the run.
  await recoup.queues.configure(QUEUE, { leaseMs: 1_500, backoffBaseMs: 50, backoffMaxMs: 300, maxFailures: 4 });
  await openPool(recoup);
  await recoup.close();
  const started = async (make: (url: string, index: number) => Program | Promise<Program>, count: number) => {
    const programs: Program[] = [];
    for (let index = 0; index < count; index++) {
      const program = await make(postgres.through(await relay('postgres', toPostgres)), index + 1);
      programs.push(program);
      undo.add(() => program.stop());
    }
    return programs;
  };
  const servers = await started(
    async (url, n) => server(`server ${n}`, url, await relay('http', toServers)),
    plan.servers,
  );
  const workers = await started((url, n) => worker(`worker ${n}`, url, QUEUE), plan.workers);
  const withoutDisk = disk instanceof SmallDisk ? undefined : disk;
  const parts = { postgres, servers, workers, toServers, toPostgres, withoutDisk };
  return { ...parts, disk: disk instanceof SmallDisk ? disk : undefined, close: () => undo.run() };
}

/** Opens wallets with credit enough for the whole run, before any fault, and writes the grants down. */
export async function wallets(postgres: Postgres, book: Book, prefix: string, count: number): Promise<string[]> {
  const recoup = await open({ connection: postgres.url, sweep: false });
  const names = Array.from({ length: count }, (_, index) => `${prefix}-wallet-${index}`);
  for (const wallet of names) {
    await recoup.wallets.open({ wallet, customer: 'customer' });
    const { outcome } = await recoup.wallets.grant({ wallet, key: 'start', amount: GRANTED });
    book.intend('grant', wallet, 'start', GRANTED).answer = outcome;
  }
  await recoup.close();
  return names;
}
