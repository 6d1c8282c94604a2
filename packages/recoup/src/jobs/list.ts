// The jobs of a wallet, newest first, along its charges: the ledger has them in that order, so no index of their own is kept.
import type { Runner } from '../db/runner.ts';
import { statement } from '../db/statement.ts';
import { Refusal } from '../errors.ts';
import * as check from '../input.ts';
import { JOB_STATES, type JobState } from '../outcomes.ts';
import { decodeJob, type Job, type JobRow, jobJson } from './job.ts';

export interface ListOptions {
  state?: JobState;
  queue?: string;
  /** The `cursor` of the page before. */
  cursor?: number;
  limit?: number;
}

const columns = {
  wallet_id: 'text',
  state: 'text',
  queue: 'text',
  before_seq: 'bigint',
  count: 'int',
  depth: 'int',
} as const;

interface Page {
  /** Whether there is such a wallet. */
  there: boolean | null;
  jobs: { job: JobRow; seq: number }[];
  /** The lowest entry that was looked at, where there may be lower ones; null: none is left. */
  next: number | null;
}

/** Entries looked at for a page: a filter that matches nothing costs no more, however long the ledger. */
const MAX_DEPTH = 2000;
/** What a job usually leaves in the ledger: without a filter a page is full within this many entries for each job. */
const ENTRIES_PER_JOB = 4;

export const listJobs = statement<typeof columns, Page>(
  'job.list',
  columns,
  () => `
looked as materialized (
  select e.wallet_id, e.seq, e.type, e.job_id from input i
  join recoup.entries e on e.wallet_id = i.wallet_id and e.seq < coalesce(i.before_seq, 9223372036854775807)
  order by e.seq desc limit (select depth from input)),
page as (
  select j.*, l.seq from input i cross join looked l
  -- LIMIT keeps this a look-up by key for each row, whatever the statistics say
  cross join lateral (select * from recoup.jobs where wallet_id = l.wallet_id and id = l.job_id limit 1) j
  where l.type = 'charge' and (i.state is null or j.state = i.state) and (i.queue is null or j.queue = i.queue)
  order by l.seq desc limit (select count from input))
select json_build_array(json_build_object(
  'there', (select true from input i join recoup.wallets w on w.id = i.wallet_id),
  'jobs', (select coalesce(json_agg(json_build_object('job', ${jobJson('p')}, 'seq', p.seq) order by p.seq desc), '[]') from page p),
  'next', (select case when min(seq) > 1 then min(seq) end from looked)))::text as answer`,
);

export async function listPage(
  runner: Runner,
  wallet: string,
  options: ListOptions,
): Promise<{ jobs: Job[]; cursor: number | null }> {
  check.onlyFields('list', options, ['state', 'queue', 'cursor', 'limit']);
  const wallet_id = check.id('wallet', wallet);
  const state = options.state === undefined ? null : check.oneOf('state', options.state, JOB_STATES);
  const queue = check.optionalId('queue', options.queue);
  const count = check.optionalInteger('limit', options.limit, 1, 1000) ?? 100;
  const before_seq = check.optionalInteger('cursor', options.cursor, 1, check.MAX_AMOUNT);
  const depth = state === null && queue === null ? Math.min(count * ENTRIES_PER_JOB, MAX_DEPTH) : MAX_DEPTH;
  const page = (await runner.read(listJobs, [{ wallet_id, state, queue, before_seq, count, depth }]))[0]!;
  if (!page.there) throw new Refusal('no_wallet', undefined, { wallet });
  const last = page.jobs.at(-1);
  // A full page may have stopped before the depth was reached.
  const cursor = last && page.jobs.length === count ? last.seq : page.next;
  return { jobs: page.jobs.map(({ job }) => decodeJob(job)), cursor: cursor === 1 ? null : cursor };
}
