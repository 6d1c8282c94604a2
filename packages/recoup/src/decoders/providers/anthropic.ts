// Anthropic, by API key and by subscription. Source: docs.anthropic.com/en/api/rate-limits and /en/api/errors.
import { ALL, type Snapshot } from '../facts/facts.ts';
import { is, says, type Verdict, verdictOf } from '../parsing/match.ts';
import type { Reading } from '../parsing/reading.ts';
import { anthropicWindows, rejected, unifiedResetMs } from './anthropic-windows.ts';
import type { Provider } from './provider.ts';

export const anthropic: Provider = {
  rules: [
    // A 429 without a window: the request is too long for the plan, the account is well.
    { message: says('extra usage is required for long context'), class: 'request_scoped' },
    {
      code: is('credits_required'),
      class: 'billing',
      nextStep: 'Buy credits or switch on extra usage for this account, then release the upstream.',
    },
    {
      message: says('credit balance is too low'),
      class: 'billing',
      nextStep: 'Buy credits in the Anthropic console, then release the upstream.',
    },
    {
      message: says('reached your specified api usage limits'),
      class: 'billing',
      nextStep: 'Raise the spend limit of the workspace in the Anthropic console, then release the upstream.',
    },
    {
      message: says('this organization has been disabled'),
      class: 'account_disabled',
      nextStep: 'Anthropic disabled the organization: replace the account, or write to their support.',
    },
    {
      code: is('oauth_org_not_allowed'),
      class: 'permission',
      nextStep: 'Have an administrator of the organization allow subscription access, or use an API key.',
    },
    {
      message: says('oauth authentication is currently not allowed', 'has disabled claude subscription access'),
      class: 'permission',
      nextStep: 'Have an administrator of the organization allow subscription access, or use an API key.',
    },
    { message: says('token has been revoked', 'token is revoked', 'token revoked'), class: 'auth_revoked' },
    {
      message: says('invalid x-api-key'),
      class: 'auth_revoked',
      nextStep: 'The key is unknown to Anthropic: check what is stored, or create a new key.',
    },
    { code: is('overloaded_error'), class: 'overloaded' },
    { code: is('api_error', 'timeout_error'), class: 'server_error' },
  ],
  windows: anthropicWindows,
  resetMs: unifiedResetMs,
  refine: (verdict, reading, snapshots) =>
    verdict.class === 'rate_limited' ? byWindows(verdict, reading, snapshots) : verdict,
};

const OF_A_PERIOD = new Set(['short', 'daily', 'weekly', 'monthly']);

/** A subscription's window that is used up is its quota; the per-minute limits of an API key have no length and stay a rate. */
function byWindows(verdict: Verdict, reading: Reading, snapshots: readonly Snapshot[]): Verdict {
  const used = snapshots.filter(({ exhausted, kind }) => exhausted && OF_A_PERIOD.has(kind));
  if (used.length === 0 && !rejected(reading)) return verdict;
  const quota = verdictOf({ class: 'quota_exhausted_upstream' }, reading.model);
  const out = reading.headers.get('anthropic-ratelimit-unified-overage-disabled-reason') === 'out_of_credits';
  return {
    ...quota,
    scope: used.find(({ scope }) => scope.kind === 'all')?.scope ?? used[0]?.scope ?? ALL,
    nextStep: out ? 'It comes back by itself; credits for extra usage would bring it back at once.' : null,
  };
}
