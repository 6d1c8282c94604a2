// One run: ours under faults, and beside it the two controls that must fail, each with its load and its audit.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Audit, audit, openJobs } from './audit.ts';
import { Client } from './client.ts';
import { type Fault, Injector } from './injector.ts';
import { live } from './load.ts';
import { type Random, random } from './random.ts';
import { Book, type Doubts } from './record.ts';
import type { Relay } from './relay.ts';
import { type Stage, stage, wallets, within } from './stage.ts';

export interface Options {
  readonly seconds: number;
  readonly seed: number;
  readonly say: (line: string) => void;
  /** Gives the run up; what it made is cleared away. */
  readonly signal: AbortSignal;
}

export interface Side {
  audit: Audit;
  doubts: Doubts;
  /** Answers that no fault explains. */
  surprises: string[];
}

export interface Report {
  seed: number;
  seconds: number;
  postgres: string;
  faults: Record<Fault, number>;
  rounds: number;
  /** Why a kind of fault was not injected. */
  notInjected: string[];
  /** Servers and workers that ended by themselves while nothing was done to them. */
  crashes: string[];
  ours: Side;
  /** Repeats in doubt under another key: must double. */
  withoutKeys: Side;
  /** `synchronous_commit = off`, its PostgreSQL killed this often: must lose. */
  asynchronous: Side & { kills: number };
  ok: boolean;
}

const FLOWS = { ours: 24, withoutKeys: 6, asynchronous: 8 };
/** The delay is longer than PostgreSQL's own, so that every kill finds something that was answered and not yet written. */
const LOOSE = { synchronous_commit: 'off', wal_writer_delay: '1s' };
const DRAIN_MS = 60_000;

export const clean = ({ audit, doubts, surprises }: Side): boolean =>
  surprises.length === 0 &&
  doubts.unresolved === 0 &&
  [audit.lost, audit.doubled, audit.wrong, audit.foreign, audit.unended, audit.problems].every(
    ({ count }) => count === 0,
  );

/** A population of clients with a book of their own. */
class Clients {
  readonly book = new Book();
  readonly name: string;
  readonly #client: Client;
  #done: Promise<unknown> = Promise.resolve();

  constructor(name: string, relays: readonly Relay[], from: Random, signal: AbortSignal) {
    this.name = name;
    this.#client = new Client(relays, this.book, from.fork(`${name} choices`), signal);
  }

  async begin(of: Stage, flows: number, from: Random, keyed: boolean, running: () => boolean): Promise<void> {
    const names = await wallets(of.postgres, this.book, this.name, Math.ceil(flows / 2));
    const life = (index: number) => {
      const name = `${this.name}-${index}`;
      const parts = { client: this.#client, book: this.book, wallets: names };
      return live({ ...parts, name, keyed, running, random: from.fork(name) });
    };
    this.#done = Promise.all(Array.from({ length: flows }, (_, index) => life(index)));
    this.#done.catch(() => {});
  }

  /** Until every change that was begun has its answer. */
  async end(): Promise<void> {
    await this.#done;
    this.#client.close();
  }

  async judge(of: Stage): Promise<Side> {
    const { doubts, surprises } = this.book;
    return { audit: await audit(of.postgres, this.book, this.name), doubts, surprises };
  }
}

export async function run(options: Options): Promise<Report> {
  const { seed, seconds, say, signal } = options;
  const chance = random(seed);
  say(`Starting two PostgreSQL, four servers and two workers, and one server with synchronous_commit = off`);
  const [main, loose] = await both(
    () => stage({ servers: 4, workers: 2, smallDisk: true }),
    () => stage({ servers: 1, workers: 0, smallDisk: false, settings: LOOSE }),
  );
  const until = new AbortController();
  const given = AbortSignal.any([signal, until.signal]);
  try {
    let over = false;
    const running = () => !over && !given.aborted;
    const ours = new Clients('ours', main.toServers, chance, given);
    const withoutKeys = new Clients('naive', main.toServers, chance, given);
    const asynchronous = new Clients('loose', loose.toServers, chance, given);
    await ours.begin(main, FLOWS.ours, chance, true, running);
    await withoutKeys.begin(main, FLOWS.withoutKeys, chance, false, running);
    await asynchronous.begin(loose, FLOWS.asynchronous, chance, true, running);
    const injector = new Injector({ ...main, random: chance.fork('faults'), pauseMs: seconds < 20 ? 200 : 800 });
    const stop = setTimeout(() => {
      over = true;
    }, seconds * 1000);
    const ticker = setInterval(() => say(progress(injector, ours.book)), 5_000);
    let kills = 0;
    try {
      await Promise.all([
        injector.run(running, given),
        killAgainAndAgain(loose, running, seconds, () => {
          kills += 1;
        }),
      ]);
      over = true;
      say('No more faults: what is in doubt is asked for again, what is open comes to its end');
      // What is not heard by then is unresolved, and said to be.
      setTimeout(() => until.abort(), DRAIN_MS).unref();
      await Promise.all([ours.end(), withoutKeys.end(), asynchronous.end()]);
    } finally {
      clearTimeout(stop);
      clearInterval(ticker);
    }
    signal.throwIfAborted();
    await drained(main, ours.name);
    const sides = { ours: await ours.judge(main), withoutKeys: await withoutKeys.judge(main) };
    const control = { ...(await asynchronous.judge(loose)), kills };
    const crashes = [main, loose].flatMap((one) => [...one.servers, ...one.workers]).flatMap((one) => one.crashes);
    const { count: doubled } = sides.withoutKeys.audit.doubled;
    const ok = clean(sides.ours) && crashes.length === 0 && doubled > 0 && control.audit.lost.count > 0;
    const notInjected = main.withoutDisk === undefined ? [] : [`disk full: ${main.withoutDisk}`];
    const faults = { faults: injector.counts(), rounds: injector.rounds, notInjected, crashes };
    return { seed, seconds, postgres: main.postgres.version, ...faults, ...sides, asynchronous: control, ok };
  } finally {
    until.abort();
    await Promise.allSettled([main.close(), loose.close()]);
  }
}

/** Both or neither. */
async function both(one: () => Promise<Stage>, other: () => Promise<Stage>): Promise<[Stage, Stage]> {
  const first = await one();
  try {
    return [first, await other()];
  } catch (error) {
    await first.close();
    throw error;
  }
}

/** The control's PostgreSQL, each time with a few seconds of load before; at least once. */
async function killAgainAndAgain(
  loose: Stage,
  running: () => boolean,
  seconds: number,
  onKill: () => void,
): Promise<void> {
  const every = Math.min(4_000, (seconds * 1000) / 3);
  do {
    await sleep(every);
    await loose.postgres.kill();
    onKill();
    await loose.postgres.again();
  } while (running());
}

/** Until workers, sweeps and deadlines have ended every job; what is open after that is named by the audit. */
async function drained({ postgres }: Stage, name: string): Promise<void> {
  await within(DRAIN_MS, async () => (await openJobs(postgres, name)).length === 0);
}

function progress(injector: Injector, book: Book): string {
  const faults = Object.values(injector.counts()).reduce((sum, count) => sum + count, 0);
  const { acknowledged, doubts } = book;
  return `${acknowledged.length} changes acknowledged, ${doubts.answers} answers in doubt, ${faults} faults`;
}
