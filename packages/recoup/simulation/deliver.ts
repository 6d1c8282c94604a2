// Gives a command to the fleet and to the model, and holds the answers against each other.
import type { At } from '../model/world.ts';
import { named } from '../test/support/look.ts';
import { settledOrWaiting } from '../test/support/waiting.ts';
import type { BothWorlds } from './both-worlds.ts';
import { answerTo, type Call, inTurn, send, sendAll } from './calls.ts';
import type { Command, Fault } from './commands.ts';
import { expectInTurn, expectSame, type Of, OPEN, secondOf, together, under, whole } from './exchange.ts';
import type { Sent } from './faults.ts';
import { lease, prune, sweep } from './movers.ts';
import { Disagreement } from './rows.ts';

/** What a caller hears whose connection broke. */
const LOST = 'database_unavailable';

/** Gives a command to both worlds, and compares them. Throws a Disagreement. */
export async function deliver(both: BothWorlds, command: Command): Promise<void> {
  both.tick();
  if (command.kind === 'calls') await calls(both, command);
  else if (command.kind === 'behind') await behind(both, command);
  else if (command.kind === 'lease') await lease(both, command);
  else if (command.kind === 'sweep') await sweep(both, command);
  else if (command.kind === 'prune') await prune(both, command);
  else if (command.kind === 'crash') await both.fleet.crash(command.replica);
  else await both.pass(command.ms);
  both.tally.command(command);
  await both.compare();
}

async function calls(both: BothWorlds, { replica, calls, mode, fault }: Of<'calls'>): Promise<void> {
  const { recoup } = both.fleet.at(replica);
  const { got, fired, sent } = await under(both, replica, fault, () => sendAll(recoup, calls, mode));
  if (fired && mode === 'transaction') {
    if (fault?.at === 'commit' && fault.cut === 'answer') for (const call of calls) whole(both, call);
    const unheard = calls.map(() => LOST);
    expectSame(got, unheard, calls);
    return;
  }
  // Of what shared the lost statement only the statement itself knows which were decided.
  const lost = fired ? calls.filter((_, index) => named(got[index]) === LOST) : [];
  if (fired && lost.length === 0) throw new Disagreement(['an answer that was lost reached its caller']);
  for (const one of sent) if (one.committed && lost.length > 0 && isOf(lost, one)) decided(both, one, lost);
  const heard = calls.filter((call) => !lost.includes(call));
  const answers = got.filter((_, index) => !lost.includes(calls[index]!));
  if (mode === 'single' || mode === 'transaction') expectInTurn(both, answers, heard);
  else expectSame(answers, together(both, heard), heard);
}

/** Whether a statement is the one that carried the lost calls, not one of another lane. */
function isOf(lost: readonly Call[], { inputs }: Sent): boolean {
  const { wallet, job } = (lost[0]?.input ?? {}) as Partial<At>;
  const [first] = inputs;
  return (
    wallet === undefined ||
    (first?.wallet_id === wallet && (job === undefined || first.id === job || first.job_id === job))
  );
}

/** A statement that committed and whose callers did not hear of it: applies what it decided, and compares that. */
function decided(both: BothWorlds, { name, answers }: Sent, lost: readonly Call[]): void {
  for (const { ord, outcome } of answers) {
    const call = lost[ord - 1];
    if (!call || OPEN.includes(outcome)) continue;
    const action = call.transition === name ? call : secondOf(both, call, 'duplicate');
    const expected = action && both.apply(action);
    // Of a submit that is there already, what differs is looked up afterwards.
    const same = outcome === expected || (name === 'job.submit' && outcome === 'duplicate' && expected === 'conflict');
    if (!same) throw new Disagreement([`${name} was decided ${outcome}, the model says ${expected}`]);
  }
}

const ON_PURPOSE = new Error('rolled back on purpose');

/**
 * The holder's transaction has done its work and is open when the rival's call begins: it waits, and then it comes after,
 * or it has its answer at once, and then it may have come before. Where the holder does not commit, the call is alone.
 */
async function behind(both: BothWorlds, { replica, calls, end, rival, call }: Of<'behind'>): Promise<void> {
  const [holder, other] = [both.fleet.at(replica), both.fleet.at(rival)];
  const cut = end === 'answer lost' ? 'answer' : end === 'cut before the commit' ? 'request' : undefined;
  const fault: Fault | undefined = cut && { at: 'commit', cut, crash: false };
  let answers: unknown[] = [];
  let waited = false;
  let late: Promise<unknown> | undefined;
  const run = () =>
    holder.recoup.transaction(async (inside) => {
      answers = await inTurn(inside, calls);
      late = answerTo(send(other.recoup, call));
      waited = (await settledOrWaiting(both.db, late, other.name)) === 'waiting';
      if (end === 'rollback') throw ON_PURPOSE;
    });
  const { got, fired } = await under(both, replica, fault, () =>
    run().then(
      () => 'committed',
      (error: unknown) => error,
    ),
  );
  const committed = got === 'committed' || (end === 'answer lost' && fired);
  const asMeant = end === 'commit' ? got === 'committed' : end === 'rollback' ? got === ON_PURPOSE : fired;
  const heard = await late;
  if (!asMeant || heard === undefined)
    throw got instanceof Error ? got : new Disagreement(['it did not end as it was to']);
  if (waited) both.tally.waited += 1;
  const first = () => committed && expectInTurn(both, answers, calls);
  const second = () => expectInTurn(both, [heard], [call]);
  const inOrder = (one: () => unknown, other: () => unknown) => () => {
    one();
    other();
  };
  // Without a wait neither saw what the other did: it is as if one of them had come first, whichever.
  both.either(waited ? [inOrder(first, second)] : [inOrder(second, first), inOrder(first, second)]);
}
