// The random traffic of a simulation: callers, workers, people, the network between them, clocks and crashes.
import type { World } from '../model/world.ts';
import type { Call } from './calls.ts';
import type { Command, Cut, End, Fault, Mode } from './commands.ts';
import type { Dice } from './dice.ts';
import { type SignalName, Signals } from './signals.ts';
import type { Tally } from './tally.ts';

/** How often what happens. */
const KINDS = {
  ...{ call: 58, lease: 13, clock: 9, sweep: 5, prune: 1, flight: 10 },
  ...{ behind: 0.8, crash: 0.15 },
};
const SIGNALS: Readonly<Record<SignalName, number>> = {
  ...{ 'job.submit': 9, 'job.fail': 9, 'job.succeed': 6, 'job.settle': 4, 'job.cancel': 2, 'job.extend': 3 },
  ...{ 'job.handOver': 4, 'job.release': 4, 'job.redrive': 4, 'job.discard': 3, 'wallet.grant': 6 },
  ...{ 'wallet.adjust': 2, 'wallet.change': 1, 'wallet.open': 1, 'queue.configure': 1 },
};
const MODES: Readonly<Record<Mode, number>> = { single: 75, turn: 14, many: 9, transaction: 2 };
const ENDS: Readonly<Record<End, number>> = { commit: 5, rollback: 2, 'cut before the commit': 1, 'answer lost': 2 };
const CUTS: Readonly<Record<Cut, number>> = { request: 1, commit: 2, answer: 3 };
/** A connection is cut in one of so many commands, and every fourth takes its replica along. */
const FAULT_RATE = 0.012;
const CRASH_RATE = 0.25;
/** Signals are sent again later; some arrive only then. */
const AGAIN_RATE = 0.3;
const DELAYED_RATE = 0.15;
const IN_FLIGHT = 40;
/** What may end an attempt, or keep it, just before a sweep would. */
const QUICKER: readonly SignalName[] = [
  'job.extend',
  'job.extend',
  'job.fail',
  'job.succeed',
  'job.handOver',
  'job.cancel',
];
const JUMPS = [1, 999, 5000, 10_000, 30_000, 60_000, 400_000, 3_600_001, -1, -2000, -60_000];

export class Traffic {
  readonly #dice: Dice;
  readonly #signals: Signals;
  readonly #tally: Tally;
  readonly #replicas: number;
  /** Signals under way, and copies of some that arrived already. */
  readonly #flight: Call[] = [];

  readonly #kinds: typeof KINDS;

  /** `crowded`: much of it overlaps. */
  constructor(dice: Dice, replicas: number, tally: Tally, crowded: boolean) {
    this.#kinds = crowded ? { ...KINDS, behind: 20 } : KINDS;
    this.#dice = dice;
    this.#replicas = replicas;
    this.#tally = tally;
    this.#signals = new Signals(dice);
  }

  /** What happens next in this world. */
  next(world: World): Command {
    const replica = this.#dice.between(0, this.#replicas - 1);
    const kind = this.#dice.weighted(this.#kinds);
    if (kind === 'clock') return { kind, ms: this.#dice.pick(JUMPS) };
    if (kind === 'crash') return { kind, replica };
    if (kind === 'behind') return this.#behind(world, replica);
    if (kind === 'flight') return this.#arrived(world, replica);
    if (kind === 'call') return this.#call(world, replica);
    const fault = this.#fault(kind === 'sweep' ? 2 : 1);
    if (kind === 'sweep') return { kind, replica, ...fault, ...this.#meanwhile(world, replica) };
    if (kind === 'prune') return { kind, replica, ...fault };
    const request = this.#dice.chance(0.4) ? `r${this.#dice.between(1, 6)}` : null;
    const queue = this.#dice.pick(['early', 'early', 'late', 'plain']);
    return { kind, replica, queue, count: this.#dice.between(1, 3), request, ...fault };
  }

  /** A cut connection now and then; `upTo`: how many transitions the command may have. */
  #fault(upTo: number, transaction = false): { fault?: Fault } {
    if (!this.#dice.chance(transaction ? 0.2 : FAULT_RATE)) return {};
    const at = transaction && this.#dice.chance(0.6) ? 'commit' : this.#dice.chance(0.2) ? upTo : 1;
    return { fault: { at, cut: this.#dice.weighted(CUTS), crash: this.#dice.chance(CRASH_RATE) } };
  }

  /** Now and then others are quicker than a sweep, with what concerns the jobs that it saw. */
  #meanwhile(world: World, replica: number) {
    if (!this.#dice.chance(0.3)) return {};
    const rival = this.#rival(replica);
    const make = () => this.#signals.make(this.#dice.pick(QUICKER), world);
    return { meanwhile: { rival, calls: Array.from({ length: this.#dice.between(1, 3) }, make) } };
  }

  #rival(replica: number): number {
    return (replica + this.#dice.between(1, this.#replicas - 1)) % this.#replicas;
  }

  #call(world: World, replica: number): Command {
    const submits = this.#signals.isQuiet(world) && this.#dice.chance(0.6);
    const transition = submits ? 'job.submit' : this.#dice.weighted(SIGNALS);
    const call = this.#signals.make(transition, world);
    if (this.#dice.chance(DELAYED_RATE)) {
      this.#tally.delayed += 1;
      this.#send(call);
      return this.#arrived(world, replica);
    }
    const mode = transition === 'queue.configure' ? 'single' : this.#dice.weighted(MODES);
    const calls = [call];
    const more = mode === 'single' ? 0 : this.#dice.between(mode === 'transaction' ? 0 : 1, 3);
    for (let i = 0; i < more; i++) {
      // A batch is of one transition and has a twin now and then; a transaction does whatever its caller wants.
      const next = mode === 'transaction' ? this.#dice.weighted(SIGNALS) : transition;
      calls.push(this.#dice.chance(0.2) ? call : this.#signals.make(next, world));
    }
    const upTo = mode === 'single' || mode === 'transaction' ? 2 : 1;
    const fault = this.#fault(upTo, mode === 'transaction');
    // What was not heard is sent again.
    for (const one of calls) if (fault.fault || this.#dice.chance(AGAIN_RATE)) this.#send(one);
    return { kind: 'calls', replica, calls, mode, ...fault };
  }

  #send(call: Call): void {
    if (this.#flight.length >= IN_FLIGHT) this.#flight.splice(this.#dice.between(0, IN_FLIGHT - 1), 1);
    this.#flight.push(call);
  }

  /** One of the signals under way, whichever: later than it was sent, before or behind others, and perhaps not for the last time. */
  #arrived(world: World, replica: number): Command {
    if (this.#flight.length === 0) return this.#call(world, replica);
    const index = this.#dice.between(0, this.#flight.length - 1);
    const [call] = this.#dice.chance(0.3) ? [this.#flight[index]!] : this.#flight.splice(index, 1);
    this.#tally.duplicates += 1;
    return { kind: 'calls', replica, calls: [call!], mode: 'single', ...this.#fault(2) };
  }

  #behind(world: World, replica: number): Command {
    const rival = this.#rival(replica);
    const make = () => this.#signals.make(this.#dice.weighted({ ...SIGNALS, 'queue.configure': 0 }), world);
    const call = make();
    // Mostly about the same job or wallet, so that they meet; a transaction may do something else as well.
    const first = this.#dice.chance(0.15) ? call : this.#dice.chance(0.7) ? about(call, make()) : make();
    const calls = this.#dice.chance(0.6) ? [first] : [first, make()];
    return { kind: 'behind', replica, calls, end: this.#dice.weighted(ENDS), rival, call };
  }
}

/** A call about what another one is about: its wallet, its job, its attempt, as far as it names them. */
function about({ input: of }: Call, { transition, input }: Call): Call {
  const named = Object.keys(input).filter((name) => ['wallet', 'job', 'attempt'].includes(name) && name in of);
  const same = Object.fromEntries(named.map((name) => [name, (of as Record<string, unknown>)[name]]));
  return { transition, input: { ...input, ...same } } as Call;
}
