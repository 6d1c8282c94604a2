// The state of a subscription in a word, and what happens to it next and when.
import type { Output } from '@recoup/client';
import type { Tone } from '../../parts/tone.ts';

export type Subscription = Output<'subscriptions.list'>['subscriptions'][number];

export const TONES: Record<Subscription['status'], Tone> = {
  pending: 'plain',
  active: 'good',
  past_due: 'bad',
  expired: 'plain',
  revoked: 'plain',
};

/** What comes next, in words; where an instant belongs to it, that stands beside it. */
export function nextOf({ status, nextPlan, endsWithPeriod, periodEnd, endedAt }: Subscription): {
  says: string;
  at: string | null;
} {
  if (status === 'pending') return { says: 'waits for its first payment', at: null };
  if (status === 'past_due') return { says: 'not paid since its period ended', at: periodEnd };
  if (status !== 'active') return { says: 'ended', at: endedAt };
  if (endsWithPeriod) return { says: 'ends with its period', at: periodEnd };
  return { says: nextPlan === null ? 'next period' : `next period, of ${nextPlan}`, at: periodEnd };
}
