// What most APIs have in common: the codes of OpenAI-compatible bodies and OAuth, and what a status says alone.
import { is, type Rule, says } from '../parsing/match.ts';

export const SHARED: readonly Rule[] = [
  {
    code: is(
      'insufficient_quota',
      'billing_hard_limit_reached',
      'billing_not_active',
      'access_terminated',
      'quota_exceeded',
      'credit_balance_exhausted',
      'exceeded_current_quota_error',
      'insufficient_balance',
    ),
    class: 'billing',
  },
  {
    code: is('billing_error', 'credits_required', 'payment_required'),
    class: 'billing',
    nextStep: 'Look at the billing page of the account: a payment or credit is missing. Then release the upstream.',
  },
  { status: [402], message: says('insufficient balance', 'insufficient credit', 'no balance'), class: 'billing' },
  { code: is('token_revoked', 'token_invalidated', 'invalid_grant'), class: 'auth_revoked' },
  {
    code: is('refresh_token_reused'),
    class: 'auth_revoked',
    nextStep: 'Log in anew, and let one process alone refresh the token: two used the same refresh token.',
  },
  {
    code: is('invalid_api_key', 'account_deactivated_key'),
    class: 'auth_revoked',
    nextStep: 'The key is unknown to the provider: check what is stored, or create a new key.',
  },
  { code: is('token_expired', 'invalid_token'), class: 'auth_expired' },
  { code: is('account_deactivated', 'organization_disabled', 'account_suspended'), class: 'account_disabled' },
  {
    code: is(
      'context_length_exceeded',
      'content_filter',
      'content_policy_violation',
      'invalid_prompt',
      'string_above_max_length',
      'request_too_large',
    ),
    class: 'request_scoped',
  },
  {
    status: [400, 413, 422],
    message: says('context length', 'prompt is too long', 'content filter'),
    class: 'request_scoped',
  },
  {
    code: is('overloaded_error', 'overloaded', 'engine_overloaded_error', 'server_is_overloaded', 'slow_down'),
    class: 'overloaded',
  },
  { message: says('model is at capacity', 'model is overloaded'), class: 'overloaded', scope: 'model' },
  { code: is('rate_limit_exceeded', 'rate_limit_error', 'too_many_requests'), class: 'rate_limited' },
  { status: [200], code: is('invalid_request_error', 'not_found_error'), class: 'request_scoped' },
  { status: [200], code: is('authentication_error'), class: 'auth_expired' },
  { status: [200], code: is('permission_error'), class: 'permission' },
];

/** What such a status says is about the request. */
export const REQUEST_SCOPED: readonly number[] = [
  400, 404, 405, 406, 409, 410, 411, 412, 413, 414, 415, 416, 417, 421, 422, 424, 428, 431, 451, 499,
];

/** Only where nothing inside the answer says more. */
export function byStatus(status: number | null, failed: boolean): Omit<Rule, 'status'> {
  if (status === null) return { class: 'server_error' };
  if (status === 401) return { class: 'auth_expired' };
  if (status === 402) return { class: 'billing' };
  if (status === 403) return { class: 'permission' };
  if (status === 407) return { class: 'cdn_or_proxy' };
  if (status === 408) return { class: 'server_error' };
  if (status === 429) return { class: 'rate_limited' };
  if (status === 529) return { class: 'overloaded' };
  if (REQUEST_SCOPED.includes(status)) return { class: 'request_scoped' };
  if ((status >= 500 && status <= 599) || (status < 300 && failed)) return { class: 'server_error' };
  return { class: 'server_error', policy: 'rolling' };
}
