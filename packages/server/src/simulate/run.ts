// Runs a recording through the library: each answer is reported at its instant, to a database that nobody else has.
import { type InboxItem, open, type Recoup } from 'recoup';
import type { Rules } from 'recoup/decoders';
import { type TestDatabase, testDatabase } from 'recoup/testing';
import { startEmbedded } from '../embedded/embedded.ts';
import { type Event, readEvents } from './events.ts';
import type { Account, Recorded, Recording } from './recording.ts';

/** What became of one answer. */
export interface Told {
  answer: Recorded;
  /** The class of the decoders; null: it did what was asked. */
  class: string | null;
  outcome: string;
  /** The operator's rule that decided. */
  rule: string | null;
  /** How many values were left out as implausible. */
  implausible: number;
}

export interface Ran {
  told: Told[];
  /** What happened to blocks, by block and in the order of time. */
  events: Event[];
  /** What needs a person at the end. */
  inbox: InboxItem[];
}

export interface Watch {
  /** What is being done that takes a while. */
  onProgress: (line: string) => void;
  /** Before each answer; throws where it is to stop. */
  onAnswer: (done: number, answer: Recorded) => void;
}

/** Nothing is left behind, however it ends. */
export async function runRecording(recording: Recording, rules: Rules | undefined, watch: Watch): Promise<Ran> {
  const server = await startEmbedded({ throwaway: true, onProgress: watch.onProgress, settings: QUICK });
  try {
    watch.onAnswer(0, recording.answers[0]!);
    await using database = await testDatabase(server.url);
    // How old an answer is goes by this machine's clock, all else by the database's: both stand where the recording does.
    const machine = { now: recording.answers[0]!.at.getTime() };
    await using recoup = await open({
      connection: database.url,
      sweep: false,
      maxConnections: 4,
      now: () => machine.now,
      ...(rules && { decoderRules: rules }),
    });
    return await new Replay(database, machine, recoup, recording, watch).run();
  } finally {
    await server.stop();
  }
}

/** Nothing of it outlives the process: nothing has to reach the disk. */
const QUICK = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };
/** A sweep ends what has been half open for longer than this. */
const UNUSED_MS = 86_400_000;

class Replay {
  readonly #database: TestDatabase;
  readonly #machine: { now: number };
  readonly #recoup: Recoup;
  readonly #recording: Recording;
  readonly #watch: Watch;
  readonly #unmet: Map<string, Account>;
  /** Until then no sweep has anything to end: what is opened later comes due later. */
  #quietUntil = Number.NEGATIVE_INFINITY;

  constructor(database: TestDatabase, machine: { now: number }, recoup: Recoup, recording: Recording, watch: Watch) {
    this.#database = database;
    this.#machine = machine;
    this.#recoup = recoup;
    this.#recording = recording;
    this.#watch = watch;
    this.#unmet = new Map(recording.accounts.map((account) => [account.upstream, account]));
  }

  async run(): Promise<Ran> {
    const told: Told[] = [];
    for (const answer of this.#recording.answers) {
      this.#watch.onAnswer(told.length, answer);
      await this.#sweepUntil(answer.at);
      await this.#database.setClock(answer.at);
      this.#machine.now = answer.at.getTime();
      await this.#meet(answer.upstream);
      told.push(await this.#report(answer));
    }
    return { told, events: await readEvents(this.#database), inbox: await this.#needsPerson() };
  }

  /** The sweeps between two answers, each at the instant at which it first finds something: in between they would find nothing. */
  async #sweepUntil(at: Date): Promise<void> {
    if (this.#quietUntil > at.getTime()) return;
    let due = await this.#dueAfter(this.#quietUntil - 1);
    while (due <= at.getTime()) {
      await this.#database.setClock(new Date(due));
      await this.#recoup.sweep();
      due = await this.#dueAfter(due);
    }
    this.#quietUntil = Math.min(at.getTime() + UNUSED_MS, due);
  }

  /** When a sweep next ends something of what is open now. */
  async #dueAfter(since: number): Promise<number> {
    let next = Number.POSITIVE_INFINITY;
    for (let cursor: number | null = null; ; ) {
      const page = await this.#recoup.upstreams.blocks({ cursor, limit: 1000 });
      for (const { until } of page.blocks) {
        const due = until === null ? next : until.getTime() + UNUSED_MS + 1;
        if (due > since) next = Math.min(next, due);
      }
      if (page.cursor === null) return next;
      cursor = page.cursor;
    }
  }

  async #meet(upstream: string): Promise<void> {
    const account = this.#unmet.get(upstream);
    if (account === undefined) return;
    const { route, ...register } = account;
    await this.#recoup.upstreams.register({ ...register, ...(route !== null && { route }) });
    this.#unmet.delete(upstream);
  }

  async #report(answer: Recorded): Promise<Told> {
    const { at, upstream, model, status, headers, body, error, elapsedMs } = answer;
    const reported = await this.#recoup.upstreams.report({
      upstream,
      answer: { status, headers, body, error, receivedAt: at },
      ...(model !== null && { model }),
      ...(elapsedMs !== null && { elapsedMs }),
    });
    const { class: kind, outcome, rule, dropped } = reported;
    return { answer, class: kind, outcome, rule, implausible: dropped.length };
  }

  async #needsPerson(): Promise<InboxItem[]> {
    const items: InboxItem[] = [];
    for (;;) {
      const after = items.at(-1)?.item;
      const page = await this.#recoup.inbox.list({ limit: 1000, ...(after !== undefined && { after }) });
      items.push(...page);
      if (page.length < 1000) return items;
    }
  }
}
