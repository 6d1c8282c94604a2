// Whether a race has an explanation: an order of its calls in which the model gives the same answers and ends in the same world.
import { type Action, apply } from '../../packages/recoup/model/model.ts';
import type { At, World } from '../../packages/recoup/model/world.ts';
import { NOTHING, passesOver, seenOf } from './menu.ts';
import { digest } from './world-digest.ts';

/** How often each answer came, of each of the two calls. */
export type Tally = readonly [Readonly<Record<string, number>>, Readonly<Record<string, number>>];

interface Node {
  readonly world: World;
  readonly text: string;
  /** Answers that a call that changes something has not used up, as `0 duplicate`. */
  readonly left: Readonly<Record<string, number>>;
  /** Answers that were given on the way by calls that changed nothing: any number of calls may have got them. */
  readonly given: ReadonlySet<string>;
}

/**
 * Searches the orders. Calls that change nothing may come at any time and in any number, so only the changing ones are ordered:
 * that makes the search small, however many callers there were.
 */
export function explained(start: World, calls: readonly [Action, Action], answers: Tally, end: string): boolean {
  const left = Object.fromEntries(
    answers.flatMap((tally, who) => Object.entries(tally).map(([answer, count]) => [`${who} ${answer}`, count])),
  );
  const open: Node[] = [{ world: start, text: digest(start), left, given: new Set() }];
  const seen = new Set<string>();
  for (let node = open.pop(); node; node = open.pop()) {
    const { idle, next } = stepsFrom(node, calls);
    const given = new Set([...node.given, ...idle]);
    const key = JSON.stringify([node.text, node.left, [...given].sort()]);
    if (seen.has(key)) continue;
    seen.add(key);
    if (node.text === end && Object.entries(node.left).every(([name, count]) => count === 0 || given.has(name)))
      return true;
    for (const one of next) open.push({ ...one, given });
  }
  return false;
}

function stepsFrom(node: Node, calls: readonly [Action, Action]) {
  const idle: string[] = [];
  const next: Omit<Node, 'given'>[] = [];
  const take = (name: string, world: World) => {
    const text = digest(world);
    const count = node.left[name] ?? 0;
    if (text === node.text) idle.push(name);
    else if (count > 0) next.push({ world, text, left: { ...node.left, [name]: count - 1 } });
  };
  calls.forEach((call, who) => {
    const { answer, after } = seenOf(call, node.world);
    take(`${who} ${answer}`, after);
    if (passesOver(call)) idle.push(`${who} ${call.transition === 'job.prune' ? answer : NOTHING}`);
    const late = answer === 'duplicate' ? lateSettle(call, node.world) : undefined;
    if (late) take(`${who} ${answer}`, late);
  });
  return { idle, next };
}

/** A repeat that brings the final price, which is not known yet, settles it: a second transition of the same call. */
function lateSettle({ transition, input }: Action, world: World): World | undefined {
  const finalPrice =
    transition === 'job.succeed' ? input.finalPrice : transition === 'job.cancel' ? input.kept : undefined;
  if (finalPrice === undefined) return undefined;
  const { wallet, job } = input as At;
  return apply(world, { transition: 'job.settle', input: { wallet, job, finalPrice } }).world;
}
