// What must be true of every step: who may change what, which answer means that nothing changed, what is final.
import { transitions } from '../src/outcomes.ts';
import type { Action, Report } from './model.ts';
import type { Answer, At, Job, World } from './world.ts';
import { keyOf, queueOf } from './world.ts';

/** One step as the walk saw it. */
export interface Taken {
  readonly before: World;
  readonly action: Action;
  readonly after: World;
  readonly answer: Answer;
}

/** Answers that mean "another one was first": they must not have changed anything. */
const LOST: readonly string[] = ['canceled', 'succeeded', 'stale', 'duplicate'];
const WON_DESPITE_NAME: Readonly<Record<string, string>> = { 'job.cancel': 'canceled', 'job.succeed': 'succeeded' };

/** Signals that carry an attempt and must not reach another one. */
const FENCED: readonly string[] = ['job.fail', 'job.lapse', 'job.extend', 'job.handOver', 'job.release'];

export const nameOf = (answer: Answer): string => ('outcome' in answer ? answer.outcome : answer.refusal);

/** Every promise that the step breaks, in words. */
export function promises(taken: Taken): string[] {
  const problems: string[] = [];
  const { before, after, action } = taken;
  checkAnswer(taken, problems);
  const at = action.input as Partial<At>;
  const key = action.transition.startsWith('job.') ? keyOf({ wallet: at.wallet ?? '', job: at.job ?? '' }) : '';
  const old = before.jobs[key];
  mustCount(taken, old, problems);
  if (after === before) return problems;
  checkLedger(taken, problems);
  for (const [id, job] of Object.entries(after.jobs)) {
    if (id !== key && job !== before.jobs[id]) problems.push(`${id} changed by ${action.transition} of ${key}`);
  }
  const job = after.jobs[key];
  if (old && job && old !== job) checkJob(taken, old, job, problems);
  if (old && !job && !(action.transition === 'job.prune' && (old.succeeded || old.canceled))) {
    problems.push(`${key} is gone`);
  }
  if (job && action.transition === 'job.lease') checkDue(before, old, problems);
  return problems;
}

function checkAnswer({ before, after, action, answer }: Taken, problems: string[]): void {
  const name = nameOf(answer);
  const row: { readonly outcomes: readonly string[]; readonly refusals: readonly string[] } =
    transitions[action.transition];
  const known = ('outcome' in answer ? row.outcomes : row.refusals).includes(name);
  if (!known) problems.push(`answers ${name}, not in the table`);
  const lost = LOST.includes(name) && WON_DESPITE_NAME[action.transition] !== name;
  if (after !== before && ('refusal' in answer || lost)) problems.push(`answers ${name}, but something changed`);
  if (after === before && 'outcome' in answer && !lost && !['leased', 'pruned'].includes(name)) {
    problems.push(`answers ${name}, but nothing changed`);
  }
}

/** A success counts until the job is canceled, a cancel until it succeeded: so every job can still end, in every state. */
function mustCount({ action, answer }: Taken, old: Job | undefined, problems: string[]): void {
  if (!old || old.succeeded || old.canceled) return;
  const name = nameOf(answer);
  const allowed = {
    'job.succeed': [old.refunded ? 'reclaimed' : 'succeeded', 'balance_limit'],
    'job.cancel': ['canceled', 'balance_limit'],
  };
  if (action.transition === 'job.succeed' || action.transition === 'job.cancel') {
    if (!allowed[action.transition].includes(name)) problems.push(`is answered ${name} although the job has not ended`);
  }
  if (action.transition === 'job.fail') mustUpgrade(action.input, old, name, problems);
}

/** A definitive failure of the latest attempt is heard also when a presumed one, or a release, came before it. */
function mustUpgrade(report: Report, old: Job, name: string, problems: string[]): void {
  const heard = name === 'retrying' || name === 'dead' || name === 'refunded';
  const said = old.failedAttempt === old.attempt && old.verdict === 'definitive';
  const known = said && (report.retryable || old.failures === 0);
  const news = report.verdict === 'definitive' && report.attempt === old.attempt && old.state === 'queued' && !known;
  if (news && !heard && name !== 'balance_limit') problems.push(`is answered ${name} although it was not known yet`);
  if (heard && !report.retryable && name === 'retrying')
    problems.push('is retried although the failure is not retryable');
}

/** What a failure does to the price and to the time of the next run. */
function checkFailure(before: World, old: Job, job: Job, problems: string[]): void {
  const counts = old.failedAttempt !== old.attempt;
  const refunded = old.refunded || old.refundOn === 'failure' || job.state !== 'queued';
  if (job.refunded !== refunded) problems.push(job.refunded ? 'refunded too early' : 'did not refund');
  if (job.failures !== old.failures + (counts ? 1 : 0)) problems.push('counted wrongly');
  if (job.state !== 'queued' || job.notBefore === null) return;
  const earliest = before.clock + queueOf(before, old.queue).backoffBaseMs / 2;
  if (job.notBefore < (counts ? earliest : (old.notBefore ?? 0))) problems.push('runs again too early');
}

/** The ledger only grows, only in the wallet of the transition, and only submit needs credits. */
function checkLedger({ before, after, action, answer }: Taken, problems: string[]): void {
  const { wallet } = action.input as Partial<At>;
  if (before.entries.some((entry, index) => after.entries[index] !== entry)) problems.push('an entry was rewritten');
  const added = after.entries.slice(before.entries.length);
  if (added.some((entry) => entry.wallet !== wallet)) problems.push('an entry in another wallet');
  if (
    ['job.redrive', 'job.discard', 'job.release', 'job.prune', 'job.lease'].includes(action.transition) &&
    added.length > 0
  ) {
    problems.push('moved money');
  }
  const own = wallet === undefined ? undefined : after.wallets[wallet];
  if (action.transition === 'job.submit' && own && nameOf(answer) === 'charged') {
    if (own.balance < -own.overdraftLimit || own.status !== 'active') problems.push('charged a wallet that cannot pay');
  }
}

function checkJob({ before, action }: Taken, old: Job, job: Job, problems: string[]): void {
  const ended = (old.succeeded && 'succeeded') || (old.canceled && 'canceled') || undefined;
  if (ended !== undefined && (job.state !== ended || action.transition !== 'job.settle')) {
    problems.push(`changed a job that is ${ended}`);
  }
  const run = action.transition === 'job.lease' ? old.attempt + 1 : old.attempt;
  if (job.attempt !== run) problems.push(`attempt ${old.attempt} became ${job.attempt}`);
  if (FENCED.includes(action.transition)) {
    const { attempt } = action.input as { attempt?: number };
    // A job without a queue has one attempt of ours, whatever number its caller counts.
    const counted = old.queue !== null || action.transition !== 'job.fail';
    if (counted && attempt !== undefined && attempt !== old.attempt)
      problems.push(`a signal of attempt ${attempt} changed attempt ${old.attempt}`);
  }
  if (action.transition === 'job.release' && job.failures !== old.failures)
    problems.push('counted a release as a failure');
  if (action.transition === 'job.redrive' && (job.failures !== 0 || job.releases !== 0))
    problems.push('kept the counters');
  if (action.transition === 'job.lapse' && !((old.leaseUntil ?? old.deadlineAt ?? Infinity) <= before.clock))
    problems.push('lapsed before its time');
  if (action.transition === 'job.release' && (old.state !== 'running' || job.releases !== old.releases + 1)) {
    problems.push('a release that was not one, or was not counted');
  }
  if (action.transition === 'job.fail' || action.transition === 'job.lapse') checkFailure(before, old, job, problems);
}

function checkDue(before: World, old: Job | undefined, problems: string[]): void {
  const ready = old?.state === 'queued' && (old.notBefore ?? Infinity) <= before.clock;
  if (!ready || queueOf(before, old.queue).paused) problems.push('leased what may not run now');
}
