// The transitions of credit with terms and of subscriptions, with guards, effects and answers; as in outcomes.ts, the docs page comes from it.
import type { Transition } from './outcomes.ts';

/** The transitions of credit with terms and of subscriptions. What moves credit of a subscription is a `wallet.grant` in the same transaction. */
export const creditTransitions = {
  'wallet.expire': {
    guard: 'nothing was booked in the wallet since its credit was read',
    effect:
      'entry `expire` −what is left of a grant whose time is past, without what jobs at risk may take again; when to look again',
    outcomes: ['expired', 'looked', 'moved'],
    refusals: ['no_wallet', 'wallet_busy'],
  },
  'subscription.setPlan': {
    guard: 'credits and a length, where the plan is new',
    effect: 'the plan as given; periods that run keep what they granted and when they end',
    outcomes: ['set', 'duplicate'],
    refusals: ['no_plan', 'invalid'],
  },
  'subscription.start': {
    guard:
      'none of that id; a plan that takes new ones; a wallet of the customer; no subscription of his that is active or past due',
    effect: '`pending` for a while; one of his that was pending expires as superseded',
    outcomes: ['started', 'duplicate'],
    refusals: ['no_plan', 'no_wallet', 'already_subscribed', 'conflict'],
  },
  'subscription.pay': {
    guard:
      'no event with this key; pending, or expired and no other of the customer lives: it begins; active or past due: the next period',
    effect:
      '`active` in the period that holds this instant, or in the one after the newest that was granted, whichever is later; its credit is granted once; where it has no place the payment is kept as stray',
    outcomes: ['activated', 'renewed', 'duplicate'],
    refusals: ['no_subscription', 'already_subscribed', 'subscription_ended', 'balance_limit', 'wallet_busy'],
  },
  'subscription.lapse': {
    guard: 'due_at ≤ clock',
    effect:
      'pending, unpaid for the plan’s grace, or at the end of its last period: `expired`; a plan that renews itself: the next period; else `past_due`',
    outcomes: ['renewed', 'past_due', 'expired', 'duplicate'],
    refusals: ['balance_limit', 'wallet_busy'],
  },
  'subscription.change': {
    guard:
      'no event with this key; active or past due; a plan that takes new ones, of the same length where it begins now',
    effect:
      'the plan, now or from the next period; now: what the time on each plan is worth is granted, as far as it was not; nothing is taken',
    outcomes: ['plan_changed', 'plan_planned', 'duplicate'],
    refusals: ['no_subscription', 'subscription_ended', 'no_plan', 'invalid', 'balance_limit', 'wallet_busy'],
  },
  'subscription.cancel': {
    guard: 'no event with this key; it lives',
    effect:
      'now: `revoked`; with the period: its last; never: it goes on; credit that was granted stays until it expires',
    outcomes: ['revoked', 'canceling', 'resumed', 'duplicate'],
    refusals: ['no_subscription', 'subscription_ended'],
  },
  'payment.tell': {
    guard:
      'what it is for and how much it is are as they were said before; for credit: paid, known what for, nothing granted yet',
    effect:
      'news is added (paid stays paid, the larger refund counts, a decided dispute stays so); the credit is granted once, and what is refunded or disputed is taken back in proportion',
    outcomes: ['granted', 'adjusted', 'told'],
    refusals: [
      ...[
        'conflict',
        'no_wallet',
        'no_subscription',
        'already_subscribed',
        'subscription_ended',
        'balance_limit',
        'wallet_busy',
      ],
    ],
  },
  'payment.settle': {
    guard: 'no entry with the key of this booking; the payment is held',
    effect:
      'entry `clawback` or `restore` of the difference between what is taken back and what is to be; may go into debt',
    outcomes: ['booked', 'duplicate'],
    refusals: ['no_wallet', 'balance_limit', 'wallet_busy'],
  },
} as const satisfies Record<string, Transition>;

/** The answers of one transition of credit or subscriptions. */
export type CreditOutcome<T extends keyof typeof creditTransitions> = (typeof creditTransitions)[T]['outcomes'][number];
