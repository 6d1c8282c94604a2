// Every transition with its guard, effect and the closed set of answers; types, metrics and the docs page come from it.

/** One row of the transitions table. `outcomes` are returned, `refusals` are thrown (codes of errors.ts). */
export interface Transition {
  readonly guard: string;
  readonly effect: string;
  readonly outcomes: readonly string[];
  readonly refusals: readonly string[];
}

/**
 * The transitions of wallets, queues and jobs. Outcomes stand in order of precedence where several apply:
 * no_job, pruned, canceled, succeeded, stale, duplicate.
 */
export const transitions = {
  'wallet.open': {
    guard: 'no wallet of that id',
    effect: 'a wallet with customer, unit and overdraft limit; balance 0',
    outcomes: ['opened', 'duplicate'],
    refusals: ['conflict', 'wallet_busy'],
  },
  'wallet.change': {
    guard: 'the wallet exists',
    effect: 'another overdraft limit, or another status (active, closed)',
    outcomes: ['changed'],
    refusals: ['no_wallet', 'wallet_busy'],
  },
  'wallet.grant': {
    guard: 'no entry with this key in the wallet',
    effect: 'entry `grant` +amount; its terms, where it expires or has a priority',
    outcomes: ['granted', 'duplicate'],
    refusals: ['no_wallet', 'conflict', 'balance_limit', 'wallet_busy'],
  },
  'wallet.adjust': {
    guard: 'no entry with this key in the wallet',
    effect: 'entry `adjust` ±amount with actor and reason; may name a job; may go into debt',
    outcomes: ['adjusted', 'duplicate'],
    refusals: ['no_wallet', 'conflict', 'balance_limit', 'wallet_busy'],
  },
  'queue.configure': {
    guard: 'the settings fit together',
    effect: 'the settings of one queue, or of all queues without their own (`*`); jobs keep what they took at submit',
    outcomes: ['configured'],
    refusals: ['invalid'],
  },
  'job.submit': {
    guard: 'no such job and no charge entry of that id; wallet active; balance − price ≥ −overdraft limit',
    effect: 'job `queued`, or `waiting` with attempt 1 if it has no queue; entry `charge` −price',
    outcomes: ['charged', 'duplicate'],
    refusals: ['no_wallet', 'pruned', 'conflict', 'wallet_closed', 'insufficient_credits', 'wallet_busy'],
  },
  'job.lease': {
    guard:
      'queued, not_before ≤ clock, queue not paused and without a pool; by priority, then not_before; rows that are locked are passed over',
    effect: 'running, attempt + 1, lease_until, worker; with a request id the answer can be asked for again',
    outcomes: ['leased'],
    refusals: [],
  },
  'job.extend': {
    guard: 'running, attempt = n',
    effect: 'a later lease_until; may record upstream_ref',
    outcomes: ['extended', 'canceled', 'succeeded', 'stale'],
    refusals: ['no_job', 'pruned', 'wallet_busy'],
  },
  'job.handOver': {
    guard: 'running, attempt = n',
    effect: 'waiting with deadline_at and upstream_ref: the provider works, no worker is held',
    outcomes: ['handed_over', 'canceled', 'succeeded', 'stale', 'duplicate'],
    refusals: ['no_job', 'pruned', 'wallet_busy'],
  },
  'job.fail': {
    guard:
      '(running or waiting, and attempt = n where there is a queue) or (queued, attempt = n, definitive, and news: not known as definitive, or not retryable and not redriven since); not succeeded, not canceled',
    effect:
      '`queued` with not_before, or `dead` (not retryable, or max_failures reached), or `failed` (no queue); entry `refund` +price if due and not yet refunded',
    outcomes: ['retrying', 'dead', 'refunded', 'canceled', 'succeeded', 'stale', 'duplicate'],
    refusals: ['no_job', 'pruned', 'attempt_required', 'balance_limit', 'wallet_busy'],
  },
  'job.lapse': {
    guard: 'running and lease_until ≤ clock, or waiting and deadline_at ≤ clock',
    effect: 'what `job.fail` does, with verdict `presumed`',
    outcomes: ['retrying', 'dead', 'refunded', 'canceled', 'succeeded', 'stale', 'duplicate'],
    refusals: ['no_job', 'pruned', 'balance_limit'],
  },
  'job.succeed': {
    guard: 'not succeeded, not canceled; any attempt, any other state',
    effect:
      '`succeeded` with its result; entry `reclaim` −price if refunded; entry `settle` price − final price if one came along',
    outcomes: ['succeeded', 'reclaimed', 'duplicate'],
    refusals: ['no_job', 'pruned', 'canceled', 'balance_limit', 'wallet_busy'],
  },
  'job.settle': {
    guard: 'succeeded or canceled, not settled',
    effect: 'entry `settle`: price − final price (canceled: −final price); may go into debt',
    outcomes: ['settled', 'duplicate'],
    refusals: ['no_job', 'pruned', 'not_ended', 'conflict', 'balance_limit', 'wallet_busy'],
  },
  'job.cancel': {
    guard: 'not succeeded, not canceled',
    effect: '`canceled`; entry `refund` +price if not yet refunded; entry `settle` −kept if a part is kept',
    outcomes: ['canceled', 'succeeded', 'duplicate'],
    refusals: ['no_job', 'pruned', 'balance_limit', 'wallet_busy'],
  },
  'job.release': {
    guard: 'running, or waiting where its upstream failed it; attempt = n; below max_releases, max_upstream_errors',
    effect: 'queued again, at its old place where its upstream failed it; no failure, no refund; releases + 1',
    outcomes: ['released', 'canceled', 'succeeded', 'stale', 'duplicate'],
    refusals: ['no_job', 'pruned', 'release_limit', 'wallet_busy'],
  },
  'job.redrive': {
    guard: 'dead or discarded; attempt = n where one is given',
    effect: 'queued at once, failures 0, releases 0, upstream_errors 0; attempt numbers go on; never charges',
    outcomes: ['redriven', 'canceled', 'succeeded', 'stale', 'duplicate'],
    refusals: ['no_job', 'pruned', 'not_dead', 'wallet_busy'],
  },
  'job.discard': {
    guard: 'dead; attempt = n where one is given',
    effect: 'discarded: out of the dead letters; a late success still reclaims',
    outcomes: ['discarded', 'canceled', 'succeeded', 'stale', 'duplicate'],
    refusals: ['no_job', 'pruned', 'not_dead', 'wallet_busy'],
  },
  'job.prune': {
    guard: 'succeeded or canceled before the given instant',
    effect: 'the job and its attempts go; its entries stay, and its id stays refused as `pruned`',
    outcomes: ['pruned'],
    refusals: [],
  },
} as const satisfies Record<string, Transition>;

/** The name of a transition: `aggregate.verb`; also its metric label, log event and heading in the docs. */
export type TransitionName = keyof typeof transitions;

/** What a transition may return. */
export type Outcome<T extends TransitionName> = (typeof transitions)[T]['outcomes'][number];

/** The transitions of upstreams and their blocks. Outcomes stand in order of precedence where several apply. */
export const capacityTransitions = {
  'upstream.register': {
    guard: 'none of that id, or in the same pool and at the same provider; not retired, where it is used again',
    effect:
      'an upstream, `on` unless set; or what is given of its settings and status changes (`upstream.change`); an event with actor, reason and all settings',
    outcomes: ['registered', 'changed', 'duplicate'],
    refusals: ['no_upstream', 'upstream_retired', 'conflict', 'upstream_busy'],
  },
  'upstream.replaceCredential': {
    guard: 'not retired; another reference, or an open block about the credential (auth_expired, auth_revoked)',
    effect:
      'the reference; those blocks close as `credential`; failures with the old one that arrive later change nothing; an event',
    outcomes: ['replaced', 'duplicate'],
    refusals: ['no_upstream', 'upstream_retired', 'upstream_busy'],
  },
  'upstream.select': {
    guard:
      'on; no open block of it, its group, provider or route in scope, or one that is due and lets in another trial; none of their limits in scope used up; a slot free; the one that the sticky key had, by priority, those of which the provider says that little is left last, then whose turn it is; rows that are locked are passed over',
    effect:
      'a lease of one slot; its turn moves on by 1/weight seconds; with a lease id the answer can be asked for again; a sticky key has this one from now on',
    outcomes: ['selected', 'none'],
    refusals: ['conflict'],
  },
  'job.claim': {
    guard: 'that of `job.lease`, and of `upstream.select` for the queue’s pool: both, or nothing is taken',
    effect: 'what both do; the slot is kept and given back with the attempt; the job remembers its place',
    outcomes: ['leased', 'none', 'empty'],
    refusals: [],
  },
  'upstream.extend': {
    guard: 'the lease is there, lease_until > clock',
    effect: 'a later lease_until',
    outcomes: ['extended', 'stale'],
    refusals: ['upstream_busy'],
  },
  'upstream.release': {
    guard: 'the lease is there',
    effect: 'the slot is free; nothing is said of how it went',
    outcomes: ['released', 'duplicate'],
    refusals: ['upstream_busy'],
  },
  'upstream.report': {
    guard:
      'the lease that it names is there, or it says itself when the request began; failure: the request began after the block opened, or after the last one of its kind was ended (but by time), and with the credential of now, and says something new; success: nothing was heard of the block since the request began, policy auto or rolling, or snapshot where it was due then; never the status',
    effect:
      'the lease goes; failure: a block opens, ends later (never, where it becomes manual), or where it was due opens again one step higher; success: what it refutes closes, what was due when the request began lets in twice as many trials and closes after eight, a manual block is marked as contradicted, once; an event for each that opens, changes or closes',
    outcomes: ['noted', 'blocked', 'reopened', 'extended', 'duplicate'],
    refusals: ['no_upstream', 'upstream_busy'],
  },
  'provider.block': {
    guard:
      'three upstreams of the provider, and half of those used within a minute, have a block `server_error` that opened in that minute; or the provider has one, and this failure comes to it',
    effect:
      'one block on the provider opens, or opens again if it was due; the upstreams’ own close as `superseded`, but for manual ones and orders to wait',
    outcomes: ['reopened', 'superseded', 'blocked', 'none'],
    refusals: [],
  },
  'snapshot.note': {
    guard:
      'a window: not observed before what is stored of it; a block: policy snapshot, the request began after its last evidence, it has windows of just that scope, and an order to wait is over',
    effect:
      'the latest of each window; where none of its windows is used up any more the block closes as `snapshot`, where one still is the newest announced reset counts; a manual block is marked as contradicted, once',
    outcomes: ['noted', 'duplicate'],
    refusals: ['no_upstream', 'upstream_busy'],
  },
  'block.close': {
    guard: 'open, and of the generation that was seen, where one is given; a manual one as operator or credential only',
    effect: 'closed as operator, credential, probe or snapshot, with actor and reason in its event',
    outcomes: ['closed', 'duplicate'],
    refusals: ['no_block', 'manual_block', 'upstream_busy'],
  },
  'block.lapse': {
    guard: 'open, of the generation that the sweep saw: half open for more than a day, nobody tried it',
    effect: 'closed as `time`; never a manual one',
    outcomes: ['closed', 'duplicate'],
    refusals: [],
  },
  'limit.set': {
    guard: 'none of that id, or one of the same subject, scope and unit',
    effect:
      'a limit; or another amount, at once, or another kind, zone, hour, day or length, from the end of the window that it is in; one that had ended counts again',
    outcomes: ['set', 'changed', 'duplicate'],
    refusals: ['conflict', 'no_upstream', 'upstream_busy'],
  },
  'limit.end': {
    guard: 'it counts',
    effect: 'it does not count any more; its windows stay',
    outcomes: ['ended', 'duplicate'],
    refusals: ['no_limit', 'upstream_busy'],
  },
  'window.use': {
    guard:
      'nothing of that key (a key of the caller’s, the lease, or job and attempt) on the limit; never what the limit says',
    effect:
      'what was used is booked at the clock on every limit of the upstream, its group, provider and route that counts the unit in scope; where the window is over, the next one begins',
    outcomes: ['booked', 'duplicate', 'none'],
    refusals: ['upstream_busy'],
  },
  'window.reset': {
    guard: 'something is used in the window, and it is the one that was seen, where one is named',
    effect:
      'the window is cut at the clock, and a new one with actor and reason goes on to the same end; of a limit that rolls, nothing from before counts',
    outcomes: ['reset', 'duplicate'],
    refusals: ['no_limit', 'upstream_busy'],
  },
  'window.roll': {
    guard: 'something is used in the window, and its time is up',
    effect: 'the next window of the calendar begins; other kinds begin theirs with the next use',
    outcomes: ['rolled', 'duplicate'],
    refusals: [],
  },
  'inbox.take': {
    guard: 'the item is open; nobody has it, or it is taken over by force',
    effect: 'a note: whose it is',
    outcomes: ['taken', 'held', 'duplicate'],
    refusals: ['no_item'],
  },
  'inbox.snooze': {
    guard: 'the item is open',
    effect: 'a note: hidden until then, or until it is contradicted; without an instant it is shown again',
    outcomes: ['snoozed', 'woken', 'duplicate'],
    refusals: ['no_item'],
  },
  'inbox.note': {
    guard: 'the item is open; no note of it with this key',
    effect: 'a note: a remark',
    outcomes: ['noted', 'duplicate'],
    refusals: ['no_item'],
  },
} as const satisfies Record<string, Transition>;

/** What a transition of upstreams and blocks may return. */
export type CapacityOutcome<T extends keyof typeof capacityTransitions> =
  (typeof capacityTransitions)[T]['outcomes'][number];

/** The states of a job. */
export const JOB_STATES = [
  'queued',
  'running',
  'waiting',
  'succeeded',
  'dead',
  'failed',
  'canceled',
  'discarded',
] as const;
export type JobState = (typeof JOB_STATES)[number];

/** The types of an entry. `clawback`, `expire` and `restore` are reserved for payments and expiring credit. */
export const ENTRY_TYPES = [
  'grant',
  'charge',
  'refund',
  'reclaim',
  'settle',
  'adjust',
  'clawback',
  'expire',
  'restore',
] as const;
export type EntryType = (typeof ENTRY_TYPES)[number];

/** What a failure report is worth: the upstream said so, or it is presumed (a time-out, a lapsed lease, an unclassified error). */
export type Verdict = 'definitive' | 'presumed';
