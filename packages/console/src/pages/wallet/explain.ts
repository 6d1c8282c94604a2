// Why a balance is what it is, in plain words: the sums by kind, and what happened to one job, as one would tell a customer.
import type { Entry } from '../../types.ts';
import { duration, listed, number, plural, spaced } from '../../words.ts';

export interface Sum {
  type: string;
  amount: number;
  count: number;
}

/** Kinds in the order a balance is told: what came in, what went out, what came back, what was taken again. */
const ORDER = ['grant', 'charge', 'refund', 'reclaim', 'settle', 'adjust', 'clawback', 'expire', 'restore'];

export function sumsOf(entries: readonly Entry[]): Sum[] {
  return ORDER.flatMap((type) => {
    const of = entries.filter((entry) => entry.type === type);
    return of.length === 0 ? [] : [{ type, count: of.length, amount: of.reduce((sum, { amount }) => sum + amount, 0) }];
  });
}

const credits = (amount: number, unit: string) => plural(Math.abs(amount), unit);
const later = (from: Entry, to: Entry) => duration(Date.parse(to.createdAt) - Date.parse(from.createdAt));
const why = (reason: string | null) => (reason ? ` (${spaced(reason)})` : '');

/** What one entry did, where there was an earlier one of the same job. */
function step(entry: Entry, before: Entry | undefined, unit: string): string {
  const amount = credits(entry.amount, unit);
  const when = before ? `${later(before, entry)} later` : '';
  switch (entry.type) {
    case 'charge':
      return `${amount} were taken when the job was submitted`;
    case 'refund':
      return `given back ${when}${why(entry.reason ?? entry.jobReason)}`.trim();
    case 'reclaim':
      return `taken again ${when}, because the result arrived after all`;
    case 'settle':
      return `${entry.amount > 0 ? `${amount} given back` : `${amount} more taken`} ${when}, when the final price was known`;
    default:
      return `${entry.amount > 0 ? `${amount} added` : `${amount} taken`}${why(entry.reason)}`;
  }
}

const ENDS: Record<string, string> = {
  succeeded: 'The result was delivered.',
  running: 'The job is still running.',
  queued: 'The job will run again.',
  waiting: 'The job is with the provider.',
  dead: 'The job did not succeed and will not run again by itself.',
  failed: 'The job did not succeed.',
  canceled: 'The job was canceled.',
  discarded: 'The job did not succeed and was put aside.',
};

/** The story of one job from its entries, oldest first; what it cost in the end. */
export function storyOf(entries: readonly Entry[], unit: string): string {
  const [first] = entries;
  if (!first) return '';
  const net = entries.reduce((sum, { amount }) => sum + amount, 0);
  const steps = entries.map((entry, index) => step(entry, entries[index - 1], unit));
  const told = `${steps[0]!.charAt(0).toUpperCase()}${listed(steps).slice(1)}.`;
  const cost =
    net === 0
      ? 'In the end it cost nothing.'
      : net < 0
        ? `In the end it cost ${credits(net, unit)}.`
        : `In the end ${credits(net, unit)} came back.`;
  const end = ENDS[entries.at(-1)!.jobState ?? ''] ?? '';
  return [told, cost, end].filter(Boolean).join(' ');
}

/** One entry without a job. */
export function sentenceOf(entry: Entry, unit: string): string {
  const amount = credits(entry.amount, unit);
  const by = entry.actor ? `, by ${entry.actor}` : '';
  const key = entry.key ? `, under the key ${entry.key}` : '';
  const verbs: Record<string, string> = {
    grant: 'were added',
    adjust: entry.amount > 0 ? 'were added as a correction' : 'were taken as a correction',
    clawback: 'were taken back',
    expire: 'expired',
    restore: 'came back that had expired',
  };
  return `${amount} ${verbs[entry.type] ?? 'moved'}${why(entry.reason)}${by}${key}. The balance was ${number(entry.balance)} then.`;
}
