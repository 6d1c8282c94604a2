// OpenAI platform API. Source: platform.openai.com/docs/guides/rate-limits and /docs/guides/error-codes.
import { durationWindows } from '../parsing/counted-windows.ts';
import { is, says } from '../parsing/match.ts';
import type { Provider } from './provider.ts';

/** "Rate limit reached for MODEL in organization …": limits are per model, and the message names it. */
const MODEL = /\bfor ([\w.:/-]{1,100}) (?:\([^)]{0,80}\) )?in organization\b/;

export const openai: Provider = {
  rules: [
    {
      code: is('insufficient_quota', 'credit_balance_exhausted', 'quota_exceeded'),
      class: 'billing',
      nextStep: 'Add credit to the OpenAI organization or raise its monthly budget, then release the upstream.',
    },
    {
      code: is('billing_hard_limit_reached'),
      class: 'billing',
      nextStep: 'Raise the hard limit of the OpenAI project or organization, then release the upstream.',
    },
    {
      code: is('billing_not_active'),
      class: 'billing',
      nextStep: 'Add a payment method to the OpenAI organization, then release the upstream.',
    },
    {
      code: is('access_terminated'),
      class: 'billing',
      nextStep: 'OpenAI ended the access of this account: settle it with their support, or replace the account.',
    },
    {
      message: says('missing scopes: '),
      class: 'permission',
      scope: 'capability',
      nextStep: 'Give the key the scope that the message names.',
    },
    {
      status: [401],
      message: says('must be a member of an organization'),
      class: 'permission',
      nextStep: 'Add the account to an organization, or use a key of one.',
    },
  ],
  windows: (reading) => durationWindows(reading),
  refine: (verdict, reading) => {
    const { message } = reading.error;
    if (verdict.scope.kind === 'capability') return { ...verdict, scope: missingScope(message) };
    const model = verdict.class === 'rate_limited' ? MODEL.exec(message)?.[1] : undefined;
    return model === undefined ? verdict : { ...verdict, scope: { kind: 'model', name: model } };
  },
};

/** "Missing scopes: api.responses.write. Check …": the first one. */
export function missingScope(message: string): { kind: 'capability'; name: string | null } {
  const name = /missing scopes: ([a-z][\w.:-]{0,99})/i.exec(message)?.[1]?.replace(/[.:]+$/, '');
  return { kind: 'capability', name: name ?? null };
}
