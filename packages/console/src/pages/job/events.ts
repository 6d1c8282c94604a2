// What happened to a job, from its row, its attempts and its entries, in one order.
import type { Attempt, Entry, Job } from '../../types.ts';
import { number, signed, spaced } from '../../words.ts';

export interface JobEvent {
  at: string;
  lane: 'Job' | 'Ledger' | 'Attempts';
  /** The kind of an entry, or what happened. */
  what: string;
  detail: string;
  amount?: number;
}

export interface Run {
  attempt: number;
  from: number;
  to: number;
  /** `running` where it has not ended. */
  endedAs: string;
}

const RANK = { Job: 0, Attempts: 1, Ledger: 2 };

function ofJob(job: Job): JobEvent[] {
  const events: [string | null, string, string][] = [
    [job.submittedAt, 'submitted', job.queue === null ? 'delivered by the caller' : `into the queue ${job.queue}`],
    [job.succeededAt, 'succeeded', job.succeededAttempt === null ? '' : `attempt ${job.succeededAttempt}`],
    [job.deadAt, 'dead letter', job.reason ?? ''],
    [job.canceledAt, 'canceled', ''],
  ];
  return events.flatMap(([at, what, detail]) => (at === null ? [] : [{ at, lane: 'Job' as const, what, detail }]));
}

export function eventsOf(job: Job, attempts: readonly Attempt[], entries: readonly Entry[]): JobEvent[] {
  const ended = attempts.map(
    ({ attempt, endedAt, endedAs, verdict, reason, worker }): JobEvent => ({
      at: endedAt,
      lane: 'Attempts',
      what: `attempt ${attempt} ${spaced(endedAs)}`,
      detail: [verdict, reason, worker && `worker ${worker}`].filter(Boolean).join(' · '),
    }),
  );
  // An attempt may end twice: timed out, and then heard of after all. It began once.
  const begun = attempts.flatMap(({ attempt, startedAt, worker }, index): JobEvent[] =>
    startedAt === null || attempts.findIndex((one) => one.attempt === attempt) < index
      ? []
      : [
          {
            at: startedAt,
            lane: 'Attempts',
            what: `attempt ${attempt} began`,
            detail: worker ? `worker ${worker}` : '',
          },
        ],
  );
  const moved = entries.map(
    ({ createdAt, type, amount, balance, reason }): JobEvent => ({
      at: createdAt,
      lane: 'Ledger',
      what: type,
      detail: [`balance ${number(balance)}`, reason && spaced(reason)].filter(Boolean).join(' · '),
      amount,
    }),
  );
  return [...ofJob(job), ...begun, ...ended, ...moved].sort(
    (a, b) => Date.parse(a.at) - Date.parse(b.at) || RANK[a.lane] - RANK[b.lane],
  );
}

/** Attempts as spans of time; the one that runs lasts until now. */
export function runsOf(job: Job, attempts: readonly Attempt[], now: number): Run[] {
  const runs = new Map<number, Run>();
  for (const { attempt, startedAt, endedAt, endedAs } of attempts) {
    const to = Date.parse(endedAt);
    // The first end is where the work stopped.
    if (!runs.has(attempt)) runs.set(attempt, { attempt, from: startedAt ? Date.parse(startedAt) : to, to, endedAs });
  }
  if ((job.state === 'running' || job.state === 'waiting') && job.startedAt !== null && !runs.has(job.attempt))
    runs.set(job.attempt, { attempt: job.attempt, from: Date.parse(job.startedAt), to: now, endedAs: job.state });
  return [...runs.values()].sort((a, b) => a.attempt - b.attempt);
}

/** Where its money is, in a few words. */
export function paidOf(job: Job, entries: readonly Entry[]): string {
  const net = entries.reduce((sum, { amount }) => sum + amount, 0);
  const cost = net === 0 ? 'cost nothing' : net < 0 ? `cost ${number(-net)}` : `gave ${signed(net)}`;
  if (job.reclaimedAt !== null) return `${cost}: refunded, and taken again when the result arrived`;
  if (job.refundedAt !== null && job.state !== 'canceled')
    return `${cost}: refunded, and taken again should it still succeed`;
  return cost;
}
