// What a database holds and what the model holds, in one form: all of it, or only what was written since the last look.
import { isDeepStrictEqual } from 'node:util';
import pg from 'pg';
import { type EndedAttempt, type Entry, type Job, keyOf, type World } from '../model/world.ts';

/** The model and the database, or the model and a promise, say different things. */
export class Disagreement extends Error {
  constructor(problems: readonly string[]) {
    super(problems.slice(0, 5).join('\n'));
    this.name = 'Disagreement';
  }
}

type WalletRow = [status: string, balance: number, overdraftLimit: number, lastSeq: number];
type EntryRow = [wallet: string, seq: number, type: string, amount: number, balance: number, job: string, key: string];
type JobRow = Omit<Job, 'wallet' | 'id'>;

/** Rows that were written since some point, and how many there are in all. */
export interface Rows {
  /** Everything older is not newer than this look. */
  next: string;
  counts: Record<'wallets' | 'entries' | 'jobs' | 'attempts', number>;
  wallets: Record<string, WalletRow>;
  entries: EntryRow[];
  jobs: Record<string, JobRow>;
  attempts: string[];
  /** When jobs ended for good, in ms of the simulation. */
  ended: Record<string, number | null>;
}

const instant = (column: string) => `round(extract(epoch from j.${column}) * 1000 - $1::numeric)::bigint`;
const has = (column: string) => `j.${column} is not null`;
const COLUMNS: Record<keyof JobRow, string> = {
  ...{ queue: 'j.queue', state: 'j.state', price: 'j.price', payload: `j.payload #>> '{}'`, refundOn: 'j.refund_on' },
  ...{ maxFailures: 'j.max_failures', attempt: 'j.attempt', failures: 'j.failures', releases: 'j.releases' },
  ...{ failedAttempt: 'j.failed_attempt', verdict: 'j.verdict', notBefore: instant('not_before') },
  ...{ leaseUntil: instant('lease_until'), deadlineAt: instant('deadline_at'), dead: has('dead_at') },
  ...{ refunded: has('refunded_at'), succeeded: has('succeeded_at'), succeededAttempt: 'j.succeeded_attempt' },
  ...{ reclaimed: has('reclaimed_at'), settled: has('settled_at'), finalPrice: 'j.final_price' },
  canceled: has('canceled_at'),
};
const jobColumns = Object.entries(COLUMNS).map(([name, sql]) => `'${name}', ${sql}`);
const ENDED = 'coalesce(j.succeeded_at, j.canceled_at)';

// Wallets and jobs are few here and change in place, entries and attempts are many and have an index on their transaction.
const LOOK = `select json_build_object(
  'next', pg_snapshot_xmax(pg_current_snapshot())::text,
  'counts', json_build_object('wallets', (select count(*) from recoup.wallets), 'entries', (select count(*) from recoup.entries),
    'jobs', (select count(*) from recoup.jobs), 'attempts', (select count(*) from recoup.attempts)),
  'wallets', (select coalesce(json_object_agg(id, json_build_array(status, balance, overdraft_limit, last_seq)), '{}')
    from recoup.wallets where xmin::text::bigint >= $2::bigint),
  'entries', (select coalesce(json_agg(json_build_array(wallet_id, seq, type, amount, balance, job_id, key)
    order by wallet_id, seq), '[]') from recoup.entries where tx >= $2::text::xid8),
  'jobs', (select coalesce(json_object_agg(wallet_id || '/' || id, json_build_object(${jobColumns.join(', ')})), '{}')
    from recoup.jobs j where xmin::text::bigint >= $2::bigint),
  'ended', (select coalesce(json_object_agg(wallet_id || '/' || id, round(extract(epoch from ${ENDED}) * 1000 - $1::numeric)), '{}')
    from recoup.jobs j where xmin::text::bigint >= $2::bigint and ${ENDED} is not null),
  'attempts', (select coalesce(json_agg(wallet_id || '/' || job_id || ' ' || attempt || ' ' || ended_as || ' ' || coalesce(verdict, 'null')), '[]')
    from recoup.attempts where tx >= $2::text::xid8))::text as rows`;

/** A connection that only looks. */
export class Looker {
  readonly #client: pg.Client;

  private constructor(client: pg.Client) {
    this.#client = client;
  }

  static async on(url: string): Promise<Looker> {
    const client = new pg.Client({
      connectionString: url,
      options: '-c plan_cache_mode=force_generic_plan -c jit=off',
    });
    client.on('error', () => {});
    await client.connect();
    return new Looker(client);
  }

  /** What was written since `from` (0: all), by a clock whose zero is `start`. */
  async look(start: number, from: string): Promise<Rows> {
    const { rows } = await this.#client.query({ name: 'look', text: LOOK, values: [start, from] });
    return JSON.parse((rows[0] as { rows: string }).rows) as Rows;
  }

  close(): Promise<void> {
    return this.#client.end();
  }
}

const attemptInWords = ({ wallet, job, attempt, endedAs, verdict }: EndedAttempt) =>
  `${wallet}/${job} ${attempt} ${endedAs} ${verdict}`;
const entryRow = (e: Entry) => [e.wallet, e.seq, e.type, e.amount, e.balance, e.job, e.key];
const walletRow = (w: World['wallets'][string]): WalletRow => [w.status, w.balance, w.overdraftLimit, w.lastSeq];
const jobRow = ({ wallet: _wallet, id: _id, ...job }: Job): JobRow => job;
const json = (value: unknown) => JSON.stringify(value) ?? 'nothing';

/** Rows by their key: each that was found is what the model has, each that the model changed was found. */
function compareByKey<T>(
  what: string,
  found: Readonly<Record<string, unknown>>,
  [before, now]: readonly [Readonly<Record<string, T>>, Readonly<Record<string, T>>],
  row: (of: T) => unknown,
  problems: string[],
): void {
  for (const [key, is] of Object.entries(found)) {
    const should = now[key] && row(now[key]);
    if (!isDeepStrictEqual(is, should)) problems.push(`${what} ${key}: the database has ${differs(is, should)}`);
  }
  for (const [key, value] of Object.entries(now)) {
    if (value === before[key] || key in found) continue;
    const [old, should] = [before[key] && row(before[key]), row(value)];
    if (!isDeepStrictEqual(old, should))
      problems.push(`${what} ${key}: the database did not write ${differs(old, should)}`);
  }
}

/** Two rows, or only the fields in which they differ. */
function differs(is: unknown, should: unknown): string {
  if (typeof is !== 'object' || typeof should !== 'object' || is === null || should === null) {
    return `${json(is)}, the model ${json(should)}`;
  }
  const [one, other] = [is as Record<string, unknown>, should as Record<string, unknown>];
  const fields = Object.keys({ ...one, ...other }).filter((name) => !isDeepStrictEqual(one[name], other[name]));
  return fields.map((name) => `${name} ${json(one[name])}, the model ${json(other[name])}`).join('; ');
}

/**
 * The new entries of the model in the order in which the database booked them: calls that share a statement may be booked
 * in another one than they were made in. Sequence and running balance are then checked against what stood before.
 */
function inBookedOrder(found: readonly EntryRow[], before: World, now: World, problems: string[]): World {
  const added = now.entries.slice(before.entries.length);
  if (isDeepStrictEqual(found, [...added].sort(byPlace).map(entryRow))) return now;
  const left = [...added];
  const entries: Entry[] = [];
  const at = new Map(Object.entries(before.wallets).map(([id, { lastSeq, balance }]) => [id, { lastSeq, balance }]));
  for (const row of found) {
    const [wallet, seq, type, amount, balance, job, key] = row;
    const last = at.get(wallet) ?? { lastSeq: 0, balance: 0 };
    const index = left.findIndex(
      (e) => json([e.wallet, e.type, e.amount, e.job, e.key]) === json([wallet, type, amount, job, key]),
    );
    if (index < 0) problems.push(`an entry that the model has not: ${json(row)}`);
    if (seq !== last.lastSeq + 1 || balance !== last.balance + amount)
      problems.push(`an entry out of line: ${json(row)}`);
    at.set(wallet, { lastSeq: seq, balance });
    if (index >= 0) entries.push({ ...left.splice(index, 1)[0]!, seq, balance });
  }
  for (const entry of left) problems.push(`an entry that the database has not: ${json(entryRow(entry))}`);
  return { ...now, entries: [...before.entries, ...entries] };
}

const byPlace = (a: Entry, b: Entry) => (a.wallet === b.wallet ? a.seq - b.seq : a.wallet < b.wallet ? -1 : 1);

function compareAttempts(found: readonly string[], before: World, now: World, problems: string[]): void {
  const known = new Set(before.attempts);
  const added = now.attempts.filter((row) => !known.has(row)).map(attemptInWords);
  if (!isDeepStrictEqual([...found].sort(), added.sort())) {
    problems.push(`ended attempts: the database has ${json(found)}, the model ${json(added)}`);
  }
}

/** Holds what was written since the world `before` against the world `now`; gives `now` with its entries as they were booked. */
export function compare(rows: Rows, before: World, now: World): World {
  const problems: string[] = [];
  compareByKey('wallet', rows.wallets, [before.wallets, now.wallets], walletRow, problems);
  compareByKey('job', rows.jobs, [before.jobs, now.jobs], jobRow, problems);
  compareAttempts(rows.attempts, before, now, problems);
  const booked = inBookedOrder(rows.entries, before, now, problems);
  const { wallets, jobs, entries, attempts } = now;
  const counts = { wallets: Object.keys(wallets).length, entries: entries.length, jobs: Object.keys(jobs).length };
  const all = { ...counts, attempts: attempts.length };
  if (!isDeepStrictEqual(rows.counts, all))
    problems.push(`the database has ${json(rows.counts)} rows, the model ${json(all)}`);
  if (problems.length > 0) throw new Disagreement(problems);
  return booked;
}

export const jobKey = (job: Job): string => keyOf({ wallet: job.wallet, job: job.id });
