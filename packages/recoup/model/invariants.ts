// What must be true in every state: the constraints of the tables, the ledger, and flags against entries.
import type { Entry, Job, World } from './world.ts';

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

/** What the ledger holds of one job: the amounts of the entries that a job may have once. */
interface Booked {
  charge?: number;
  refund?: number;
  reclaim?: number;
  settle?: number;
}
const ONCE_PER_JOB = ['charge', 'refund', 'reclaim', 'settle'] as const;

const SIGNS: Readonly<Record<string, (amount: number) => boolean>> = {
  grant: (amount) => amount > 0,
  charge: (amount) => amount <= 0,
  refund: (amount) => amount >= 0,
  reclaim: (amount) => amount <= 0,
  settle: () => true,
  adjust: (amount) => amount !== 0,
};

/** Every rule that the state breaks, in words. Empty in every state that may be reached. */
export function invariants(world: World): string[] {
  const problems: string[] = [];
  const booked = replay(world, problems);
  for (const [key, job] of Object.entries(world.jobs)) {
    for (const [name, holds] of Object.entries(CHECKS)) if (!holds(job)) problems.push(`${key}: ${name}`);
    const entries = booked.get(key);
    if (entries === undefined) problems.push(`${key}: was never charged`);
    else compare(key, job, entries, problems);
  }
  for (const [key, entries] of booked) if (world.jobs[key] === undefined) checkPruned(key, entries, problems);
  checkAttempts(world, problems);
  return problems;
}

/** The ledger as verify replays it: sequence without gap, running balances, signs, the wallet against its last entry. */
function replay(world: World, problems: string[]): Map<string, Booked> {
  const booked = new Map<string, Booked>();
  const last = new Map<string, { seq: number; balance: number }>();
  const keys = new Set<string>();
  for (const entry of world.entries) {
    const before = last.get(entry.wallet) ?? { seq: 0, balance: 0 };
    const where = `entry ${entry.seq} of ${entry.wallet}`;
    if (entry.seq !== before.seq + 1) problems.push(`${where}: a gap in the sequence`);
    if (entry.balance !== before.balance + entry.amount) problems.push(`${where}: a wrong running balance`);
    if (Math.abs(entry.balance) > world.balanceLimit) problems.push(`${where}: entries_balance`);
    if (!SIGNS[entry.type]?.(entry.amount)) problems.push(`${where}: entries_sign`);
    last.set(entry.wallet, entry);
    if (entry.key !== null) {
      const key = `${entry.wallet}/${entry.key}`;
      if (keys.has(key)) problems.push(`${where}: entries_once_per_key`);
      keys.add(key);
    }
    collect(entry, booked, where, problems);
  }
  for (const [id, wallet] of Object.entries(world.wallets)) {
    const { seq, balance } = last.get(id) ?? { seq: 0, balance: 0 };
    if (wallet.lastSeq !== seq || wallet.balance !== balance) problems.push(`${id}: differs from its last entry`);
  }
  return booked;
}

function collect(entry: Entry, booked: Map<string, Booked>, where: string, problems: string[]): void {
  const type = ONCE_PER_JOB.find((name) => name === entry.type);
  if (type === undefined) return;
  if (entry.job === null || entry.key !== null) problems.push(`${where}: entries_of_job`);
  const key = `${entry.wallet}/${entry.job}`;
  const entries = booked.get(key) ?? {};
  if (entries[type] !== undefined) problems.push(`${where}: entries_once_per_job`);
  // Summed, not replaced: a second entry of a type must also show in what the job takes.
  entries[type] = (entries[type] ?? 0) + entry.amount;
  booked.set(key, entries);
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
function checkAttempts(world: World, problems: string[]): void {
  const rows = new Set<string>();
  const endings = new Set<string>();
  for (const { wallet, job, attempt, endedAs, verdict } of world.attempts) {
    const row = `${wallet}/${job} attempt ${attempt} ${endedAs}`;
    if (rows.has(row)) problems.push(`${row}: attempts_pkey`);
    rows.add(row);
    endings.add(`${wallet}/${job}/${attempt}`);
    if ((verdict !== null) !== ['failed', 'lapsed', 'confirmed'].includes(endedAs)) {
      problems.push(`${row}: attempts_verdict`);
    }
  }
  for (const [key, job] of Object.entries(world.jobs)) {
    for (let attempt = 1; attempt <= job.attempt; attempt++) {
      const open = isUnderWay(job) && attempt === job.attempt;
      if (endings.has(`${key}/${attempt}`) === open)
        problems.push(`${key} attempt ${attempt}: ${open ? 'ended' : 'not ended'}`);
    }
  }
}
