// The exhaustive walk of capacity: breadth first through every state of a small world, each state and each step checked.
import { capacityInvariants } from './invariants.ts';
import { applyCapacity, type CapacityAction, type CapacityModel, capacityModel } from './model.ts';
import { capacityPromises } from './promises.ts';
import { type Block, type Capacity, type CapacityStep, failingChecks, isOpen, keyOfBlock, pass } from './world.ts';

/** A call; or time goes by. An action may be made from the state: the generation that was seen, the block that is open. */
export type CapacityMove = (world: Capacity) => CapacityAction | { readonly passMs: number } | undefined;

export interface CapacityScenario {
  readonly name: string;
  readonly start: Capacity;
  /** Everything that may happen, in every state, any number of times. */
  readonly moves: readonly CapacityMove[];
  /** What is not told apart any more: instants further off than so many ms. */
  readonly horizonMs: number;
  /** No block is failed into a higher step: what makes the walk end. */
  readonly maxStep: number;
}

export interface CapacityWalk {
  readonly scenario: string;
  readonly states: number;
  readonly steps: number;
  readonly answers: number;
  readonly depth: number;
  readonly counts: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly violation?: { readonly problems: readonly string[]; readonly history: readonly string[] };
}

interface Node {
  readonly world: Capacity;
  readonly from: Node | undefined;
  readonly line: string;
}

export function walkCapacity(scenario: CapacityScenario, by: CapacityModel = capacityModel): CapacityWalk {
  const seen = new Set([keyOf(scenario, scenario.start)]);
  const counts: Record<string, Record<string, number>> = {};
  const tally = { steps: 0, answers: 0, depth: 0 };
  const report = (violation?: CapacityWalk['violation']): CapacityWalk => ({
    ...{ scenario: scenario.name, states: seen.size, ...tally, counts },
    ...(violation ? { violation } : {}),
  });
  let level: Node[] = [{ world: scenario.start, from: undefined, line: '' }];
  while (level.length > 0) {
    const next: Node[] = [];
    for (const node of level) {
      const stuck = comesBack(node.world);
      if (stuck.length > 0) return report({ problems: stuck, history: wayTo(node) });
      for (const move of scenario.moves) {
        const made = move(node.world);
        if (!made) continue;
        const step: CapacityStep | undefined = 'passMs' in made ? undefined : applyCapacity(node.world, made, by);
        const after = 'passMs' in made ? pass(node.world, made.passMs) : step!.world;
        const name = nameOf(step);
        const here: Node = { world: after, from: node, line: inWords(made, name) };
        if (step && !('passMs' in made)) {
          tally.answers++;
          count(counts, made.transition, name);
          const problems = [
            ...capacityPromises({ before: node.world, action: made, after, answer: step.answer }),
            ...(after === node.world ? [] : capacityInvariants(after)),
            ...repeats(step, made, by),
          ];
          if (problems.length > 0) return report({ problems, history: wayTo(here) });
        }
        if (after === node.world || tooFar(scenario, after)) continue;
        tally.steps++;
        const key = keyOf(scenario, after);
        if (seen.has(key)) continue;
        seen.add(key);
        next.push(here);
      }
    }
    if (next.length > 0) tally.depth++;
    level = next;
  }
  return report();
}

function count(counts: Record<string, Record<string, number>>, transition: string, name: string): void {
  const answers = counts[transition] ?? {};
  answers[name] = (answers[name] ?? 0) + 1;
  counts[transition] = answers;
}

const nameOf = (step: CapacityStep | undefined): string =>
  step === undefined ? 'passed' : 'outcome' in step.answer ? step.answer.outcome : step.answer.refusal;

function inWords(made: CapacityAction | { readonly passMs: number }, name: string): string {
  return 'passMs' in made ? `${made.passMs} ms pass` : `${made.transition} ${JSON.stringify(made.input)}: ${name}`;
}

function wayTo(node: Node): string[] {
  const lines: string[] = [];
  for (let at: Node | undefined = node; at?.from; at = at.from) lines.push(at.line);
  return lines.reverse();
}

const tooFar = ({ maxStep }: CapacityScenario, { blocks }: Capacity): boolean =>
  Object.values(blocks).some((block) => isOpen(block) && block.step > maxStep);

/** A lost answer: the same call again, in the same moment, changes no block and opens none. */
function repeats(step: CapacityStep, action: CapacityAction, by: CapacityModel): string[] {
  // Without a lease two reports are two: one can only say how long ago each began.
  const named = action.transition !== 'upstream.report' || action.input.lease !== undefined;
  if ('refusal' in step.answer || !named) return [];
  const again = applyCapacity(step.world, action, by);
  const { world: before, answer } = step;
  if (again.world.blocks !== before.blocks) return ['repeated, it changes a block'];
  if (again.world.upstreams !== before.upstreams) return ['repeated, it changes an upstream'];
  const given = answer.outcome === 'selected' && answer.leaseUntil !== again.answer.leaseUntil;
  return given ? ['repeated, it gives another lease'] : [];
}

const DAYS = 7 * 86_400_000;

/** Nothing waits for ever: what is on, and out by nothing that needs a person, is usable when enough time has passed. */
function comesBack(world: Capacity): string[] {
  const later = pass(world, DAYS);
  return Object.values(world.upstreams)
    .filter(({ status }) => status === 'on')
    .filter((of) => {
      const failing = failingChecks(later, of, ['', 'model:m']);
      const person = Object.values(world.blocks).some((block) => isOpen(block) && block.policy === 'manual');
      return failing.length > 0 && !person;
    })
    .map(({ id }) => `${id} does not come back by time alone`);
}

/** What the future depends on: rows by their distance from now. What is over, and its events, is left out. */
function keyOf({ horizonMs }: CapacityScenario, { clock, upstreams, blocks, leases, started }: Capacity): string {
  const near = (instant: number | null) => (instant === null ? '-' : Math.max(instant - clock, -horizonMs));
  const open = Object.values(blocks)
    .filter(isOpen)
    .map((b: Block) => [keyOfBlock(b), b.policy, b.step, b.trials, ...[b.until, b.evidenceAt, b.openedAt].map(near)]);
  const all = [
    Object.values(upstreams).map(({ usedAt, ...of }) => [of, near(usedAt)]),
    open.sort(),
    Object.entries(leases).map(([id, l]) => [id, l.upstream, near(l.leasedAt), near(l.leaseUntil)]),
    Object.entries(started).map(([id, at]) => [id, near(at)]),
  ];
  return JSON.stringify(all.map((part) => [...part].sort()));
}
