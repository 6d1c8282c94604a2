// What must be true in every state: the constraints of the tables, the ledger, and flags against entries.
import type { Job, World } from './world.ts';

/** The CHECKs of the jobs table by their names, and two rules that no CHECK can say. */
const CHECKS: Readonly<Record<string, (job: Job) => boolean>> = {
  jobs_price: (j) => Number.isSafeInteger(j.price) && j.price >= 0,
  jobs_final_price: (j) => j.finalPrice === null || (Number.isSafeInteger(j.finalPrice) && j.finalPrice >= 0),
  jobs_counters: (j) =>
    j.attempt >= 0 && j.releases >= 0 && j.maxFailures >= 1 && j.failures >= 0 && j.failures <= j.attempt,
  jobs_reclaimed: (j) => (j.succeeded && j.refunded) === j.reclaimed,
  jobs_canceled_not_succeeded: (j) => !(j.canceled && j.succeeded),
  jobs_settled: (j) => j.settled === (j.finalPrice !== null) && (!j.settled || j.succeeded || j.canceled),
  jobs_succeeded: (j) => (j.state === 'succeeded') === j.succeeded && j.succeeded === (j.succeededAttempt !== null),
  jobs_canceled: (j) => (j.state === 'canceled') === j.canceled,
  jobs_ended_badly: (j) => !['dead', 'failed', 'canceled', 'discarded'].includes(j.state) || j.refunded,
  jobs_dead: (j) => (j.state === 'dead' || j.state === 'discarded') === j.dead,
  jobs_running: (j) => (j.state === 'running') === (j.leaseUntil !== null),
  jobs_waiting: (j) => j.deadlineAt === null || j.state === 'waiting',
  jobs_queued: (j) => (j.state === 'queued') === (j.notBefore !== null),
  jobs_attempted: (j) => !isUnderWay(j) || j.attempt >= 1,
  jobs_of_queue: (j) =>
    j.queue === null ? ['waiting', 'succeeded', 'failed', 'canceled'].includes(j.state) : j.state !== 'failed',
  'a job that may still run has failures left': (j) =>
    !(isUnderWay(j) || j.state === 'queued') || j.failures < j.maxFailures,
  'a waiting job of a queue has a deadline': (j) => j.state !== 'waiting' || j.queue === null || j.deadlineAt !== null,
};

const isUnderWay = (job: Job): boolean => job.state === 'running' || job.state === 'waiting';

/** What the ledger holds of one job: the sum of each type of entry that a job may have once. */
interface Booked {
  charge?: number;
  refund?: number;
  reclaim?: number;
  settle?: number;
}
type OncePerJob = keyof Booked;
const ONCE_PER_JOB: readonly OncePerJob[] = ['charge', 'refund', 'reclaim', 'settle'];
const isOncePerJob = (type: string): type is OncePerJob => (ONCE_PER_JOB as readonly string[]).includes(type);

const SIGNS: Readonly<Record<string, (amount: number) => boolean>> = {
  grant: (amount) => amount > 0,
  charge: (amount) => amount <= 0,
  refund: (amount) => amount >= 0,
  reclaim: (amount) => amount <= 0,
  settle: () => true,
  adjust: (amount) => amount !== 0,
};

/** Rows never change, so one that was found sound stays so: the walk meets each of them many times. */
const sound = new WeakSet<Job>();

/** Every rule that the state breaks, in words. Empty in every state that may be reached. */
export function invariants(world: World): string[] {
  const problems: string[] = [];
  for (const id of Object.keys(world.wallets)) checkLedger(world, id, problems);
  for (const [key, job] of Object.entries(world.jobs)) {
    if (!sound.has(job)) {
      const broken = Object.entries(CHECKS).filter(([, holds]) => !holds(job));
      if (broken.length === 0) sound.add(job);
      for (const [name] of broken) problems.push(`${key}: ${name}`);
    }
    compare(key, job, entriesOf(world, job.wallet, job.id, problems), problems);
    checkAttempts(world, key, job, problems);
  }
  for (const { type, wallet, job } of world.entries) {
    if (type === 'charge' && job !== null && world.jobs[`${wallet}/${job}`] === undefined) {
      checkPruned(`${wallet}/${job}`, entriesOf(world, wallet, job, problems), problems);
    }
  }
  return problems;
}

/** A wallet's entries as verify replays them: sequence without gap, running balances, signs, keys, the last entry. */
function checkLedger(world: World, id: string, problems: string[]): void {
  let seq = 0;
  let balance = 0;
  const keys: string[] = [];
  for (const entry of world.entries) {
    if (entry.wallet !== id) continue;
    const { amount, key, job } = entry;
    seq += 1;
    balance += amount;
    if (entry.seq !== seq) problems.push(`entry ${seq} of ${id}: a gap in the sequence`);
    if (entry.balance !== balance) problems.push(`entry ${seq} of ${id}: a wrong running balance`);
    if (Math.abs(balance) > world.balanceLimit) problems.push(`entry ${seq} of ${id}: entries_balance`);
    if (!SIGNS[entry.type]?.(amount)) problems.push(`entry ${seq} of ${id}: entries_sign`);
    if (isOncePerJob(entry.type) ? job === null || key !== null : key === null) {
      problems.push(`entry ${seq} of ${id}: entries_of_job, entries_with_key`);
    }
    if (key === null) continue;
    if (keys.includes(key)) problems.push(`entry ${seq} of ${id}: entries_once_per_key`);
    keys.push(key);
  }
  const wallet = world.wallets[id];
  if (wallet?.lastSeq !== seq || wallet.balance !== balance) problems.push(`${id}: differs from its last entry`);
}

function entriesOf(world: World, wallet: string, job: string, problems: string[]): Booked {
  const booked: Booked = {};
  for (const entry of world.entries) {
    const { type } = entry;
    if (entry.job !== job || entry.wallet !== wallet || !isOncePerJob(type)) continue;
    if (booked[type] !== undefined) problems.push(`${wallet}/${job}: entries_once_per_job, ${type}`);
    // Summed, not replaced: a second entry of a type must also show in what the job takes.
    booked[type] = (booked[type] ?? 0) + entry.amount;
  }
  return booked;
}

const net = (entries: Booked): number => ONCE_PER_JOB.reduce((sum, type) => sum + (entries[type] ?? 0), 0);

/** Flags against entries, and what the job takes: nothing, or its price, or its final price. */
function compare(key: string, job: Job, entries: Booked, problems: string[]): void {
  const { price, finalPrice, succeeded } = job;
  if (entries.charge !== 0 - price) problems.push(`${key}: the charge is not the price`);
  if (entries.refund !== (job.refunded ? price : undefined)) problems.push(`${key}: refunded_at against the refund`);
  if (entries.reclaim !== (job.reclaimed ? 0 - price : undefined)) {
    problems.push(`${key}: reclaimed_at against the reclaim`);
  }
  const settle = finalPrice === null ? undefined : (succeeded ? price : 0) - finalPrice;
  if (entries.settle !== settle) problems.push(`${key}: final_price against the settle`);
  const taken = succeeded || !job.refunded ? price : 0;
  if (net(entries) !== 0 - (finalPrice ?? taken)) problems.push(`${key}: takes ${0 - net(entries)} in the end`);
}

/** A pruned job left only its entries. They must still add up to what one that ended for good may take. */
function checkPruned(key: string, entries: Booked, problems: string[]): void {
  const price = 0 - (entries.charge ?? Number.NaN);
  const canceled = entries.refund !== undefined && entries.reclaim === undefined;
  if (entries.refund !== undefined && entries.refund !== price) problems.push(`${key}: pruned, refund against charge`);
  if (entries.reclaim !== undefined && (entries.refund === undefined || entries.reclaim !== 0 - price)) {
    problems.push(`${key}: pruned, reclaim against refund`);
  }
  const taken = (canceled ? 0 : price) - (entries.settle ?? 0);
  if (!(taken >= 0) || net(entries) !== 0 - taken) problems.push(`${key}: pruned, takes ${0 - net(entries)}`);
}

/** Attempts end once in a way, with a verdict where they failed, and every one but the present one has ended. */
function checkAttempts(world: World, key: string, job: Job, problems: string[]): void {
  const rows = world.attempts.filter((row) => row.job === job.id && row.wallet === job.wallet);
  for (const [index, { attempt, endedAs, verdict }] of rows.entries()) {
    if (rows.findIndex((row) => row.attempt === attempt && row.endedAs === endedAs) !== index) {
      problems.push(`${key} attempt ${attempt} ${endedAs}: attempts_pkey`);
    }
    if ((verdict !== null) !== ['failed', 'lapsed', 'confirmed', 'rejected'].includes(endedAs)) {
      problems.push(`${key} attempt ${attempt} ${endedAs}: attempts_verdict`);
    }
  }
  for (let attempt = 1; attempt <= job.attempt; attempt++) {
    const runs = isUnderWay(job) && attempt === job.attempt;
    if (rows.some((row) => row.attempt === attempt) === runs) {
      problems.push(`${key} attempt ${attempt}: ${runs ? 'has ended, but runs' : 'has not ended'}`);
    }
  }
}
