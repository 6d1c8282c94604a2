// Probers in a test's hand: pools that are asked by a function, which answers as the test says.
import type { ProbeQuestion, ProbeSaid, Recoup, SetProber } from '../../src/index.ts';
import { poolOf } from './pools.ts';
import type { Stage } from './stage.ts';

/** A pool with a prober, and a replica that asks: `said` is what it answers, `asked` what it was asked. */
export async function probedPool(s: Stage, count: number, more: Partial<SetProber> = {}, upstream: object = {}) {
  const { pool, names } = await poolOf(s, count, upstream);
  await s.recoup.probes.set({ pool, ...more });
  const asked: ProbeQuestion[] = [];
  const hand = { said: 'yes' as ProbeSaid | ((question: ProbeQuestion) => ProbeSaid | Promise<ProbeSaid>) };
  const prober = (question: ProbeQuestion) => {
    asked.push(question);
    return typeof hand.said === 'function' ? hand.said(question) : hand.said;
  };
  const told: string[] = [];
  const onTransition = (transition: string, outcome: string, labels?: object) =>
    void (transition === 'block.recover' && told.push(`${outcome} ${(labels as { policy: string }).policy}`));
  const replica = (): Promise<Recoup> => s.replica({ probers: { [pool]: prober }, onTransition });
  return { pool, names, asked, hand, told, asker: await replica(), replica };
}
