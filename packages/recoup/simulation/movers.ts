// Gives what moves jobs by itself to both worlds: leases, sweeps, pruning.
import { type Job, jobOf, keyOf, queueOf } from '../model/world.ts';
import { decodeJob, type JobRow } from '../src/jobs/job.ts';
import type { BothWorlds } from './both-worlds.ts';
import { answerTo, send } from './calls.ts';
import { expectInTurn, type Of, OPEN, under } from './exchange.ts';
import type { Sent } from './faults.ts';
import { Disagreement } from './rows.ts';

const HOUR = 3_600_000;
const LAPSED = ['retrying', 'dead', 'refunded'];

/** The attempts in what `job.lease` answered. */
function attemptsIn({ answers }: Sent): { wallet: string; job: string; attempt: number }[] {
  const given = (answers[0] as unknown as { jobs: { job: JobRow }[] }).jobs;
  return given.map(({ job }) => decodeJob(job)).map(({ wallet, id, attempt }) => ({ wallet, job: id, attempt }));
}

export async function lease(both: BothWorlds, { replica, queue, count, request, fault }: Of<'lease'>): Promise<void> {
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

/** What is overdue, in the order of a sweep: the longest overdue first. */
function overdue({ world }: BothWorlds, until: (job: Job) => number | null): Job[] {
  return Object.values(world.jobs)
    .filter((job) => (until(job) ?? Number.POSITIVE_INFINITY) <= world.clock)
    .sort((a, b) => until(a)! - until(b)! || (inWords(a) < inWords(b) ? -1 : 1));
}
const byLease = (job: Job) => job.leaseUntil;
const byDeadline = (job: Job) => job.deadlineAt;

/** Leases, then deadlines: each is read, then written by the attempt that was seen. What others do in between counts. */
export async function sweep(both: BothWorlds, { replica, fault, meanwhile }: Of<'sweep'>): Promise<void> {
  const { recoup } = both.fleet.at(replica);
  const seen = { leases: overdue(both, byLease), deadlines: overdue(both, byDeadline) };
  let early: unknown;
  const between = async () => {
    if (!meanwhile) return;
    const { recoup: other } = both.fleet.at(meanwhile.rival);
    for (const call of meanwhile.calls) {
      const got = [await answerTo(send(other, call))];
      // Thrown here, it would be taken for a failure of the sweep's own connection.
      try {
        expectInTurn(both, got, [call]);
      } catch (error) {
        early ??= error;
      }
    }
    both.tally.between += 1;
    // Where there were leases, the deadlines are still to be read.
    if (seen.leases.length > 0) seen.deadlines = overdue(both, byDeadline);
  };
  const pass = () => recoup.sweep().catch((error: unknown) => error);
  const { got, fired, sent } = await under(both, replica, fault, pass, between);
  if (early !== undefined) throw early;
  const lapse = (wallet: string, job: string, attempt: number) =>
    both.apply({ transition: 'job.lapse', input: { wallet, job, attempt } });
  if (fired) {
    for (const { name, inputs, answers, committed } of sent) {
      if (!committed || name !== 'job.lapse') continue;
      for (const { ord, outcome } of answers) {
        const at = inputs[ord - 1] as { wallet_id: string; id: string; n: number };
        if (!OPEN.includes(outcome)) lapse(at.wallet_id, at.id, at.n);
      }
    }
    return;
  }
  if (got instanceof Error) throw got;
  // A lapse of a lease makes no deadline due.
  const names = [...seen.leases, ...seen.deadlines].map(({ wallet, id, attempt }) => lapse(wallet, id, attempt));
  const [lapsed, failed] = [LAPSED, ['balance_limit']].map(
    (some) => names.filter((name) => some.includes(name)).length,
  );
  const swept = got as { lapsed: number; failed: number };
  if (swept.lapsed !== lapsed || swept.failed !== failed) {
    throw new Disagreement([`swept ${JSON.stringify(swept)}, the model says ${names}`]);
  }
  for (const [id, { at }] of both.requests) if (at < both.world.clock - HOUR) both.requests.delete(id);
}

export async function prune(both: BothWorlds, { replica, fault }: Of<'prune'>): Promise<void> {
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
