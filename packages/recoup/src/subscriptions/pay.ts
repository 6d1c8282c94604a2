// subscription.pay: a payment arrived; it begins the subscription, or pays for its next period.
import { statement } from '../db/statement.ts';
import { type AdvanceRow, advance, advanceColumns } from './advance.ts';

/**
 * A payment. Guard: none with this key yet. It begins the first period of one that is pending, or that expired and whose customer has no other that
 * lives; else it pays for the next period of one that lives. Where it can do neither it is kept as `stray`, for a person.
 */
export const paySubscription = statement<typeof advanceColumns, AdvanceRow>(
  'subscription.pay',
  advanceColumns,
  () =>
    advance(`when known_type is not null and known_type <> 'stray' then 'duplicate'
      when status in ('active', 'past_due') then 'renewed' when status = 'revoked' then 'subscription_ended'
      when other is not null then 'already_subscribed' else 'activated'`),
  { holds: 'subscription_id' },
);
