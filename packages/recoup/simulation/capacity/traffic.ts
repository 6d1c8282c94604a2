// The random traffic of a simulation of capacity: callers, operators, the network between them, clocks and crashes.
import type { Registering } from '../../model/capacity/model.ts';
import type { BlockSaid, ReportInput } from '../../model/capacity/reports.ts';
import { type Capacity, isOpen } from '../../model/capacity/world.ts';
import type { Cut, End, Fault } from '../commands.ts';
import type { Dice } from '../dice.ts';
import type { Tally } from '../tally.ts';
import type { CapacityCall, CapacityCommand } from './commands.ts';

const SECOND = 1000;
const HOUR = 3_600_000;
/** How often what happens. */
const KINDS = { call: 60, clock: 14, sweep: 2, flight: 8, behind: 2, crash: 0.15 };
const CALLS = {
  ...{ 'upstream.select': 26, 'upstream.report': 40, 'upstream.extend': 4, 'upstream.release': 4 },
  ...{ 'upstream.register': 5, 'block.close': 9 },
};
const MODES = { single: 78, turn: 14, transaction: 4 };
const ENDS: Readonly<Record<End, number>> = { commit: 5, rollback: 2, 'cut before the commit': 1, 'answer lost': 2 };
const CUTS: Readonly<Record<Cut, number>> = { request: 1, commit: 2, answer: 3 };
const FAULT_RATE = 0.02;
const CRASH_RATE = 0.25;
const AGAIN_RATE = 0.25;
const IN_FLIGHT = 20;
const JUMPS = {
  ...{ 1: 20, 999: 8, 10000: 16, 30000: 22, 60000: 10, 301000: 5, [HOUR + 1]: 1, [25 * HOUR]: 1.5 },
  ...{ [-1]: 1, [-2000]: 1, [-60000]: 1 },
};

/** In trouble: servers fail one after the other, and time goes by in small pieces, so that providers come to be out. */
const TROUBLE = { JUMPS: { 1: 30, 999: 20, 10000: 18, 30000: 12, 31000: 4, 61000: 2, [-1]: 1 }, failing: 0.75 };

const UPSTREAMS: readonly Registering[] = [
  { upstream: 'a', pool: 'p', provider: 'x', quotaGroup: 'g', maxConcurrency: 2, priority: 4 },
  { upstream: 'g', pool: 'p', provider: 'x', quotaGroup: 'g', route: 'r' },
  { upstream: 'c', pool: 'p', provider: 'x', route: 'r', maxConcurrency: 1 },
  { upstream: 'x', pool: 'p', provider: 'y', weight: 4 },
  { upstream: 'e', pool: 'q', provider: 'x', priority: 9 },
  { upstream: 'f', pool: 'q', provider: 'y', maxConcurrency: 3 },
];

/** What starts every world. Some upstreams, groups and providers have the same id: only their type tells them apart. */
export const CAPACITY_OPENING: readonly CapacityCall[] = UPSTREAMS.map((input) => ({
  transition: 'upstream.register',
  input,
}));

const auto = { source: 'backoff', policy: 'auto' } as const;

export class CapacityTraffic {
  readonly #dice: Dice;
  readonly #replicas: number;
  readonly #tally: Tally;
  readonly #kinds: typeof KINDS;
  #leases = 0;
  /** Signals under way, and copies of some that arrived already. */
  readonly #flight: CapacityCall[] = [];

  readonly #inTrouble: boolean;

  /** `crowded`: much of it overlaps. `inTrouble`: most of what fails is the provider's. */
  constructor(
    dice: Dice,
    replicas: number,
    tally: Tally,
    { crowded, inTrouble }: Record<'crowded' | 'inTrouble', boolean>,
  ) {
    this.#inTrouble = inTrouble;
    this.#dice = dice;
    this.#replicas = replicas;
    this.#tally = tally;
    this.#kinds = crowded ? { ...KINDS, behind: 24 } : KINDS;
  }

  /** What happens next in this world. */
  next(world: Capacity): CapacityCommand {
    const replica = this.#dice.between(0, this.#replicas - 1);
    const kind = this.#dice.weighted(this.#kinds);
    if (kind === 'clock') return { kind, ms: Number(this.#dice.weighted(this.#inTrouble ? TROUBLE.JUMPS : JUMPS)) };
    if (kind === 'crash') return { kind, replica };
    if (kind === 'sweep') {
      const rival = this.#rival(replica);
      const calls = Array.from({ length: this.#dice.between(1, 3) }, () => this.#make(world));
      return { kind, replica, ...this.#fault(1), ...(this.#dice.chance(0.5) ? { meanwhile: { rival, calls } } : {}) };
    }
    if (kind === 'behind') {
      const call = this.#make(world);
      const calls = Array.from({ length: this.#dice.between(1, 2) }, () => this.#about(call, world));
      return { kind, replica, calls, end: this.#dice.weighted(ENDS), rival: this.#rival(replica), call };
    }
    if (kind === 'flight' && this.#flight.length > 0) {
      const index = this.#dice.between(0, this.#flight.length - 1);
      const [call] = this.#dice.chance(0.3) ? [this.#flight[index]!] : this.#flight.splice(index, 1);
      this.#tally.duplicates += 1;
      return { kind: 'calls', replica, calls: [call!], mode: 'single', ...this.#fault(2) };
    }
    return this.#call(world, replica);
  }

  #rival(replica: number): number {
    return (replica + this.#dice.between(1, this.#replicas - 1)) % this.#replicas;
  }

  #fault(upTo: number, transaction = false): { fault?: Fault } {
    if (!this.#dice.chance(transaction ? 0.2 : FAULT_RATE)) return {};
    const at = transaction && this.#dice.chance(0.6) ? 'commit' : this.#dice.chance(0.2) ? upTo : 1;
    return { fault: { at, cut: this.#dice.weighted(CUTS), crash: this.#dice.chance(CRASH_RATE) } };
  }

  #call(world: Capacity, replica: number): CapacityCommand {
    const call = this.#make(world);
    if (this.#dice.chance(0.1)) {
      this.#tally.delayed += 1;
      this.#send(call);
    }
    const mode = this.#dice.weighted(MODES);
    const more = mode === 'single' ? 0 : this.#dice.between(1, 2);
    const calls = [call];
    for (let i = 0; i < more; i++) {
      const next = mode === 'transaction' ? this.#make(world) : this.#like(call, world);
      calls.push(this.#dice.chance(0.2) ? call : next);
    }
    const fault = this.#fault(2, mode === 'transaction');
    for (const one of calls) if (fault.fault || this.#dice.chance(AGAIN_RATE)) this.#send(one);
    return { kind: 'calls', replica, calls, mode, ...fault };
  }

  #send(call: CapacityCall): void {
    if (this.#flight.length >= IN_FLIGHT) this.#flight.splice(this.#dice.between(0, IN_FLIGHT - 1), 1);
    this.#flight.push(call);
  }

  #make(world: Capacity, transition = this.#dice.weighted(CALLS)): CapacityCall {
    return { transition, input: this.#makers[transition](world) } as CapacityCall;
  }

  /** Another one of its kind, which shares a statement with it. */
  #like({ transition }: CapacityCall, world: Capacity): CapacityCall {
    return this.#make(world, transition);
  }

  /** Mostly about the same upstream, so that they meet. */
  #about({ input: of }: CapacityCall, world: Capacity): CapacityCall {
    const { transition, input } = this.#make(world);
    const named = ['upstream', 'block'].filter(
      (name) =>
        name in input && typeof (of as unknown as Record<string, unknown>)[name] === 'string' && this.#dice.chance(0.8),
    );
    const same = Object.fromEntries(named.map((name) => [name, (of as unknown as Record<string, unknown>)[name]]));
    const shared = transition === 'upstream.report' ? 'upstream' in same && { upstream: same.upstream } : same;
    const { lease: _lease, ...rest } = input as { lease?: string };
    return {
      transition,
      input: { ...(shared && transition === 'upstream.report' ? rest : input), ...shared },
    } as CapacityCall;
  }

  readonly #makers: {
    readonly [T in keyof typeof CALLS]: (world: Capacity) => Extract<CapacityCall, { transition: T }>['input'];
  } = {
    'upstream.select': (world) => ({
      pool: this.#dice.pick(['p', 'p', 'p', 'q']),
      lease: this.#dice.chance(0.1) ? this.#lease(world) : `l${++this.#leases}`,
      leaseMs: this.#dice.pick([20, 45, 90, 400]) * SECOND,
      upstream: null,
      ...this.#use(),
      ...(this.#dice.chance(0.3) ? { holder: 'h' } : {}),
    }),
    'upstream.extend': (world) => ({ lease: this.#lease(world), leaseMs: this.#dice.pick([1, 60]) * SECOND }),
    'upstream.release': (world) => ({ lease: this.#lease(world) }),
    'upstream.register': () => this.#registering(),
    'upstream.report': (world) => this.#report(world),
    'block.close': (world) => {
      const all = Object.entries(world.blocks);
      const open = all.filter(([, block]) => isOpen(block));
      const some = open.length > 0 && this.#dice.chance(0.9) ? open : all;
      const [block, { generation }] = some.length > 0 ? this.#dice.pick(some) : ['none', { generation: 1 }];
      const seen = this.#dice.chance(0.5)
        ? {}
        : { generation: generation - (this.#dice.chance(0.2) && generation > 1 ? 1 : 0) };
      const as = this.#dice.pick(['operator', 'operator', 'credential', 'probe', 'snapshot'] as const);
      return { block, as, ...seen, ...(this.#dice.chance(0.5) ? { actor: 'ann', reason: 'paid' } : {}) };
    },
  };

  #use() {
    if (this.#dice.chance(0.7)) return {};
    return this.#dice.chance(0.7) ? { model: 'm' } : { capability: 'c' };
  }

  #lease(world: Capacity): string {
    const names = Object.keys(world.leases);
    return names.length > 0 && this.#dice.chance(0.9)
      ? this.#dice.pick(names)
      : `l${this.#dice.between(1, this.#leases + 1)}`;
  }

  #registering(): Registering {
    const of = this.#dice.pick([...UPSTREAMS, { upstream: 'n', pool: 'p', provider: 'y' }]);
    if (this.#dice.chance(0.25)) {
      const other = this.#dice.chance(0.2) ? { pool: 'q' } : this.#dice.chance(0.2) ? { provider: 'z' } : {};
      return { ...of, ...other };
    }
    const { upstream } = of;
    if (this.#dice.chance(0.6))
      return { upstream, status: this.#dice.pick(['on', 'on', 'on', 'on', 'off', 'draining'] as const) };
    if (upstream === 'n' && this.#dice.chance(0.3)) return { upstream, status: 'retired' };
    return {
      upstream,
      ...this.#dice.pick<Partial<Registering>>([
        ...[{ priority: 5 }, { priority: 4 }, { weight: 2 }, { maxConcurrency: 2 }, { maxConcurrency: 1 }],
        ...[{ credentialRef: 'v/1' }, { credentialRef: 'v/2' }, { route: 's' }, { route: 'r' }, { quotaGroup: 'g' }],
      ]),
    };
  }

  #report(world: Capacity): ReportInput {
    const leases = Object.entries(world.leases);
    const given = leases.length > 0 && this.#dice.chance(0.65) ? this.#dice.pick(leases) : undefined;
    const upstream = given && this.#dice.chance(0.97) ? given[1].upstream : this.#upstream(world);
    const lease = given ? { lease: given[0] } : this.#dice.chance(0.1) ? { lease: this.#lease(world) } : {};
    const when = this.#dice.chance(0.7)
      ? {}
      : this.#dice.chance(0.6)
        ? { elapsedMs: this.#dice.pick([0, 1, 10, 40, 400]) * SECOND }
        : { startedAt: world.clock - this.#dice.pick([-5, 0, 1, 10, 40]) * SECOND };
    const actor = this.#dice.chance(0.2) ? { actor: 'bob' } : {};
    const input = { upstream, ...lease, ...when, ...this.#use(), ...actor };
    if (this.#dice.chance(0.5)) return { ...input, success: true };
    return this.#dice.chance(0.08)
      ? { ...input, success: false }
      : { ...input, success: false, block: this.#said(world) };
  }

  #upstream(world: Capacity): string {
    const names = Object.keys(world.upstreams);
    return names.length > 0 && this.#dice.chance(0.98) ? this.#dice.pick(names) : 'nowhere';
  }

  #said(world: Capacity): BlockSaid {
    if (this.#inTrouble && this.#dice.chance(TROUBLE.failing)) return { kind: 'server_error', ...auto };
    const seconds = this.#dice.pick([5, 30, 60, 600, 7200]) * SECOND;
    const said = this.#dice.pick<BlockSaid>([
      ...Array.from({ length: 6 }, () => ({ kind: 'server_error', ...auto })),
      ...Array.from({ length: 3 }, () => ({ kind: 'rate_limited', ...auto })),
      { kind: 'rate_limited', source: 'retry_after', policy: 'auto', forMs: seconds },
      {
        kind: 'rate_limited',
        source: 'reset_announced',
        policy: 'rolling',
        until: world.clock + seconds - 10 * SECOND,
      },
      { kind: 'rate_limited', source: 'reset_announced', policy: 'snapshot', forMs: seconds },
      { kind: 'rate_limited', ...auto, policy: 'rolling', forMs: seconds },
      { kind: 'rate_limited', ...auto, scope: this.#dice.pick(['model:m', 'capability:c']) },
      { kind: 'overloaded', ...auto, subject: this.#dice.pick(['provider', 'quota_group', 'route'] as const) },
      { kind: 'overloaded', ...auto, subject: this.#dice.pick(['provider', 'quota_group', 'route'] as const) },
      { kind: 'server_error', ...auto, subject: 'provider', scope: this.#dice.pick(['', 'model:m']) },
      { kind: 'server_error', source: this.#dice.pick(['operator', 'backoff'] as const), policy: 'manual' },
      { kind: 'server_error', source: 'retry_after', policy: 'auto', forMs: seconds },
      { kind: 'billing', source: 'operator', policy: 'manual', reason: 'unpaid', nextStep: 'pay' },
      { kind: 'rate_limited', ...auto, policy: 'manual' },
    ]);
    return this.#dice.chance(0.2) ? { ...said, reason: this.#dice.pick(['said', 'so']) } : said;
  }
}
