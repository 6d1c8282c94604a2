// Runs worlds of a seed, one after the other; a history that fails is shortened to what it needs.
import type { Queue } from '../model/world.ts';
import type { BothWorlds } from './both-worlds.ts';
import { type Command, inWords } from './commands.ts';
import { deliver } from './deliver.ts';
import { Dice } from './dice.ts';
import { shrink } from './shrink.ts';
import { OPENING } from './signals.ts';
import { Traffic } from './traffic.ts';

/** Steps of one world: then another one begins, of the next seed, so that histories stay short enough to be shortened. */
export const WORLD = 1000;
const VERIFY_EVERY = 250;
/** In one of so many worlds a fifth of the commands overlap: slower, and where locks are put to the test. */
const CROWDED_EVERY = 8;

const QUEUES: Readonly<Record<string, Partial<Queue>>> = {
  early: { maxFailures: 2, maxReleases: 1 },
  late: { maxFailures: 3, refundOn: 'final', backoffBaseMs: 1000, backoffMaxMs: 2000, retryAfterMaxMs: 50_000 },
};

export interface Violation {
  /** What replays it: a world of this seed, of so many steps. */
  readonly seed: number;
  readonly steps: number;
  readonly problem: string;
  /** The shortest history found that fails, and what is wrong at its end. */
  readonly history: readonly Command[];
  readonly shrunkTo: string;
}

export interface SimulateOptions {
  readonly seed: number;
  readonly steps: number;
  readonly progress?: (steps: number) => void;
  /** How often a failing history may be run again to shorten it; 400 unless set. */
  readonly shrinks?: number;
}

/** Runs so many steps, or up to the first violation. */
export async function simulate(both: BothWorlds, options: SimulateOptions): Promise<Violation | undefined> {
  const { seed, steps, progress = () => {}, shrinks = 400 } = options;
  for (let done = 0; done < steps; done += WORLD) {
    const count = Math.min(WORLD, steps - done);
    const world = seed + done / WORLD;
    const failed = await oneWorld(both, world, count, (step) => progress(done + step));
    if (!failed) continue;
    const { history, problem } = failed;
    const short = await shrink(history, (commands) => replay(both, commands), shrinks);
    return { seed: world, steps: history.length, problem, history: short.history, shrunkTo: short.problem ?? problem };
  }
  return undefined;
}

/** One world of a seed; its history up to the violation, where there is one. */
async function oneWorld(both: BothWorlds, seed: number, steps: number, progress: (steps: number) => void) {
  const traffic = new Traffic(new Dice(seed), both.fleet.size, both.tally, seed % CROWDED_EVERY === 3);
  const opening = OPENING.map((call): Command => ({ kind: 'calls', replica: 0, calls: [call], mode: 'single' }));
  const history: Command[] = [];
  try {
    await both.begin(QUEUES);
    for (let step = 0; step < steps; step++) {
      const command = opening[step] ?? traffic.next(both.world);
      history.push(command);
      await deliver(both, command);
      if ((step + 1) % VERIFY_EVERY === 0 || step + 1 === steps) await both.verify();
      progress(step + 1);
    }
    return undefined;
  } catch (error) {
    return { history, problem: (error as Error).message };
  }
}

/** What is wrong with a history, if anything. */
export async function replay(both: BothWorlds, history: readonly Command[]): Promise<string | undefined> {
  try {
    await both.begin(QUEUES);
    for (const command of history) await deliver(both, command);
    await both.verify();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** A violation for people: how to see it again, and the shortest way to it. */
export function violationInWords({ seed, steps, problem, history, shrunkTo }: Violation): string {
  const lines = history.map((command, index) => `  ${index + 1}. ${inWords(command)}`);
  return `Violated after ${steps} steps of seed ${seed}:
${problem}

Again: npm run simulate -- --seed ${seed} --steps ${steps}

The shortest history that fails, ${history.length} steps:
${lines.join('\n')}
  → ${shrunkTo.replaceAll('\n', '\n    ')}
`;
}
