// The exhaustive walk: breadth first through every state a scenario can reach, checking every state and every step.
import { isDeepStrictEqual } from 'node:util';
import { invariants } from './invariants.ts';
import { type Action, apply, type Model, model } from './model.ts';
import { nameOf, promises } from './promises.ts';
import { type At, type Job, jobOf, keyOf, type Step, type World } from './world.ts';

/** A transition, or the passing of one job's time: its lease, its deadline, its waiting for the next attempt. */
export type Move = Action | { readonly transition: 'time.pass'; readonly input: At };

export interface Scenario {
  readonly name: string;
  readonly start: World;
  readonly jobs: readonly At[];
  /** Every signal that may arrive, in every state, any number of times. */
  readonly moves: readonly Move[];
  /** No attempt above this number is leased: what makes the walk end. */
  readonly maxAttempt: number;
  /** Whether states are told apart by all that is in them, or by what their future depends on. */
  readonly exact: boolean;
}

export interface Violation {
  readonly problems: readonly string[];
  /** The shortest way to it: each move with its answer. */
  readonly history: readonly string[];
}

export interface Walk {
  readonly scenario: string;
  readonly states: number;
  /** Steps that changed something; `answers` counts all. */
  readonly steps: number;
  readonly answers: number;
  readonly crashPoints: number;
  readonly depth: number;
  readonly counts: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly violation?: Violation;
}

export interface WalkOptions {
  readonly by?: Model;
  readonly progress?: (states: number, depth: number) => void;
}

interface Node {
  readonly id: number;
  readonly world: World;
}

/** Answers of a transition that is asked for again and again; all others have to say `duplicate` the second time. */
const REPEATABLE = ['leased', 'extended', 'changed', 'configured', 'pruned'];

export function walk(scenario: Scenario, { by = model, progress }: WalkOptions = {}): Walk {
  const seen = new Set<string>([keyOfState(scenario, scenario.start)]);
  const from: { id: number; move: Move }[] = [{ id: -1, move: scenario.moves[0]! }];
  const counts: Record<string, Record<string, number>> = {};
  const leftAlone = new Set<string>();
  const tally = { steps: 0, answers: 0, crashPoints: 0, depth: 0 };
  const report = (): Walk => ({ scenario: scenario.name, states: seen.size, ...tally, counts });
  const violated = (problems: readonly string[], moves: readonly Move[]): Walk => ({
    ...report(),
    violation: { problems, history: replay(scenario, moves, by) },
  });

  let level: Node[] = [{ id: 0, world: scenario.start }];
  while (level.length > 0) {
    const next: Node[] = [];
    for (const { id, world } of level) {
      const stuck = scenario.jobs.flatMap((at) => endsByItself(world, at, by, leftAlone));
      if (stuck.length > 0) return violated(stuck, wayTo(from, id));
      for (const move of scenario.moves) {
        if (beyondBounds(scenario, world, move)) continue;
        const step = make(world, move, by);
        tally.answers++;
        count(counts, move.transition, nameOf(step.answer));
        if (mayTakeTwo(move)) tally.crashPoints++;
        const problems = check(world, move, step, by);
        if (problems.length > 0) return violated(problems, [...wayTo(from, id), move]);
        if (step.world === world) continue;
        tally.steps++;
        const after = dueOrNot(step.world);
        const key = keyOfState(scenario, after);
        if (seen.has(key)) continue;
        seen.add(key);
        next.push({ id: from.length, world: after });
        from.push({ id, move });
      }
    }
    if (next.length > 0) tally.depth++;
    level = next;
    progress?.(seen.size, tally.depth);
  }
  return report();
}

function count(counts: Record<string, Record<string, number>>, transition: string, name: string): void {
  const answers = counts[transition] ?? {};
  answers[name] = (answers[name] ?? 0) + 1;
  counts[transition] = answers;
}

/** Everything that one step has to keep: its own promises, the state it leads to, its repeat, a crash inside its call. */
function check(world: World, move: Move, step: Step, by: Model): string[] {
  if (move.transition === 'time.pass') return [];
  const problems = promises({ before: world, action: move, after: step.world, answer: step.answer });
  if (step.world !== world) problems.push(...invariants(step.world), ...repeats(step, move, by));
  if (mayTakeTwo(move)) problems.push(...survivesCrash(step, move, by));
  return problems;
}

/** Signals of attempts that nobody can know of yet add nothing; one above the present one stays, for success. */
function beyondBounds(scenario: Scenario, world: World, move: Move): boolean {
  if (!('job' in move.input) || move.input.job === undefined) return false;
  const attempt = world.jobs[`${move.input.wallet}/${move.input.job}`]?.attempt ?? 0;
  if (move.transition === 'job.lease') {
    const { request } = move.input;
    return request === undefined ? attempt >= scenario.maxAttempt : world.requests[request] === undefined;
  }
  return 'attempt' in move.input && (move.input.attempt ?? 0) > attempt + 1;
}

/** Takes the move. A new lease gets a request id of its own, so that its answer can be asked for again. */
function make(world: World, move: Move, by: Model): Step {
  if (move.transition === 'time.pass') return { world: passTime(world, move.input), answer: { outcome: 'passed' } };
  if (move.transition !== 'job.lease' || move.input.request !== undefined) return apply(world, move, by);
  const request = `${keyOf(move.input)}/${(jobOf(world, move.input)?.attempt ?? 0) + 1}`;
  return apply(world, { ...move, input: { ...move.input, request } }, by);
}

function passTime(world: World, at: At): World {
  const job = jobOf(world, at);
  const until = job?.notBefore ?? job?.leaseUntil ?? job?.deadlineAt ?? world.clock;
  if (!job || until <= world.clock) return world;
  return { ...world, jobs: { ...world.jobs, [keyOf(at)]: timed(job, () => world.clock) } };
}

function timed(job: Job, to: (instant: number) => number): Job {
  const { notBefore, leaseUntil, deadlineAt } = job;
  return {
    ...job,
    notBefore: notBefore === null ? null : to(notBefore),
    leaseUntil: leaseUntil === null ? null : to(leaseUntil),
    deadlineAt: deadlineAt === null ? null : to(deadlineAt),
  };
}

/** Of an instant only this matters: has it passed? So the clock stands still, and instants are now or later. */
function dueOrNot(world: World): World {
  const { clock } = world;
  let after = world;
  for (const [key, job] of Object.entries(world.jobs)) {
    const until = job.notBefore ?? job.leaseUntil ?? job.deadlineAt ?? clock;
    if (until === clock || until === clock + 1) continue;
    const plain = timed(job, (instant) => (instant <= clock ? clock : clock + 1));
    after = { ...after, jobs: { ...after.jobs, [key]: plain } };
  }
  return after;
}

/**
 * What tells states apart: all that is in them, or what the future depends on. The second leaves out the order of the
 * ledger (its sums are in the balances, what was once is in the jobs), how attempts ended, and what no answer for an
 * ended job looks at. What is left out is still checked on every step, before two states become one.
 */
function keyOfState(scenario: Scenario, world: World): string {
  let key = '';
  for (const wallet of Object.values(world.wallets)) {
    key += `${wallet.balance},${wallet.status},${wallet.overdraftLimit};`;
  }
  for (const entry of world.entries) if (entry.key !== null) key += `${entry.wallet}${entry.key}${entry.type};`;
  for (const settings of Object.values(world.queues)) if (settings.paused) key += 'paused;';
  const charged = new Set<string>();
  for (const entry of world.entries) if (entry.type === 'charge') charged.add(`${entry.wallet}/${entry.job}`);
  for (const at of scenario.jobs) {
    const job = jobOf(world, at);
    key += job === undefined ? (charged.has(keyOf(at)) ? 'pruned' : '-') : keyOfJob(job, scenario.exact);
    key += ';';
  }
  if (!scenario.exact) return key;
  for (const entry of world.entries) key += `${entry.type}${entry.job}${entry.amount};`;
  const rows = world.attempts.map((row) => `${row.job}${row.attempt}${row.endedAs}${row.verdict}`);
  return key + rows.sort().join(',');
}

function keyOfJob(job: Job, exact: boolean): string {
  if (job.succeeded && !exact) return `S${job.refunded}${job.finalPrice}`;
  if (job.canceled && !exact) return `C${job.finalPrice}`;
  const { state, attempt, failures, releases, failedAttempt, verdict, refunded, succeededAttempt, finalPrice } = job;
  const until = job.notBefore ?? job.leaseUntil ?? job.deadlineAt;
  const run = `${state},${attempt},${failures},${releases},${failedAttempt},${verdict}`;
  return `${run},${refunded},${until},${succeededAttempt},${finalPrice}`;
}

/** A lost answer: the same call again changes nothing, and says so. */
function repeats(step: Step, move: Action, by: Model): string[] {
  if ('refusal' in step.answer) return [];
  const first = nameOf(step.answer);
  // The request id of a lease is the one of the attempt that it gave.
  const again = { ...move, input: { ...move.input } } as Action;
  if (move.transition === 'job.lease' && step.answer.attempt != null) {
    (again.input as { request?: string }).request = `${keyOf(move.input)}/${step.answer.attempt}`;
  }
  const second = apply(step.world, again, by);
  const name = nameOf(second.answer);
  const problems: string[] = [];
  if (second.world !== step.world && !isDeepStrictEqual(second.world, step.world))
    problems.push('repeated, it changes more');
  if (first === 'leased' && !isDeepStrictEqual(second.answer, step.answer))
    problems.push('repeated, it gives another attempt');
  if (name !== (REPEATABLE.includes(first) ? first : 'duplicate')) problems.push(`repeated, it answers ${name}`);
  return problems;
}

/** A success or cancel that brings a final price may come second: then the library books the price by job.settle. */
const mayTakeTwo = (move: Move): boolean =>
  (move.transition === 'job.succeed' && move.input.finalPrice !== undefined) ||
  (move.transition === 'job.cancel' && move.input.kept !== undefined);

/** The rest of a call whose first transition gave `first`. */
function finish(first: Step, move: Move, by: Model): Step {
  if (nameOf(first.answer) !== 'duplicate') return first;
  const { wallet, job, finalPrice, kept } = move.input as At & { finalPrice?: number; kept?: number };
  const input = { wallet, job, finalPrice: finalPrice ?? kept ?? 0 };
  const second = apply(first.world, { transition: 'job.settle', input }, by);
  // Another final price is already booked: that one stands, and the call stays a duplicate.
  return nameOf(second.answer) === 'balance_limit' ? second : { world: second.world, answer: first.answer };
}

/** The process dies between the two transitions of one call, and the caller repeats it: the end is the same. */
function survivesCrash(first: Step, move: Action, by: Model): string[] {
  const whole = finish(first, move, by);
  const repeated = finish(apply(first.world, move, by), move, by);
  const problems: string[] = [];
  if (whole.world !== repeated.world && !isDeepStrictEqual(whole.world, repeated.world)) {
    problems.push('a crash inside the call and its repeat end elsewhere');
  }
  const job = jobOf(whole.world, move.input as At);
  const tooLate = move.transition === 'job.cancel' && job?.succeeded;
  if (job && 'outcome' in whole.answer && !tooLate && !job.settled)
    problems.push('the final price that came along is lost');
  return problems;
}

/** If every worker dies and nobody does anything, time alone ends the job: no queued, running or handed over job is stuck. */
function endsByItself(world: World, at: At, by: Model, known: Set<string>): string[] {
  let job = jobOf(world, at);
  if (!job || (job.queue === null && job.deadlineAt === null)) return [];
  const key = `${keyOf(at)} ${keyOfJob(job, true)}`;
  if (known.has(key)) return [];
  const settings = Object.entries(world.queues).map(([id, queue]) => [id, { ...queue, paused: false }]);
  let now: World = { ...world, queues: Object.fromEntries(settings) };
  for (let turn = 0; turn < 50; turn++) {
    job = jobOf(now, at);
    if (!job || !['queued', 'running', 'waiting'].includes(job.state)) {
      known.add(key);
      return [];
    }
    now = passTime(now, at);
    const input = { ...at, attempt: job.attempt };
    const step =
      job.state === 'queued'
        ? apply(now, { transition: 'job.lease', input: at }, by)
        : apply(now, { transition: 'job.lapse', input }, by);
    // A balance at its limit holds a refund back until credits are spent: known, and nothing that time could end.
    if (nameOf(step.answer) === 'balance_limit') return [];
    now = step.world;
  }
  return [`${keyOf(at)} does not end by time alone`];
}

function wayTo(from: readonly { id: number; move: Move }[], id: number): Move[] {
  const moves: Move[] = [];
  for (let node = id; node > 0; node = from[node]!.id) moves.push(from[node]!.move);
  return moves.reverse();
}

function replay(scenario: Scenario, moves: readonly Move[], by: Model): string[] {
  let world = scenario.start;
  return moves.map((move) => {
    const step = make(world, move, by);
    world = dueOrNot(step.world);
    return `${move.transition} ${JSON.stringify(move.input)}: ${nameOf(step.answer)}`;
  });
}
