// Random signals of callers, workers and people, about jobs as the model has them now: mostly apt, often late or wrong.
import { type At, type Job, keyOf, type World } from '../model/world.ts';
import type { Call } from './calls.ts';
import type { Dice } from './dice.ts';

export type SignalName = Call['transition'];
type InputOf<T extends SignalName> = Extract<Call, { transition: T }>['input'];

const QUEUES = ['early', 'early', 'late', 'late', 'plain', null] as const;
const WALLETS = ['u', 'u', 'u', 'u', 'v', 'v', 'v', 'rich', 'rich', 'w'];
/** Jobs that have not ended, at most: more of them would only be more of the same. */
const LIVE = 14;
const FINAL_PRICES = [0, 25, 25, 55] as const;
const NEAR_LIMIT = Number.MAX_SAFE_INTEGER - 60;

/** What starts every world: wallets that can pay, one of them up to its limit. */
export const OPENING: readonly Call[] = [
  { transition: 'wallet.open', input: { wallet: 'u', customer: 'c', overdraftLimit: 0 } },
  { transition: 'wallet.open', input: { wallet: 'v', customer: 'c', overdraftLimit: 15 } },
  { transition: 'wallet.open', input: { wallet: 'rich', customer: 'c', overdraftLimit: 0 } },
  { transition: 'wallet.grant', input: { wallet: 'u', key: 'k0', amount: 100 } },
  { transition: 'wallet.grant', input: { wallet: 'v', key: 'k0', amount: 60 } },
  { transition: 'wallet.grant', input: { wallet: 'rich', key: 'k0', amount: NEAR_LIMIT } },
];

const live = ({ jobs }: World) => Object.values(jobs).filter((job) => !job.succeeded && !job.canceled).length;

export class Signals {
  readonly #dice: Dice;
  #jobs = 0;
  #keys = 0;

  constructor(dice: Dice) {
    this.#dice = dice;
  }

  /** A signal of that kind. */
  make(transition: SignalName, world: World): Call {
    const input: InputOf<SignalName> = this.#makers[transition](world);
    return { transition, input } as Call;
  }

  readonly #makers: { readonly [T in SignalName]: (world: World) => InputOf<T> } = {
    'wallet.open': () => ({
      wallet: this.#dice.pick(['u', 'v', 'w']),
      customer: this.#dice.pick(['c', 'c', 'other']),
      overdraftLimit: this.#dice.pick([0, 0, 15]),
    }),
    'wallet.change': () => {
      const wallet = this.#wallet();
      const closed = this.#dice.pick(['active', 'active', 'closed'] as const);
      return this.#dice.chance(0.5) ? { wallet, status: closed } : { wallet, overdraftLimit: this.#dice.pick([0, 15]) };
    },
    'wallet.grant': () => ({ wallet: this.#wallet(), key: this.#key(), amount: this.#dice.pick([50, 50, 100, 51]) }),
    'wallet.adjust': (world) => {
      const job = this.#dice.chance(0.5) ? { job: this.#at(world).job } : {};
      return { wallet: this.#wallet(), key: this.#key(), amount: this.#dice.pick([-9, 9]), ...job };
    },
    'queue.configure': () => ({ queue: this.#dice.pick(['early', 'late', 'plain']), settings: this.#settings() }),
    'job.submit': (world) => this.#submission(world),
    'job.extend': (world) => this.#ofAttempt(world, 'running', 'running', 'waiting'),
    'job.handOver': (world) => ({ ...this.#ofAttempt(world, 'running', 'running', 'waiting'), deadlineMs: 60_000 }),
    'job.fail': (world) => ({
      ...this.#maybeAttempt(world, 'running', 'running', 'waiting', 'queued'),
      verdict: this.#dice.pick(['presumed', 'definitive']),
      retryable: this.#dice.pick([true, true, false]),
      ...this.#maybe('retryAfterMs', [undefined, undefined, 0, 40_000, 90_000]),
    }),
    'job.succeed': (world) => ({
      ...this.#maybeAttempt(world, 'running', 'running', 'waiting', 'queued', 'dead', 'failed'),
      ...this.#maybe('finalPrice', [undefined, undefined, ...FINAL_PRICES]),
    }),
    'job.settle': (world) => ({
      ...this.#at(world, 'succeeded', 'canceled'),
      finalPrice: this.#dice.pick(FINAL_PRICES),
    }),
    'job.cancel': (world) => ({
      ...this.#at(world, 'running', 'waiting', 'queued', 'dead'),
      ...this.#maybe('kept', [undefined, undefined, ...FINAL_PRICES]),
    }),
    'job.release': (world) => this.#ofAttempt(world, 'running', 'running', 'queued'),
    'job.redrive': (world) => this.#maybeAttempt(world, 'dead', 'dead', 'discarded'),
    'job.discard': (world) => this.#maybeAttempt(world, 'dead', 'dead', 'discarded'),
  };

  #wallet(): string {
    return this.#dice.chance(0.03) ? 'nowhere' : this.#dice.pick(WALLETS);
  }

  /** A new key, or one of those before. */
  #key(): string {
    return `k${this.#dice.chance(0.6) ? ++this.#keys : this.#dice.between(1, Math.max(this.#keys, 1))}`;
  }

  #maybe<K extends string, V>(name: K, some: readonly (V | undefined)[]): { [P in K]?: V } {
    const value = this.#dice.pick(some);
    return (value === undefined ? {} : { [name]: value }) as { [P in K]?: V };
  }

  #settings(): InputOf<'queue.configure'>['settings'] {
    return this.#dice.pick([
      { paused: true },
      { paused: false },
      { paused: false },
      { maxReleases: this.#dice.between(0, 3) },
      { leaseMs: this.#dice.pick([1000, 30_000]) },
      { retryAfterMaxMs: this.#dice.pick([50_000, 3_600_000]) },
      { backoffBaseMs: 31_000_000_000 },
    ]);
  }

  /** Whether there is so little to do that most signals would be about nothing. */
  isQuiet(world: World): boolean {
    return live(world) < 5;
  }

  /** A new job, or one that was submitted before, now and then with something else about it. */
  #submission(world: World): InputOf<'job.submit'> {
    if (live(world) >= LIVE || this.#dice.chance(0.2)) {
      const { wallet, job } = this.#at(world);
      const known = world.jobs[keyOf({ wallet, job })];
      const { queue, price, payload } = known ?? { queue: null, price: 20, payload: '' };
      const other = this.#dice.pick([{}, {}, { price: 41 }, { payload: 'other' }, { queue: 'late' }]);
      return { wallet, job, queue, price, payload, ...other };
    }
    // Often the same id in another wallet: a job is known by both.
    const job = `j${this.#dice.chance(0.85) ? ++this.#jobs : Math.max(this.#jobs, 1)}`;
    const queue = this.#dice.pick(QUEUES);
    const when =
      queue === null
        ? this.#maybe('deadlineMs', [undefined, 60_000])
        : this.#maybe('delayMs', [undefined, undefined, 1000]);
    return { wallet: this.#wallet(), job, queue, price: this.#dice.pick([0, 7, 20, 30, 40]), ...when };
  }

  /** Mostly a job in one of these states, where there is one; else any, and now and then one that is gone or never was. */
  #at(world: World, ...states: readonly Job['state'][]): At {
    const jobs = Object.values(world.jobs);
    const wanted = jobs.filter(({ state }) => states.includes(state));
    const from = wanted.length > 0 && this.#dice.chance(0.75) ? wanted : jobs;
    if (from.length > 0 && !this.#dice.chance(0.05)) {
      const { wallet, id } = this.#dice.pick(from);
      return { wallet, job: id };
    }
    return { wallet: this.#wallet(), job: `j${this.#dice.between(0, this.#jobs)}` };
  }

  /** Mostly the attempt that the job is in; also stale ones, and one that is still to come. */
  #attempt(world: World, at: At): number {
    const latest = world.jobs[keyOf(at)]?.attempt ?? 1;
    return Math.max(latest + this.#dice.pick([0, 0, 0, 0, -1, 1]), 1);
  }

  #ofAttempt(world: World, ...states: readonly Job['state'][]): At & { attempt: number } {
    const at = this.#at(world, ...states);
    return { ...at, attempt: this.#attempt(world, at) };
  }

  #maybeAttempt(world: World, ...states: readonly Job['state'][]): At & { attempt?: number } {
    const at = this.#at(world, ...states);
    return this.#dice.chance(0.2) ? at : { ...at, attempt: this.#attempt(world, at) };
  }
}
