// subscription.cancel: an end now, an end with the period, or neither after all.
import type { RawAnswer } from '../db/runner.ts';
import { answerEach, statement } from '../db/statement.ts';
import { heldSubscriptions, saidBefore, writeSubscriptions } from './held.ts';

interface CancelRow extends RawAnswer {
  status: string;
}

const columns = { subscription_id: 'text', how: 'text', key: 'text', actor: 'text', reason: 'text' } as const;

/**
 * Guard: it lives. `now` revokes it at once (one that is pending, too); `period` lets the period be its last; `never` takes that back. Credit that was
 * granted stays until it expires.
 */
export const cancelSubscription = statement<typeof columns, CancelRow>(
  'subscription.cancel',
  columns,
  () => `${heldSubscriptions},
judged as materialized (
  select h.*, case ${saidBefore}
      when status in ('expired', 'revoked') then case when how = 'never' then 'subscription_ended' else 'duplicate' end
      when how = 'now' or (status = 'pending' and how = 'period') then 'revoked'
      when ends_with_period = (how = 'period') then 'duplicate'
      when how = 'period' then 'canceling' else 'resumed' end as verdict
  from held h),
next as materialized (
  select ord, subscription_id, key, actor, reason, now, customer_id, wallet_id, started_at, events, verdict,
    case when verdict in ('revoked', 'canceling', 'resumed') then verdict end as event,
    plan_id, next_plan_id, case when verdict = 'revoked' then verdict else status end as status, anchor_at, anchor_period, every, every_count, zone,
    period, period_start, period_end, case verdict when 'canceling' then true when 'resumed' then false else ends_with_period end as ends_with_period,
    case when verdict = 'revoked' then null else due_at end as due_at, case when verdict = 'revoked' then now else ended_at end as ended_at
  from judged),
${writeSubscriptions}${answerEach('next', 'verdict', {
  wallet: 'wallet_id',
  status: 'status',
  period_end: 'period_end',
  event_number: 'null',
  credits: 'null',
  priority: 'null',
  expires_at: 'null',
})}`,
  { holds: 'subscription_id' },
);
