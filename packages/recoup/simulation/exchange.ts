// What every command needs: a fault around a call, what the model says of the call, the two held against each other.
import { type At, jobOf } from '../model/world.ts';
import { Refusal } from '../src/index.ts';
import { named } from '../test/support/look.ts';
import type { BothWorlds } from './both-worlds.ts';
import type { Call } from './calls.ts';
import type { Command, Fault } from './commands.ts';
import { factsOf, otherFacts } from './facts.ts';
import { Disagreement } from './rows.ts';

export type Of<K extends Command['kind']> = Extract<Command, { kind: K }>;

/** Outcomes of a statement that did not decide yet. */
export const OPEN = ['again', 'busy'];

/** Sends something to a replica under a fault; gives what was answered, and what the server knows of it. */
export async function under<T>(
  both: BothWorlds,
  replica: number,
  fault: Fault | undefined,
  send: () => Promise<T>,
  meanwhile?: () => Promise<void>,
) {
  const { faults } = both.fleet.at(replica);
  faults.arm(fault, meanwhile);
  const got = await send();
  const { fired, sent } = faults.disarm();
  if (fault && fired) {
    both.tally.fault(fault);
    if (fault.crash) await both.fleet.crash(replica);
    else await both.fleet.settle(replica);
  }
  return { got, fired, sent };
}

/** A repeat that brings a final price which is not known yet settles it: a second transition of the same call. */
export function secondOf(both: BothWorlds, { transition, input }: Call, name: string): Call | undefined {
  if (name !== 'duplicate') return undefined;
  const finalPrice =
    transition === 'job.succeed' ? input.finalPrice : transition === 'job.cancel' ? input.kept : undefined;
  const { wallet, job } = input as At;
  if (finalPrice === undefined || jobOf(both.world, { wallet, job })?.settled) return undefined;
  return { transition: 'job.settle', input: { wallet, job, finalPrice } };
}

/** A call with the second transition that it may bring; what the caller is answered. */
export function whole(both: BothWorlds, call: Call): string {
  const name = both.apply(call);
  const second = secondOf(both, call, name);
  return second && both.apply(second) === 'balance_limit' ? 'balance_limit' : name;
}

/** Of calls that share a statement, the second transitions come after all of the first. */
export function together(both: BothWorlds, calls: readonly Call[]): string[] {
  const names = calls.map((call) => both.apply(call));
  return calls.map((call, index) => {
    const second = secondOf(both, call, names[index]!);
    return second && both.apply(second) === 'balance_limit' ? 'balance_limit' : names[index]!;
  });
}

/** The answers, and those of the model. */
export function expectSame(got: readonly unknown[], expected: readonly string[], calls: readonly Call[]): void {
  const wrong = calls.flatMap(({ transition }, i) => {
    const name = named(got[i]);
    return name === expected[i] ? [] : [`${transition} was answered ${name}, the model says ${expected[i]}`];
  });
  if (wrong.length > 0) throw new Disagreement(wrong);
}

/** Gives calls that followed each other to the model; their outcomes are the model's, and so is all that the answers say. */
export function expectInTurn(both: BothWorlds, got: readonly unknown[], calls: readonly Call[]): void {
  for (const [index, call] of calls.entries()) {
    const before = both.world;
    expectSame([got[index]], [whole(both, call)], [call]);
    if (got[index] instanceof Refusal) continue;
    const wrong = otherFacts(
      got[index],
      factsOf(call, [before, both.world], (ms) => both.at(ms)),
    );
    if (wrong.length > 0) throw new Disagreement(wrong.map((one) => `${call.transition} was answered ${one}`));
  }
}
