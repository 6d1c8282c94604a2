// Gives a command to the fleet and to the model, and holds the answers against each other.
import { type At, type Job, jobOf, keyOf, queueOf } from '../model/world.ts';
import { decodeJob, type JobRow } from '../src/jobs/job.ts';
import { answer } from '../test/support/look.ts';
import { settledOrWaiting } from '../test/support/waiting.ts';
import type { BothWorlds } from './both-worlds.ts';
import { type Call, inTurn, send, sendAll } from './calls.ts';
import type { Command, Fault } from './commands.ts';
import type { Sent } from './faults.ts';
import { Disagreement } from './rows.ts';

type Of<K extends Command['kind']> = Extract<Command, { kind: K }>;

const HOUR = 3_600_000;
/** What a caller hears whose connection broke. */
const LOST = 'database_unavailable';
/** Outcomes of a statement that did not decide yet. */
const OPEN = ['again', 'busy'];

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

/** Sends something to a replica under a fault; gives what was answered, and what the server knows of it. */
async function under<T>(both: BothWorlds, replica: number, fault: Fault | undefined, send: () => Promise<T>) {
  const { faults } = both.fleet.at(replica);
  faults.arm(fault);
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
function secondOf(both: BothWorlds, { transition, input }: Call, name: string): Call | undefined {
  if (name !== 'duplicate') return undefined;
  const finalPrice =
    transition === 'job.succeed' ? input.finalPrice : transition === 'job.cancel' ? input.kept : undefined;
  const { wallet, job } = input as At;
  if (finalPrice === undefined || jobOf(both.world, { wallet, job })?.settled) return undefined;
  return { transition: 'job.settle', input: { wallet, job, finalPrice } };
}

/** A call with the second transition that it may bring; what the caller is answered. */
function whole(both: BothWorlds, call: Call): string {
  const name = both.apply(call);
  const second = secondOf(both, call, name);
  return second && both.apply(second) === 'balance_limit' ? 'balance_limit' : name;
}

/** Of calls that share a statement, the second transitions come after all of the first. */
function together(both: BothWorlds, calls: readonly Call[]): string[] {
  const names = calls.map((call) => both.apply(call));
  return calls.map((call, index) => {
    const second = secondOf(both, call, names[index]!);
    return second && both.apply(second) === 'balance_limit' ? 'balance_limit' : names[index]!;
  });
}

function expectSame(got: readonly string[], expected: readonly string[], calls: readonly Call[]): void {
  const wrong = calls.flatMap(({ transition }, i) =>
    got[i] === expected[i] ? [] : [`${transition} was answered ${got[i]}, the model says ${expected[i]}`],
  );
  if (wrong.length > 0) throw new Disagreement(wrong);
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
  const lost = fired ? calls.filter((_, index) => got[index] === LOST) : [];
  if (fired && lost.length === 0) throw new Disagreement(['an answer that was lost reached its caller']);
  for (const one of sent) if (one.committed && lost.length > 0 && isOf(lost, one)) decided(both, one, lost);
  const heard = calls.filter((call) => !lost.includes(call));
  const alone = mode === 'single' || mode === 'transaction';
  const expected = alone ? heard.map((call) => whole(both, call)) : together(both, heard);
  const answers = got.filter((_, index) => !lost.includes(calls[index]!));
  expectSame(answers, expected, heard);
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
 * or it has its answer at once, and then it came before. Where the holder does not commit, the call is alone.
 */
async function behind(both: BothWorlds, { replica, calls, end, rival, call }: Of<'behind'>): Promise<void> {
  const [holder, other] = [both.fleet.at(replica), both.fleet.at(rival)];
  const cut = end === 'answer lost' ? 'answer' : end === 'cut before the commit' ? 'request' : undefined;
  const fault: Fault | undefined = cut && { at: 'commit', cut, crash: false };
  let answers: string[] = [];
  let waited = false;
  let late: Promise<string> | undefined;
  const run = () =>
    holder.recoup.transaction(async (inside) => {
      answers = await inTurn(inside, calls);
      late = answer(send(other.recoup, call));
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
  const first = () =>
    committed &&
    expectSame(
      answers,
      calls.map((one) => whole(both, one)),
      calls,
    );
  const second = () => expectSame([heard], [whole(both, call)], [call]);
  for (const next of waited ? [first, second] : [second, first]) next();
}

/** The attempts in what `job.lease` answered. */
function attemptsIn({ answers }: Sent): { wallet: string; job: string; attempt: number }[] {
  const given = (answers[0] as unknown as { jobs: { job: JobRow }[] }).jobs;
  return given.map(({ job }) => decodeJob(job)).map(({ wallet, id, attempt }) => ({ wallet, job: id, attempt }));
}

async function lease(both: BothWorlds, { replica, queue, count, request, fault }: Of<'lease'>): Promise<void> {
  const { recoup } = both.fleet.at(replica);
  const input = { queue, count, ...(request === null ? {} : { requestId: request }) };
  const take = () =>
    recoup.jobs.lease(input).then(
      (got) => got.map(({ job }) => inWords(job)),
      () => undefined,
    );
  const { got, fired, sent } = await under(both, replica, fault, take);
  if ((got === undefined) !== fired)
    throw new Disagreement(['a lease that failed by itself, or was answered without an answer']);
  const given = sent.filter(({ committed }) => committed).flatMap(attemptsIn);
  const words = given.map(({ wallet, job, attempt }) => `${wallet}/${job} ${attempt}`).sort();
  if (got && got.sort().join() !== words.join()) throw new Disagreement([`leased ${got}, the server gave ${words}`]);
  // A request id counts within its queue.
  const asked = request === null ? null : `${queue} ${request}`;
  const known = asked === null ? undefined : both.requests.get(asked);
  if (known) {
    const still = known.jobs.filter((job) => isRunning(both, job, job.attempt + 1));
    const should = still.map((job) => `${job.wallet}/${job.id} ${job.attempt + 1}`).sort();
    if (words.length > 0 || !fired) expectList('asked again', words, should);
    return;
  }
  const ready = readyIn(both, queue);
  if (!fired && given.length !== Math.min(count, ready.length)) {
    throw new Disagreement([`${given.length} jobs leased, ${ready.length} were ready`]);
  }
  const before = given.map((at) => jobOf(both.world, at)).filter((job) => job !== undefined);
  for (const { wallet, job } of given) both.apply({ transition: 'job.lease', input: { wallet, job } });
  const wrong = given.filter(
    ({ attempt, ...at }) =>
      !ready.includes(before.find((job) => keyOf(at) === `${job.wallet}/${job.id}`)!) ||
      jobOf(both.world, at)?.attempt !== attempt,
  );
  if (wrong.length > 0) throw new Disagreement([`leased ${JSON.stringify(wrong)}, which was not ready`]);
  if (asked !== null && given.length > 0) both.requests.set(asked, { jobs: before, at: both.world.clock });
}

const inWords = (job: { wallet: string; id: string; attempt: number }) => `${job.wallet}/${job.id} ${job.attempt}`;

function expectList(what: string, got: readonly string[], should: readonly string[]): void {
  if (got.join() !== should.join()) throw new Disagreement([`${what}: ${got}, the model says ${should}`]);
}

function isRunning(both: BothWorlds, { wallet, id }: Job, attempt: number): boolean {
  const now = jobOf(both.world, { wallet, job: id });
  return now?.state === 'running' && now.attempt === attempt;
}

function readyIn({ world }: BothWorlds, queue: string): Job[] {
  if (queueOf(world, queue).paused) return [];
  const due = (job: Job) => job.notBefore !== null && job.notBefore <= world.clock;
  return Object.values(world.jobs).filter((job) => job.queue === queue && due(job));
}

/** What the sweep finds, in its order: leases, then deadlines, the longest overdue first. */
function dueIn({ world }: BothWorlds): Job[] {
  const by = (until: (job: Job) => number | null) =>
    Object.values(world.jobs)
      .filter((job) => (until(job) ?? Number.POSITIVE_INFINITY) <= world.clock)
      .sort((a, b) => until(a)! - until(b)! || (inWords(a) < inWords(b) ? -1 : 1));
  return [...by((job) => job.leaseUntil), ...by((job) => job.deadlineAt)];
}

async function sweep(both: BothWorlds, { replica, fault }: Of<'sweep'>): Promise<void> {
  const { recoup } = both.fleet.at(replica);
  const { got, fired, sent } = await under(both, replica, fault, () => recoup.sweep().catch(() => undefined));
  const lapse = ({ wallet, id, attempt }: Job) =>
    both.apply({ transition: 'job.lapse', input: { wallet, job: id, attempt } });
  if (fired) {
    for (const { name, inputs, answers, committed } of sent) {
      if (!committed || name !== 'job.lapse') continue;
      for (const { ord, outcome } of answers) {
        const {
          wallet_id: wallet,
          id: job,
          n: attempt,
        } = inputs[ord - 1] as { wallet_id: string; id: string; n: number };
        if (!OPEN.includes(outcome)) both.apply({ transition: 'job.lapse', input: { wallet, job, attempt } });
      }
    }
    return;
  }
  const names = dueIn(both).map(lapse);
  const failed = names.filter((name) => name === 'balance_limit').length;
  const should = { lapsed: names.length - failed, failed, pruned: 0 };
  if (got?.lapsed !== should.lapsed || got.failed !== should.failed) {
    throw new Disagreement([`swept ${JSON.stringify(got)}, the model ${JSON.stringify(should)}: ${names}`]);
  }
  for (const [id, { at }] of both.requests) if (at < both.world.clock - HOUR) both.requests.delete(id);
}

async function prune(both: BothWorlds, { replica, fault }: Of<'prune'>): Promise<void> {
  const { recoup } = both.fleet.at(replica);
  const take = () => recoup.jobs.prune({ olderThanMs: 0 }).catch(() => undefined);
  const { got, fired, sent } = await under(both, replica, fault, take);
  if (fired && !sent.some(({ committed }) => committed)) return;
  const old = Object.entries(both.world.jobs).filter(
    ([key]) => (both.endedAt.get(key) ?? Number.POSITIVE_INFINITY) < both.world.clock,
  );
  for (const [key, { wallet, id }] of old) {
    both.apply({ transition: 'job.prune', input: { wallet, job: id } });
    both.endedAt.delete(key);
  }
  if (!fired && got !== old.length) throw new Disagreement([`${got} jobs pruned, the model says ${old.length}`]);
}
