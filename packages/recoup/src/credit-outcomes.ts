// The transitions of credit with terms, with their guards, effects and answers; as in outcomes.ts, the docs page comes from it.
import type { Transition } from './outcomes.ts';

/** The transitions of credit with terms: what happens to grants by themselves. No caller asks for them by name. */
export const creditTransitions = {
  'wallet.expire': {
    guard: 'nothing was booked in the wallet since its credit was read',
    effect:
      'entry `expire` −what is left of a grant whose time is past, without what jobs at risk may take again; when to look again',
    outcomes: ['expired', 'looked', 'moved'],
    refusals: ['no_wallet', 'wallet_busy'],
  },
} as const satisfies Record<string, Transition>;
