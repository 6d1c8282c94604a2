// One run: ours under faults, and beside it the two controls that must fail, each with its load and its audit.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Finding, finding, openJobs } from './audit.ts';
import { Clients, clean, type Side } from './clients.ts';
import { FAULTS, type Fault, Injector } from './injector.ts';
import type { Program } from './programs.ts';
import { random } from './random.ts';
import { type Stage, stage } from './stage.ts';
import { auditUses, type Uses } from './uses.ts';
import { within } from './within.ts';

export interface Options {
  readonly seconds: number;
  readonly seed: number;
  readonly say: (line: string) => void;
  /** Gives the run up; what it made is cleared away. */
  readonly signal: AbortSignal;
}

export interface Report {
  seed: number;
  seconds: number;
  postgres: string;
  faults: Record<Fault, number>;
  rounds: number;
  /** Statements that PostgreSQL refused because its disk was full. */
  refusedByFullDisk: number;
  /** Why a kind of fault was not injected. */
  notInjected: string[];
  /** Servers and workers that ended by themselves while nothing was done to them. */
  crashes: string[];
  /** Attempts that workers began, and those that more than one of them began: a lease is in one hand. */
  attempts: { begun: number; twice: Finding };
  /** What the workers used of a pool of upstreams. */
  uses: Uses;
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
/** The control's PostgreSQL is killed so often at least, each time this many answers after its start. */
const MIN_KILLS = 3;
/** So much longer a run may take until each kind of fault has been there, on a machine that has no time. */
const MORE_MS = 45_000;
const AT_STAKE = 30;
const DRAIN_MS = 60_000;

export async function run(options: Options): Promise<Report> {
  options.say(
    'Starting four servers and two workers on one PostgreSQL, one server on another with synchronous_commit = off',
  );
  const main = await stage({ servers: 4, workers: 2, smallDisk: true });
  try {
    const loose = await stage({ servers: 1, workers: 0, smallDisk: false, settings: LOOSE });
    try {
      return await new Run(options, main, loose).report();
    } finally {
      await loose.close();
    }
  } finally {
    await main.close();
  }
}

function begun(workers: readonly Program[]): Report['attempts'] {
  const lines = workers.flatMap((worker) => worker.lines).filter((line) => line.startsWith('run '));
  const seen = new Set<string>();
  return { begun: lines.length, twice: finding(lines.filter((line) => seen.has(line) || !seen.add(line))) };
}

class Run {
  readonly #options: Options;
  readonly #main: Stage;
  readonly #loose: Stage;
  readonly #injector: Injector;
  /** Gives up what is still not heard. */
  readonly #over = new AbortController();
  #timeIsUp = false;
  #patienceIsOver = false;
  #ended = false;
  #kills = 0;
  #heard = () => 0;

  constructor(options: Options, main: Stage, loose: Stage) {
    this.#options = options;
    this.#main = main;
    this.#loose = loose;
    const { seed, seconds, signal } = options;
    const patienceMs = seconds < 20 ? 800 : 5_000;
    const heard = () => this.#heard();
    this.#injector = new Injector({ ...main, random: random(seed).fork('faults'), heard, patienceMs });
    signal.addEventListener('abort', () => this.#over.abort(), { once: true });
    if (signal.aborted) this.#over.abort();
  }

  /** Whether every kind of fault has been there that can be made here. */
  #tried(): boolean {
    const counts = this.#injector.counts();
    return FAULTS.every((fault) => counts[fault] > 0 || (fault === 'disk full' && this.#main.disk === undefined));
  }

  async report(): Promise<Report> {
    const { seed, seconds, signal } = this.#options;
    const [ours, withoutKeys, asynchronous] = await this.#load();
    signal.throwIfAborted();
    // Workers, sweeps and deadlines end every job; what is open after that is named by the audit.
    await within(DRAIN_MS, async () => (await openJobs(this.#main.postgres, 'ours')).length === 0);
    const sides = {
      ours: await ours.judge(),
      withoutKeys: await withoutKeys.judge(),
      asynchronous: { ...(await asynchronous.judge()), kills: this.#kills },
    };
    const programs = [this.#main, this.#loose].flatMap((one) => [...one.servers, ...one.workers]);
    const crashes = programs.flatMap((program) => program.crashes);
    const attempts = begun(this.#main.workers);
    const uses = await auditUses(
      this.#main.postgres,
      this.#main.workers.flatMap(({ lines }) => lines),
    );
    const controls = sides.withoutKeys.audit.doubled.count > 0 && sides.asynchronous.audit.lost.count > 0;
    return {
      ...{ seed, seconds, postgres: this.#main.postgres.version },
      ...{ faults: this.#injector.counts(), rounds: this.#injector.rounds, refusedByFullDisk: this.#injector.diskFull },
      ...{ notInjected: this.#main.withoutDisk ? [`disk full: ${this.#main.withoutDisk}`] : [], crashes },
      ...{ attempts, uses, ...sides },
      ok:
        clean(sides.ours) &&
        [attempts.twice, uses.lost, uses.kept].every(({ count }) => count === 0) &&
        crashes.length === 0 &&
        controls,
    };
  }

  /** Load and faults together, then the load alone until everything that was begun is answered. */
  async #load(): Promise<[Clients, Clients, Clients]> {
    const { seconds, say, seed } = this.#options;
    const given = this.#over.signal;
    const enough = () =>
      this.#timeIsUp &&
      this.#injector.rounds > 0 &&
      this.#kills >= MIN_KILLS &&
      (this.#tried() || this.#patienceIsOver);
    const running = () => !this.#ended && !given.aborted && !enough();
    const common = { random: random(seed), running, given };
    const begin = (name: string, on: Stage, flows: number, keyed: boolean) =>
      Clients.begin({ ...common, name, on, flows, keyed });
    const ours = await begin('ours', this.#main, FLOWS.ours, true);
    const withoutKeys = await begin('naive', this.#main, FLOWS.withoutKeys, false);
    const asynchronous = await begin('loose', this.#loose, FLOWS.asynchronous, true);
    const all: [Clients, Clients, Clients] = [ours, withoutKeys, asynchronous];
    say('Clients at work, faults from now on');
    this.#heard = () => ours.book.heard;
    const stop = setTimeout(() => {
      this.#timeIsUp = true;
    }, seconds * 1000);
    const patience = setTimeout(
      () => {
        this.#patienceIsOver = true;
      },
      seconds * 1000 + MORE_MS,
    );
    const ticker = setInterval(() => say(this.#progress(ours)), 5_000);
    try {
      await this.#together([this.#injector.run(running, given), this.#killAgainAndAgain(asynchronous, running)]);
      this.#ended = true;
      say('No more faults: what is in doubt is asked for again, what is open comes to its end');
      // What is not heard by then is unresolved, and said to be.
      setTimeout(() => this.#over.abort(), DRAIN_MS).unref();
      await Promise.all(all.map((clients) => clients.end()));
    } finally {
      this.#over.abort();
      clearTimeout(stop);
      clearTimeout(patience);
      clearInterval(ticker);
      await Promise.allSettled(all.map((clients) => clients.end()));
    }
    return all;
  }

  /** Where one fails the others are over, too, before anything is cleared away. */
  async #together(tasks: readonly Promise<void>[]): Promise<void> {
    try {
      await Promise.all(tasks);
    } catch (error) {
      this.#over.abort();
      await Promise.allSettled(tasks);
      throw error;
    }
  }

  /** The control's PostgreSQL, each time with fresh answers at stake. */
  async #killAgainAndAgain({ book }: Clients, running: () => boolean): Promise<void> {
    while (running()) {
      const before = book.acknowledged.length;
      await within(5_000, async () => !running() || book.acknowledged.length >= before + AT_STAKE);
      await this.#loose.postgres.kill();
      this.#kills += 1;
      await this.#loose.postgres.again();
      await sleep(1_000);
    }
  }

  #progress({ book }: Clients): string {
    const faults = Object.values(this.#injector.counts()).reduce((sum, count) => sum + count, 0);
    return `${book.acknowledged.length} changes acknowledged, ${book.doubts.answers} answers in doubt, ${faults} faults`;
  }
}
