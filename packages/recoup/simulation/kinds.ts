// The kinds of world a simulation can run: of jobs and money, and of capacity.
import type { Queue } from '../model/world.ts';
import type { BothWorlds } from './both-worlds.ts';
import type { BothCapacities } from './capacity/both.ts';
import { type CapacityCommand, capacityInWords } from './capacity/commands.ts';
import { CAPACITY_OPENING, CapacityTraffic } from './capacity/traffic.ts';
import { type Command, inWords } from './commands.ts';
import { deliver } from './deliver.ts';
import { Dice } from './dice.ts';
import { OPENING } from './signals.ts';
import type { Tally } from './tally.ts';
import { Traffic } from './traffic.ts';

/** One kind of world: how it begins, what may happen in it, how that is given to both the model and the database. */
export interface Kind<C> {
  readonly name: 'jobs' | 'capacity';
  readonly tally: Tally;
  /** Both worlds anew. */
  begin(): Promise<void>;
  /** What every world starts with. */
  readonly opening: readonly C[];
  /** What happens next, by a seed. */
  traffic(seed: number): () => C;
  /** Gives a command to both worlds, and compares them. Throws where they differ. */
  deliver(command: C): Promise<void>;
  /** Everything there is, and every promise of verify. */
  verify(): Promise<void>;
  inWords(command: C): string;
  /** What a failing history is narrowed down to first: ids in a text. */
  readonly ids: RegExp;
}

/** In one of so many worlds a fifth of the commands overlap: slower, and where locks are put to the test. */
const CROWDED_EVERY = 8;
/** In one of so many worlds of capacity most failures are their provider's. */
const TROUBLE_EVERY = 4;
const isCrowded = (seed: number) => seed % CROWDED_EVERY === 3;

const QUEUES: Readonly<Record<string, Partial<Queue>>> = {
  early: { maxFailures: 2, maxReleases: 1 },
  late: { maxFailures: 3, refundOn: 'final', backoffBaseMs: 1000, backoffMaxMs: 2000, retryAfterMaxMs: 50_000 },
};

/** Wallets, queues and jobs. */
export const jobsIn = (both: BothWorlds): Kind<Command> => ({
  name: 'jobs',
  tally: both.tally,
  begin: () => both.begin(QUEUES),
  opening: OPENING.map((call): Command => ({ kind: 'calls', replica: 0, calls: [call], mode: 'single' })),
  traffic: (seed) => {
    const traffic = new Traffic(new Dice(seed), both.fleet.size, both.tally, isCrowded(seed));
    return () => traffic.next(both.world);
  },
  deliver: (command) => deliver(both, command),
  verify: () => both.verify(),
  inWords,
  ids: /\bj\d+\b/g,
});

/** Upstreams, their blocks and their leases. */
export const capacityIn = (both: BothCapacities): Kind<CapacityCommand> => ({
  name: 'capacity',
  tally: both.tally,
  begin: () => both.begin(),
  opening: CAPACITY_OPENING.map(
    (call): CapacityCommand => ({ kind: 'calls', replica: 0, calls: [call], mode: 'single' }),
  ),
  traffic: (seed) => {
    const mood = { crowded: isCrowded(seed), inTrouble: seed % TROUBLE_EVERY === 1 };
    const traffic = new CapacityTraffic(new Dice(seed), both.fleet.size, both.tally, mood);
    return () => traffic.next(both.world);
  },
  deliver: (command) => both.deliver(command),
  verify: () => both.verify(),
  inWords: capacityInWords,
  ids: /(?<="upstream":")\w+(?=")/g,
});
