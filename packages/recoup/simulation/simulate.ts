// Runs worlds of a seed, one after the other; a history that fails is shortened to what it needs.
import type { Kind } from './kinds.ts';
import { shrink } from './shrink.ts';

/** Steps of one world: then another one begins, of the next seed, so that histories stay short enough to be shortened. */
export const WORLD = 1000;
const VERIFY_EVERY = 250;
export interface Violation<C = unknown> {
  readonly kind: Kind<C>['name'];
  /** What replays it: a world of this seed, of so many steps. */
  readonly seed: number;
  readonly steps: number;
  readonly problem: string;
  /** The shortest history found that fails, and what is wrong at its end. */
  readonly history: readonly C[];
  /** The same for people. */
  readonly lines: readonly string[];
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
export async function simulate<C>(kind: Kind<C>, options: SimulateOptions): Promise<Violation<C> | undefined> {
  const { seed, steps, progress = () => {}, shrinks = 400 } = options;
  for (let done = 0; done < steps; done += WORLD) {
    const count = Math.min(WORLD, steps - done);
    const world = seed + done / WORLD;
    const failed = await oneWorld(kind, world, count, (step) => progress(done + step));
    if (!failed) continue;
    const { history: whole, problem } = failed;
    const short = await shrink(whole, (commands) => replay(kind, commands), { runs: shrinks, ids: kind.ids });
    const { history } = short;
    const lines = history.map((command) => kind.inWords(command));
    const replays = { kind: kind.name, seed: world, steps: whole.length };
    return { ...replays, problem, history, lines, shrunkTo: short.problem ?? problem };
  }
  return undefined;
}

/** One world of a seed; its history up to the violation, where there is one. */
async function oneWorld<C>(kind: Kind<C>, seed: number, steps: number, progress: (steps: number) => void) {
  const next = kind.traffic(seed);
  const history: C[] = [];
  try {
    await kind.begin();
    for (let step = 0; step < steps; step++) {
      const command = kind.opening[step] ?? next();
      history.push(command);
      await kind.deliver(command);
      if ((step + 1) % VERIFY_EVERY === 0 || step + 1 === steps) await kind.verify();
      progress(step + 1);
    }
    return undefined;
  } catch (error) {
    return { history, problem: (error as Error).message };
  }
}

/** What is wrong with a history, if anything. */
export async function replay<C>(kind: Kind<C>, history: readonly C[]): Promise<string | undefined> {
  try {
    await kind.begin();
    for (const command of history) await kind.deliver(command);
    await kind.verify();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** A violation for people: how to see it again, and the shortest way to it. */
export function violationInWords({ kind, seed, steps, problem, lines, shrunkTo }: Violation): string {
  return `Violated after ${steps} steps of seed ${seed}:
${problem}

Again: npm run simulate -- --kind ${kind} --seed ${seed} --steps ${steps}

The shortest history that fails, ${lines.length} steps:
${lines.map((line, index) => `  ${index + 1}. ${line}`).join('\n')}
  → ${shrunkTo.replaceAll('\n', '\n    ')}
`;
}
