// What the simulation and the violations do not notice: the test that does, or why a condition may go unnoticed.

const file = (name: string) => `packages/recoup/test/${name}.test.ts`;
const AT_LIMIT = [file('cancel-and-settle'), 'a balance at its limit refuses what would pass it'] as const;
const SAME_REQUEST = [file('queue'), 'the same request id from many at once'] as const;
const MOVING = [file('traps'), 'a job that changes between the snapshot of a claim and its lock'] as const;

/** A guard by its id, and the test that fails without it: file and beginning of its name. */
export const TESTS: Readonly<Record<string, readonly [file: string, name: string]>> = {
  'wallet.grant · seen · when abs(total) > 9007199254740991': AT_LIMIT,
  'wallet.adjust · seen · when abs(total) > 9007199254740991': AT_LIMIT,
  'job.fail, job.lapse · seen · when may and refunds and coalesce(greatest(abs(balance + price), abs(balance + price + 0)) > 9007199254740991, false)':
    AT_LIMIT,
  'wallet.open · answer · new_id is not null': [file('races'), 'a wallet opened by 50 callers at once'],
  'job.cancel · judged · when refunded_at is null #2': [file('cancel-and-settle'), 'a debt at its limit'],
  'job.lease · found · priority = p': [file('queue'), 'jobs come by priority'],
  'job.lease · won · request_id is null': SAME_REQUEST,
  'job.lease · pick · case when (select request_id from input) is null then true else (select true from recoup.jobs j where j.ctid = f.tid and j.tableoid = f.part) end':
    MOVING,
};

const NO_LATE_LAPSE = 'a lapse is never definitive, so its late branch is never taken; job.fail shares the text';
const UPSTREAM_ID = 'no job has an upstream_id yet: the column is kept, and copied like upstream_ref';

/** A guard or rule that changes no answer and no row, and why it is there. A text that ends in `*` stands for all that begin so. */
export const REASONS: Readonly<Record<string, string>> = {
  'jobs_counters · (attempt >= 0)': 'follows from 0 ≤ failures ≤ attempt; it is there for who reads the rule',
  jobs_canceled_not_succeeded:
    'follows from jobs_succeeded and jobs_canceled, as a job has one state; it is there to say the promise in one line',
  'wallet.grant · judged · e.job_id is not distinct from s.job_id': 'a grant names no job; job.adjust shares the text',
  'job.lapse · judged · n = attempt #2': NO_LATE_LAPSE,
  "job.prune · pick · state in ('succeeded', 'canceled')":
    'follows from the instant, which only such jobs have; it is there for the index, which has the same condition',
  'job.succeed · locked · input.new_final_price is not null':
    'whether a shared batch takes the wallet at once; else the input is busy and a statement that waits takes it',
  'job.succeed · ended · when done_attempt = b.attempt #2': UPSTREAM_ID,
};

export function reasonFor(id: string): string | undefined {
  const key = Object.keys(REASONS).find((known) =>
    known.endsWith('*') ? id.startsWith(known.slice(0, -1)) : known === id,
  );
  return key === undefined ? undefined : REASONS[key];
}
