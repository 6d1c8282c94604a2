// subscription.lapse: its time is up; the next period begins by itself, or is awaited, or nothing is left to wait for.
import { statement } from '../db/statement.ts';
import { type AdvanceRow, advance, advanceColumns } from './advance.ts';

/**
 * Its time is up. Guard: it is due. What was not paid for expires; a period that nobody has to pay for begins, unless it was to be the last; one
 * that is to be paid for is awaited for as long as the plan says.
 */
export const lapseSubscription = statement<typeof advanceColumns, AdvanceRow>(
  'subscription.lapse',
  advanceColumns,
  () =>
    advance(`when due_at is null or due_at > now then 'duplicate'
      when status <> 'active' or ends_with_period then 'expired' when q.renews = 'itself' then 'renewed' else 'past_due'`),
  { holds: 'subscription_id' },
);
