// Injects the faults of a run: cuts and stalls all the time, and beside them kills, stops, slow and full disks in turn.
import { setTimeout as sleep } from 'node:timers/promises';
import type { SmallDisk } from './disk.ts';
import type { Postgres } from './postgres.ts';
import type { Program } from './programs.ts';
import type { Random } from './random.ts';
import type { Relay } from './relay.ts';
import { within } from './within.ts';

export const FAULTS = [
  'server killed',
  'worker killed',
  'postmaster killed',
  'PostgreSQL stopped immediately',
  'backend killed',
  'commits slowed',
  'disk full',
  'connection to a server cut',
  'connection to a server stalled',
  'answer of a server lost',
  'connection to PostgreSQL cut',
  'connection to PostgreSQL stalled',
  'answer of PostgreSQL lost',
] as const;
export type Fault = (typeof FAULTS)[number];

export interface Targets {
  readonly postgres: Postgres;
  readonly servers: readonly Program[];
  readonly workers: readonly Program[];
  /** Between clients and servers, and between servers or workers and PostgreSQL. */
  readonly toServers: readonly Relay[];
  readonly toPostgres: readonly Relay[];
  readonly disk: SmallDisk | undefined;
  readonly random: Random;
  /** How many answers clients have heard: a fault is worth something only where there is work to disturb. */
  readonly heard: () => number;
  /** How long to wait for that, in ms. */
  readonly patienceMs: number;
}

export class Injector {
  readonly #of: Targets;
  readonly #counts = new Map<Fault, number>();
  /** Round after round, once each. */
  rounds = 0;

  constructor(targets: Targets) {
    this.#of = targets;
  }

  /** How often each fault happened; answers count where they were really lost. */
  counts(): Record<Fault, number> {
    const lost = (relays: readonly Relay[]) => relays.reduce((sum, relay) => sum + relay.answersLost, 0);
    const counts = Object.fromEntries(FAULTS.map((fault) => [fault, this.#counts.get(fault) ?? 0]));
    counts['answer of a server lost'] = lost(this.#of.toServers);
    counts['answer of PostgreSQL lost'] = lost(this.#of.toPostgres);
    return counts as Record<Fault, number>;
  }

  /** Until it is told to stop, and at least once each. Afterwards everything is whole again. */
  async run(running: () => boolean, given: AbortSignal): Promise<void> {
    let over = false;
    const cuts = this.#cutAndStall(() => !over && !given.aborted);
    while (!given.aborted && (running() || this.rounds === 0)) {
      for (const fault of this.#round()) {
        if (given.aborted || (this.rounds > 0 && !running())) break;
        await fault();
        await this.#recovered(running);
      }
      this.rounds += 1;
    }
    over = true;
    await cuts;
    for (const relay of [...this.#of.toServers, ...this.#of.toPostgres]) relay.calm();
  }

  /** Until clients are served again, or it is clear that they are not; on a slow machine that takes as long as it takes. */
  async #recovered(running: () => boolean): Promise<void> {
    const wanted = this.#of.heard() + this.#of.random.between(5, 60);
    await within(this.#of.patienceMs, async () => this.#of.heard() >= wanted || !running());
  }

  /** Statements that PostgreSQL refused because its disk was full. */
  get diskFull(): number {
    return this.#of.toPostgres.reduce((sum, relay) => sum + relay.diskFull, 0);
  }

  #count(fault: Fault, times = 1): void {
    this.#counts.set(fault, (this.#counts.get(fault) ?? 0) + times);
  }

  /** One of each, in an order of its own. */
  #round(): (() => Promise<void>)[] {
    const { servers, workers, random } = this.#of;
    const all = [
      ...servers.map((server) => () => this.#kill('server killed', server)),
      ...workers.map((worker) => () => this.#kill('worker killed', worker)),
      () => this.#end('postmaster killed', (postgres) => postgres.kill()),
      () => this.#end('PostgreSQL stopped immediately', (postgres) => postgres.stopImmediately()),
      () => this.#killBackend(),
      () => this.#slowCommits(),
      ...(this.#of.disk ? [() => this.#fillDisk()] : []),
    ];
    return all
      .map((fault) => ({ fault, at: random.next() }))
      .sort((a, b) => a.at - b.at)
      .map(({ fault }) => fault);
  }

  async #kill(fault: Fault, program: Program): Promise<void> {
    // It may just be starting again after PostgreSQL was gone.
    for (let tries = 0; tries < 50; tries++) {
      if (program.kill()) return this.#count(fault);
      await sleep(50);
    }
  }

  async #end(fault: Fault, end: (postgres: Postgres) => Promise<void>): Promise<void> {
    await end(this.#of.postgres);
    this.#count(fault);
    await this.#of.postgres.again();
  }

  async #killBackend(): Promise<void> {
    if (await this.#of.postgres.killBackend()) this.#count('backend killed');
  }

  /** Every commit waits before its flush, as on a disk that takes its time. */
  async #slowCommits(): Promise<void> {
    const set = async (to: string) => {
      for (const name of ['commit_delay', 'commit_siblings'])
        await this.#of.postgres.query(
          to === '' ? `alter system reset ${name}` : `alter system set ${name} = ${name === 'commit_delay' ? to : 0}`,
        );
      await this.#of.postgres.query('select pg_reload_conf()');
    };
    try {
      await set('100000');
      this.#count('commits slowed');
      await sleep(1_200);
    } catch {
      // PostgreSQL was recovering: the next round slows it.
    } finally {
      await this.#again(() => set(''));
    }
  }

  async #fillDisk(): Promise<void> {
    const { disk, postgres } = this.#of;
    if (!disk) return;
    const before = this.diskFull;
    try {
      if (disk.fill()) this.#count('disk full');
      // Until a statement has met it, or PostgreSQL itself, which ends if it cannot write its log.
      await within(5_000, async () => this.diskFull > before || !postgres.isAlive);
      await sleep(500);
    } finally {
      disk.free();
      // A full disk may have ended it.
      await postgres.again();
    }
  }

  async #again(work: () => Promise<void>): Promise<void> {
    for (let tries = 0; ; tries++) {
      try {
        return await work();
      } catch (error) {
        if (tries === 100) throw error;
        await sleep(100);
      }
    }
  }

  async #cutAndStall(running: () => boolean): Promise<void> {
    const { toServers, toPostgres, random } = this.#of;
    for (const relay of toServers) relay.lose(0.08, random);
    for (const relay of toPostgres) relay.lose(0.05, random);
    for (let tick = 0; running(); tick++) {
      await sleep(random.between(20, 80));
      if (tick % 20 === 3) this.#count('connection to a server cut', random.pick(toServers).cut());
      if (tick % 20 === 13) this.#count('connection to PostgreSQL cut', random.pick(toPostgres).cut());
      if (tick % 60 === 15) this.#stall('connection to a server stalled', random.pick(toServers));
      if (tick % 60 === 45) this.#stall('connection to PostgreSQL stalled', random.pick(toPostgres));
    }
  }

  #stall(fault: Fault, relay: Relay): void {
    relay.stall(this.#of.random.pick([100, 500, 2_500]));
    this.#count(fault);
  }
}
