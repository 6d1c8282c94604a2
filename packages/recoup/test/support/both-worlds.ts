// The model and a database side by side: every command is given to both, and then they are compared in full.
import { expect } from 'vitest';
import { type Action, apply } from '../../model/model.ts';
import { advance, emptyWorld, type Job, jobOf, keyOf, type Queue, queueOf, type World } from '../../model/world.ts';
import { type Call, type Mode, sendAll } from './calls.ts';
import { ended, SNAPSHOT, seen } from './snapshot.ts';
import type { Stage } from './stage.ts';

export type Command =
  | { readonly kind: 'calls'; readonly calls: readonly Call[]; readonly mode: Mode }
  | { readonly kind: 'lease'; readonly queue: string; readonly count: number; readonly request: string | null }
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'sweep' }
  | { readonly kind: 'prune' };

/** Stands for the attempt that a job is in when a call is made; one less for the one before it. */
export const LATEST = 1000;
const HOUR = 3_600_000;
let runs = 0;

export class BothWorlds {
  readonly #stage: Stage;
  readonly #start: number;
  #world: World;
  /** What each lease request was given, and when. */
  readonly #requests = new Map<string, { jobs: Job[]; at: number }>();
  readonly #endedAt = new Map<string, number>();
  /** Whether the order of a wallet's entries is known: calls that share a statement may be booked in another one. */
  #ordered = true;

  private constructor(stage: Stage, world: World, start: number) {
    this.#stage = stage;
    this.#world = world;
    this.#start = start;
  }

  static async begin(stage: Stage, queues: Record<string, Partial<Queue>>): Promise<BothWorlds> {
    const tables = ['wallets', 'entries', 'notes', 'jobs', 'attempts', 'lease_requests'].map(
      (table) => `recoup.${table}`,
    );
    const empty = tables.map((table) => `delete from ${table}`).join('; ');
    await stage.db.query(`begin; alter table recoup.entries disable trigger entries_append_only; ${empty};
      alter table recoup.entries enable always trigger entries_append_only; delete from recoup.queues where id <> '*'; commit`);
    // Later than the run before: a handle may remember where it read.
    const start = Date.UTC(2030, 0, 1) + runs++ * 10 * 24 * HOUR;
    await stage.db.setClock(new Date(start));
    let world = emptyWorld();
    for (const [queue, settings] of Object.entries(queues)) {
      world = apply(world, { transition: 'queue.configure', input: { queue, settings } }).world;
      await stage.recoup.queues.configure(queue, settings);
    }
    return new BothWorlds(stage, world, start);
  }

  async run(command: Command): Promise<void> {
    if (command.kind === 'calls') await this.#calls(command.calls, command.mode);
    else if (command.kind === 'lease') await this.#lease(command.queue, command.count, command.request);
    else if (command.kind === 'sweep') await this.#sweep();
    else if (command.kind === 'prune') await this.#prune();
    else {
      this.#world = advance(this.#world, command.ms);
      await this.#stage.db.advance(command.ms);
    }
    await this.compare();
  }

  #apply(action: Action): string {
    const { world, answer } = apply(this.#world, action);
    this.#world = world;
    const name = 'outcome' in answer ? answer.outcome : answer.refusal;
    const at = action.input as { wallet?: string; job?: string };
    const job = at.job === undefined ? undefined : jobOf(world, at as { wallet: string; job: string });
    if (job && (job.succeeded || job.canceled) && !this.#endedAt.has(keyOf({ wallet: job.wallet, job: job.id }))) {
      this.#endedAt.set(keyOf({ wallet: job.wallet, job: job.id }), world.clock);
    }
    return name;
  }

  /** A repeat that brings a final price which is not known yet settles it: a second transition of the same call. */
  #late({ transition, input }: Call, name: string): Call | undefined {
    if (name !== 'duplicate') return undefined;
    const finalPrice =
      transition === 'job.succeed' ? input.finalPrice : transition === 'job.cancel' ? input.kept : undefined;
    if (finalPrice === undefined) return undefined;
    const { wallet, job } = input as { wallet: string; job: string };
    return jobOf(this.#world, { wallet, job })?.settled
      ? undefined
      : { transition: 'job.settle', input: { wallet, job, finalPrice } };
  }

  /** What is named by state (`@dead`) and attempt (LATEST) as it is when the calls are made. */
  #resolved(call: Call): Call {
    const { wallet, job, attempt } = call.input as { wallet: string; job?: string; attempt?: number };
    if (job === undefined) return call;
    const wanted = Object.values(this.#world.jobs).find(({ state }) => `@${state}` === job);
    const named = job.startsWith('@')
      ? wanted
        ? { wallet: wanted.wallet, job: wanted.id }
        : { wallet: 'u', job: 'a' }
      : { wallet, job };
    if (attempt === undefined || attempt < LATEST - 1) return { ...call, input: { ...call.input, ...named } } as Call;
    const latest = jobOf(this.#world, named)?.attempt ?? 1;
    const input = { ...call.input, ...named, attempt: Math.max(latest + attempt - LATEST, 1) };
    return { ...call, input } as Call;
  }

  async #calls(given: readonly Call[], mode: Mode): Promise<void> {
    const calls = given.map((call) => this.#resolved(call));
    const answers = await sendAll(this.#stage.recoup, calls, mode);
    const together = mode === 'turn' || mode === 'many';
    if (together && calls.length > 1) this.#ordered = false;
    const late: Call[] = [];
    const expected = calls.map((call) => {
      const name = this.#apply(call);
      const settle = this.#late(call, name);
      if (settle && together) late.push(settle);
      else if (settle) this.#apply(settle);
      return name;
    });
    for (const settle of late) this.#apply(settle);
    expect(answers).toEqual(expected);
  }

  #ready(queue: string): Job[] {
    const { clock, jobs } = this.#world;
    if (queueOf(this.#world, queue).paused) return [];
    return Object.values(jobs).filter((job) => job.queue === queue && job.notBefore !== null && job.notBefore <= clock);
  }

  async #lease(queue: string, count: number, request: string | null): Promise<void> {
    const ready = this.#ready(queue);
    const leased = await this.#stage.recoup.jobs.lease({
      queue,
      count,
      ...(request === null ? {} : { requestId: request }),
    });
    const got = leased.map(({ job }) => `${job.wallet}/${job.id} ${job.attempt}`).sort();
    // A request id counts within its queue.
    const asked = request === null ? null : `${queue} ${request}`;
    const known = asked === null ? undefined : this.#requests.get(asked);
    if (known) {
      const still = known.jobs.filter((job) => {
        const now = jobOf(this.#world, { wallet: job.wallet, job: job.id });
        return now?.state === 'running' && now.attempt === job.attempt + 1;
      });
      expect(got).toEqual(still.map((job) => `${job.wallet}/${job.id} ${job.attempt + 1}`).sort());
      return;
    }
    expect(leased.length).toBe(Math.min(count, ready.length));
    const taken = leased.map(({ job }) => ready.find((one) => one.wallet === job.wallet && one.id === job.id));
    expect(taken).not.toContain(undefined);
    for (const job of taken as Job[])
      this.#apply({ transition: 'job.lease', input: { wallet: job.wallet, job: job.id } });
    expect(got).toEqual((taken as Job[]).map((job) => `${job.wallet}/${job.id} ${job.attempt + 1}`).sort());
    if (asked !== null && taken.length > 0) this.#requests.set(asked, { jobs: taken as Job[], at: this.#world.clock });
  }

  async #sweep(): Promise<void> {
    const swept = await this.#stage.recoup.sweep();
    const until = (job: Job) => job.leaseUntil ?? job.deadlineAt ?? Number.POSITIVE_INFINITY;
    const due = Object.values(this.#world.jobs).filter((job) => until(job) <= this.#world.clock);
    // Several at once share a statement.
    if (due.length > 1) this.#ordered = false;
    const names = due.map(({ wallet, id, attempt }) =>
      this.#apply({ transition: 'job.lapse', input: { wallet, job: id, attempt } }),
    );
    expect(names.every((name) => ['retrying', 'dead', 'refunded'].includes(name))).toBe(true);
    expect(swept).toEqual({ lapsed: due.length, failed: 0, pruned: 0 });
    for (const [id, { at }] of this.#requests) if (at < this.#world.clock - HOUR) this.#requests.delete(id);
  }

  async #prune(): Promise<void> {
    const old = [...this.#endedAt].filter(([key, at]) => at < this.#world.clock && this.#world.jobs[key]);
    expect(await this.#stage.recoup.jobs.prune({ olderThanMs: 0 })).toBe(old.length);
    for (const [key] of old) {
      const { wallet, id } = this.#world.jobs[key]!;
      this.#apply({ transition: 'job.prune', input: { wallet, job: id } });
    }
  }

  /** Everything that both know: wallets, entries, jobs, ended attempts. */
  async compare(): Promise<void> {
    const { wallets, entries, jobs, attempts } = this.#world;
    const words = entries.map(
      (e) => `${e.wallet} ${e.type} ${e.amount} ${e.job} ${e.key}${this.#ordered ? ` ${e.seq} ${e.balance}` : ''}`,
    );
    const expected = {
      wallets: Object.fromEntries(
        Object.entries(wallets).map(([id, w]) => [id, [w.status, w.balance, w.overdraftLimit, w.lastSeq]]),
      ),
      entries: words.sort(),
      jobs: Object.fromEntries(Object.entries(jobs).map(([key, job]) => [key, seen(job)])),
      attempts: attempts.map(ended).sort(),
    };
    const [row] = await this.#stage.db.query(SNAPSHOT, [this.#start, this.#ordered, null]);
    const found = row!.world as typeof expected;
    expect({ ...found, entries: found.entries.sort(), attempts: found.attempts.sort() }).toEqual(expected);
  }
}
