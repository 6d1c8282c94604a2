// Looks at what happened: entries in words, answers by their code, a digest of everything that is stored.
import { type Entry, Refusal } from '../../src/index.ts';
import type { TestDatabase } from '../../src/testing.ts';
import type { Stage } from './stage.ts';

/** The ledger of a wallet in words, without the credits it started with: `charge -40`. */
export async function ledger({ db }: Stage, wallet: string): Promise<string[]> {
  const sql = `select type, amount from recoup.entries where wallet_id = $1 and key is distinct from 'start' order by seq`;
  return (await db.query(sql, [wallet])).map(({ type, amount }) => `${type} ${amount}`);
}

/** Every entry of a wallet, in order. */
export async function entriesOf({ recoup }: Stage, wallet: string): Promise<Entry[]> {
  const entries: Entry[] = [];
  for await (const entry of recoup.wallets.replay(wallet)) entries.push(entry);
  return entries;
}

export async function balance({ recoup }: Stage, wallet: string): Promise<number> {
  return (await recoup.wallets.balance(wallet)).booked;
}

/** The state of a job's row, and its counters. */
export async function stateOf({ recoup }: Stage, key: { wallet: string; job: string }) {
  const { job } = await recoup.jobs.get({ wallet: key.wallet, job: key.job });
  return job;
}

/** What a call answered: its outcome, or the code of its refusal. Anything else that is thrown stays thrown. */
export async function answer(call: Promise<unknown> | (() => Promise<unknown>)): Promise<string> {
  try {
    const got = await (typeof call === 'function' ? call() : call);
    return named(got);
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
}

/** The name of one answer of a batch. */
export function named(got: unknown): string {
  if (got instanceof Refusal) return got.code;
  return (got as { outcome: string }).outcome;
}

/** The refusal that a call is answered with. */
export async function refusal(call: Promise<unknown> | (() => Promise<unknown>)): Promise<Refusal> {
  try {
    const got = await (typeof call === 'function' ? call() : call);
    throw new Error(`not refused, but answered ${JSON.stringify(got)}`);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

/** How often each answer came. */
export function tally(answers: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const one of answers) counts[one] = (counts[one] ?? 0) + 1;
  return counts;
}

export const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));

/** Every table that transitions write. */
export const TABLES = [
  ...['wallets', 'entries', 'notes', 'queues', 'jobs', 'attempts', 'lease_requests'],
  ...[
    'upstreams',
    'blocks',
    'block_events',
    'upstream_events',
    'upstream_leases',
    'snapshots',
    'affinities',
    'inbox_notes',
  ],
];

/** One text that changes with any row of any table. */
export async function digest(db: TestDatabase): Promise<string> {
  const parts = TABLES.map(
    (table) =>
      `(select md5(coalesce(string_agg(t::text, '|' order by t::text collate "C"), '')) from recoup.${table} t)`,
  );
  const [row] = await db.query(`select concat_ws(' ', ${parts.join(', ')}) as digest`);
  return String(row?.digest);
}
