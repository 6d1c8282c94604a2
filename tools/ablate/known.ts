// What the simulation and the violations do not notice: the test that does, or why a condition may go unnoticed.

const file = (name: string) => `packages/recoup/test/${name}.test.ts`;
const AT_LIMIT = [file('cancel-and-settle'), 'a balance at its limit refuses what would pass it'] as const;
const NO_MONEY = [file('cancel-and-settle'), 'at the limit of a balance what moves no money is heard'] as const;
const SAME_REQUEST = [file('queue'), 'the same request id from many at once'] as const;
const MOVING = [file('traps'), 'a job that changes between the snapshot of a claim and its lock'] as const;
const OTHER_KEY = [file('money'), 'a key that was used for another amount'] as const;
const TWINS = [file('batches'), 'twins of any signal in one statement'] as const;
const IN_TRANSACTION = [file('batches'), 'twins in a batch inside a transaction'] as const;
const WHO = [file('job-list'), 'the end of an attempt says who worked on it'] as const;
const BEHIND = [file('interleavings'), 'two transitions of a job that is'] as const;

const PROVIDER = file('upstreams-provider');
const NOT_HALF = [PROVIDER, 'three of eight in use are not half of them'] as const;

/** A guard by its id, and the test that fails without it: file and beginning of its name. */
export const TESTS: Readonly<Record<string, readonly [file: string, name: string]>> = {
  'wallet.grant · seen · when abs(total) > 9007199254740991': AT_LIMIT,
  'wallet.adjust · seen · when abs(total) > 9007199254740991': AT_LIMIT,
  'wallet.adjust · judged · e.amount = s.amount': OTHER_KEY,
  "wallet.adjust · judged · e.type = 'adjust'": OTHER_KEY,
  'wallet.adjust · judged · e.job_id is not distinct from s.job_id': OTHER_KEY,
  'wallet.grant · judged · e.amount = s.amount': OTHER_KEY,
  "wallet.grant · judged · e.type = 'grant'": OTHER_KEY,
  'wallet.grant · judged · row_number() over (partition by s.wallet_id, s.key order by s.ord) > 1': IN_TRANSACTION,
  'wallet.adjust, wallet.grant · noted · booked': [file('batches'), 'a repeated grant with another note'],
  'wallet.open · answer · new_id is not null': [file('races'), 'a wallet opened by 50 callers at once'],
  'job.cancel · judged · when refunded_at is null #2': [file('cancel-and-settle'), 'a debt at its limit'],
  'job.fail · judged · failed_attempt is not distinct from attempt': [
    file('lapse'),
    'a definitive failure of an attempt that was released',
  ],
  'job.fail, job.lapse · seen · when may and refunds and coalesce(greatest(abs(balance + price), abs(balance + price + 0)) > 9007199254740991, false)':
    AT_LIMIT,
  'job.fail, job.lapse · seen · refunds': NO_MONEY,
  'job.fail, job.lapse · seen · refunds #2': NO_MONEY,
  'job.lapse · judged · (n = attempt or queue is null)': [
    file('lapse'),
    'a job that ends between the read and the write of a sweep',
  ],
  'job.lease · found · priority = p': [file('queue'), 'jobs come by priority'],
  'job.lease · won · request_id is null': SAME_REQUEST,
  'job.lease · pick · case when (select request_id from input) is null then true else (select true from recoup.jobs j where j.ctid = f.tid and j.tableoid = f.part) end':
    MOVING,
  'job.release · judged · releases < q.max_releases': [file('queue'), 'a released attempt counts no failure'],
  'job.release · seen · when earlier > 0': TWINS,
  'job.discard · seen · when earlier > 0': TWINS,
  'job.redrive · seen · when earlier > 0': TWINS,
  'job.handOver · seen · when earlier > 0': TWINS,
  'job.cancel · seen · when earlier > 0': TWINS,
  'job.settle · answer · when wins and not booked': BEHIND,
  'job.succeed · answer · when wins and not booked': BEHIND,
  'job.release · answer · when wins and not moved': BEHIND,
  'job.submit · seen · total <= available #2': [file('batches'), 'prices 1000, 1, 1 on a balance of 100'],
  'job.submit · won · when queue is null #4': WHO,
  'job.succeed · seen · not over': NO_MONEY,
  'job.succeed · ended · when done_attempt = b.attempt': WHO,
  'job.succeed · ended · when done_attempt = b.attempt #2': [file('joined'), 'the end of an attempt says'],
  'job.succeed · ended · when done_attempt = b.attempt #3': WHO,
  'job.succeed · ended · when done_attempt = b.attempt #4': WHO,
  "provider.block · counted · u.used_at > recoup.clock() - interval '1 minute'": [PROVIDER, 'what was not used'],
  'provider.block · counted · u.id not in (select subject_id from own)': [PROVIDER, 'the third of five that fail'],
  'provider.block · seen · others <= failing': NOT_HALF,
};

const suites = (...names: string[]) => names.map(file);
const WINDOWS = suites(
  'windows',
  'windows-apart',
  'windows-kinds',
  'windows-calendar',
  'windows-verify',
  'windows-races',
);

/**
 * By statement, the suites that ask it, before the simulation, and those around it, where nothing has noticed by then: of what the simulation does
 * not walk all that there is of it. The quick ones first.
 */
export const SUITES: readonly (readonly [statements: RegExp, asking: readonly string[], around: readonly string[]])[] =
  [
    [/^job\.claim/, [], suites('joined', 'joined-work')],
    [/^wallet\.expire$/, [], suites('expiring-credit', 'credit')],
    [/^prober?\./, [], suites('probes', 'probes-words', 'probes-races')],
    [/^subscription\./, [], suites('subscriptions', 'subscriptions-periods')],
    [/^payment\./, [], suites('payments')],
    [/^inbox\./, suites('inbox'), []],
    [/^webhook\.dispatch$/, suites('webhooks-kinds'), suites('webhooks')],
    [/^webhook\.(?!dispatch)/, suites('webhooks-apart'), suites('webhooks-sending', 'webhooks')],
    [/^alert\./, suites('alerts-apart'), suites('alerts')],
    [/^upstream\.setApart$/, suites('windows-until'), WINDOWS],
    [/^(window|limit)\.|^upstream\.joinAgain$/, suites('windows-decided'), WINDOWS],
    [/^affinity\./, suites('upstreams-sticky'), []],
    [/^snapshot\./, [], suites('upstreams-snapshots', 'upstreams-answers', 'upstreams-answers-cases')],
    [
      /^upstream\.(replaceCredential|register)$/,
      suites('upstreams-decided'),
      suites('upstreams-events', 'upstreams-answers', 'upstreams'),
    ],
    [
      /^upstream\.(release|extend)$|^block\./,
      suites('upstreams-freed'),
      suites('upstreams-selection', 'upstreams-races', 'upstreams-blocks', 'upstreams-sweep'),
    ],
    [/^upstream_lease\./, suites('upstreams-sweep'), []],
    [/^provider\./, suites('upstreams-counted'), suites('upstreams-provider', 'upstreams-races')],
    [
      /^upstream\.select/,
      [],
      suites('upstreams-selection', 'upstreams-sticky', 'upstreams-snapshots', 'windows', 'windows-apart'),
    ],
    [
      /^upstream\.report$/,
      [],
      suites('upstreams-blocks', 'upstreams-repeats', 'upstreams-news', 'upstreams-snapshots', 'upstreams-answers'),
    ],
  ];

const LOCKED = 'the rows are locked as they were picked; said where it is done';
const NO_LATE_LAPSE = 'a lapse is never definitive, so its late branch is never taken; job.fail has the same text';
const ROUNDS =
  'only how many rounds a batch takes: what waits for another input goes round once more, with the same answer';

/** A guard or rule that changes no answer and no row, and why it is there. `*` stands for anything. */
export const REASONS: Readonly<Record<string, string>> = {
  'jobs_counters · (attempt >= 0)': 'follows from 0 ≤ failures ≤ attempt; it is there for who reads the rule',
  jobs_canceled_not_succeeded:
    'follows from jobs_succeeded and jobs_canceled, as a job has one state; it is there to say the promise in one line',
  'wallet.grant · judged · e.job_id is not distinct from s.job_id':
    'a grant names no job; wallet.adjust has the same text',
  'wallet.adjust · judged · row_number() over (partition by s.wallet_id, s.key order by s.ord) > 1':
    'adjusts meet only in shared batches: there entries_once_per_key refuses the twin, and it goes again alone',
  'wallet.* · seen · behind': ROUNDS,
  'wallet.* · seen · abs(total) > 9007199254740991': ROUNDS,
  'job.* · seen · i.wallet_id = s.wallet_id': ROUNDS,
  'wallet.open · won · old_id is null': 'the insert does nothing where the wallet is there: spares the try',
  'wallet.open · won · twin = 1': 'the insert does nothing for the second of two: spares the try',
  'job.* · seen · earlier = 0':
    'a statement writes a row once, for the first input that it finds, and the other goes again; this keeps it from hanging on the plan which is first',
  "job.lapse · judged · state = 'queued'": NO_LATE_LAPSE,
  'job.lapse · judged · n = attempt #2': NO_LATE_LAPSE,
  'job.lapse · judged · not (failed_attempt is not distinct*': NO_LATE_LAPSE,
  'job.lapse · judged · failed_attempt is not distinct from attempt': NO_LATE_LAPSE,
  "job.lapse · judged · verdict = 'definitive'": NO_LATE_LAPSE,
  'job.lapse · judged · (true or failures = 0)': NO_LATE_LAPSE,
  'job.lapse · judged · failures = 0': NO_LATE_LAPSE,
  'job.lapse · judged · late': NO_LATE_LAPSE,
  'job.lapse · judged · queue is null':
    'a job without a queue has attempt 1, and that is what the sweep saw; job.fail has the same text',
  "job.lapse · judged · state in ('running', 'waiting')":
    'follows from the instant that is due: jobs_running and jobs_waiting leave it to no other state',
  "job.prune · pick · state in ('succeeded', 'canceled')":
    'follows from the instant, which only such jobs have; it is there for the index, which has the same condition',
  "job.prune · gone · j.state in ('succeeded', 'canceled')": LOCKED,
  'job.lease · pick · place = 1':
    'no payload is as large as that; so that none could ever stand in the way of the others',
  'job.lease · pick · when (select request_id from input) is null': 'spares the look-up where nothing is noted',
  'job.lease · found · not_before >= coalesce((i.marks ->> p::text)::timestamptz*':
    'where a claim starts to read; what lies before it is found by the next claim without marks',
  'job.submit · seen · refused is null #2':
    'a refused input has the running sum of those before it, so the largest is the same',
  'job.succeed · locked · input.new_final_price is not null':
    'whether a shared batch takes the wallet at once; else the input is busy, and a statement that waits takes it',
  'block.close, block.lapse · seen · twin > 1':
    'an update takes one of two that would end a block, and the other goes again; this keeps it from hanging on the plan which is first',
  'block.close, block.lapse · seen · generation is not null':
    'what is compared with null is never another one; it says that none need be given',
  'upstream.extend · kept · l.id = any (array(select lease_id from input))':
    'the join says it; as an array, so that a plan from before there were any leases does not read them all',
  'window.use · booked · nth = 1':
    'the insert does nothing for the second of two with one key; this keeps it from hanging on the sort which is first',
  'window.forget · kept · not o.goes':
    'of a row that goes nothing is left to be written; said so that it does not hang on which of the two comes first',
  'window.use · edged · *':
    'says whom upstream.setApart is to look at, which decides by itself: one look too many changes nothing, one too few leaves an upstream where a selection finds its limit used up',
  'alert.look · spent · (l.total - l.total_before)::numeric * 10 >= l.amount::numeric * 9':
    'what was used since the window began is never less than what is used now: spares the closer look at most limits',
  'alert.look · fired · not exists (select from firing f where *':
    'alerts_firing refuses a second one that fires, and the insert does nothing: spares the try',
  'alert.look · recovered · a.number = f.number':
    'only the last one fires, so it is the one that has not recovered; said for the primary key',
  '* · *.tableoid = *':
    'a row’s place is its table and its number there; these tables have no parts, so the number is enough',
};

const escaped = (text: string) => text.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&');
const PATTERNS = Object.keys(REASONS).map(
  (key) => [key, new RegExp(`^${escaped(key).replaceAll('*', '.*')}$`)] as const,
);

/** The key of a reason that stands for this guard or rule. */
export const reasonKey = (id: string): string | undefined => PATTERNS.find(([, pattern]) => pattern.test(id))?.[0];

export function reasonFor(id: string): string | undefined {
  const key = reasonKey(id);
  return key === undefined ? undefined : REASONS[key];
}
