// Which races there are: every state that a job can be brought to, and every pair of calls that leave it, found by the model.
import { type Action, apply } from '../../packages/recoup/model/model.ts';
import {
  advance,
  DEFAULT_QUEUE,
  emptyWorld,
  type Job,
  jobOf,
  type Queue,
  type World,
  wasCharged,
} from '../../packages/recoup/model/world.ts';
import { AT, callsIn, inWords, QUEUE, seenOf } from './menu.ts';
import { digest } from './world-digest.ts';

/** Two failures and one release are enough for every state; without a back-off the clock need not move in between. */
export const SETTINGS: Queue = { ...DEFAULT_QUEUE, maxFailures: 2, maxReleases: 1, backoffBaseMs: 0, backoffMaxMs: 0 };

/** A call, or the time that a lease or a deadline has. */
export type Step = Action | { readonly passMs: number };

export interface Race {
  /** The state in words, and the shortest way to it. */
  readonly state: string;
  readonly path: readonly Step[];
  readonly calls: readonly [Action, Action];
}

/** What a race is an example of, from coarse to fine: each is to be met before the next one is refined. */
const levels = ({ state, path, calls }: Race): string[] => {
  const coarse = state.split(',')[0]!;
  const names = calls.map(({ transition }) => transition);
  const words = calls.map(inWords);
  return [[coarse, ...names].join('|'), [coarse, ...words].join('|'), [state, ...words, path.length].join('|')];
};

/** Attempts beyond this one bring nothing that was not there before. */
const MAX_ATTEMPT = 2;

const newWorld = (): World => emptyWorld({ queues: { '*': SETTINGS } });

/** Every pair of calls that leave the same state: first each pair of transitions once per state, then their shapes, then the rest. */
export function races(): Race[] {
  const all = states().flatMap(({ name, path, world }) => {
    const leaving = callsIn(world).filter((call) => digest(seenOf(call, world).after) !== digest(world));
    return leaving.flatMap((one, index) =>
      leaving
        .slice(index)
        // Two changes of a wallet or queue do not look at the job: they meet where there is none.
        .filter((other) => !jobOf(world, AT) || [one, other].some(({ transition }) => transition.startsWith('job.')))
        .map((other): Race => ({ state: name, path, calls: [one, other] })),
    );
  });
  const seen = new Set<string>();
  const met: Race[][] = [[], [], []];
  for (const race of all) {
    const names = levels(race);
    const level = names.findIndex((name) => !seen.has(name));
    for (const name of names) seen.add(name);
    met[level]?.push(race);
  }
  return met.flat();
}

/** How many races stand first in that list: one for each state and pair of transitions. */
export const pairsOf = (all: readonly Race[]): number => new Set(all.map((race) => levels(race)[0])).size;

interface State {
  readonly name: string;
  readonly path: readonly Step[];
  readonly world: World;
}

/** Breadth first from nothing: every state that is told apart below, by its shortest path. */
function states(): State[] {
  const found: State[] = [{ name: nameOf(newWorld()), path: [], world: newWorld() }];
  const seen = new Set(found.map(({ name }) => name));
  for (const { path, world } of found) {
    for (const step of steps(world)) {
      const way = [...path, ...before(step), step];
      const after = [...before(step), step].reduce(take, world);
      const name = nameOf(after);
      if (seen.has(name) || (jobOf(after, AT)?.attempt ?? 0) > MAX_ATTEMPT) continue;
      seen.add(name);
      found.push({ name, path: way, world: after });
    }
  }
  // A moment later, so that a lease can be extended and what has ended be pruned.
  return found.map((state) => ({ ...state, world: advance(state.world, 1) }));
}

export const take = (world: World, step: Step): World =>
  'passMs' in step ? advance(world, step.passMs) : apply(world, step).world;

/** A job is pruned only once time has passed since its end. */
const before = (step: Step): Step[] => ('transition' in step && step.transition === 'job.prune' ? [{ passMs: 1 }] : []);

/** Settings of wallets and queues are no way to a state of a job; they meet all of them in races. */
const NO_STEP = ['wallet.change', 'wallet.adjust', 'queue.configure'];

function steps(world: World): Step[] {
  const until = jobOf(world, AT)?.leaseUntil ?? jobOf(world, AT)?.deadlineAt ?? world.clock;
  const pass = until > world.clock ? [{ passMs: until - world.clock }] : [];
  return [...callsIn(world).filter(({ transition }) => !NO_STEP.includes(transition)), ...pass];
}

/** The state first, then what else the next transitions look at. */
function nameOf(world: World): string {
  const wallet = world.wallets[AT.wallet];
  if (!wallet) return 'no wallet';
  const job = jobOf(world, AT);
  if (!job) return wasCharged(world, AT) ? 'pruned' : wallet.balance < 40 ? 'no credit' : 'no job';
  return [`${job.state}${job.queue === QUEUE ? '' : ' without a queue'}`, ...traits(world, job)].join(',');
}

function traits(world: World, job: Job): string[] {
  const until = job.leaseUntil ?? job.deadlineAt;
  return [
    ...(until !== null && until <= world.clock ? ['due'] : []),
    ...(job.refunded ? ['refunded'] : []),
    ...(job.settled ? ['settled'] : []),
    ...(job.releases > 0 ? ['released'] : []),
    ...(job.verdict ? [job.verdict] : []),
    ...(job.failedAttempt === job.attempt ? ['after its failure'] : []),
    `attempt ${job.attempt}`,
    `failures ${job.failures}`,
  ];
}
