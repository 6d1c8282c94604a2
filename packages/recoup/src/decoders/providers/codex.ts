// Codex with a ChatGPT subscription. Source: github.com/openai/codex, codex-rs/codex-api/src/rate_limits.rs.

import type { Snapshot } from '../facts/facts.ts';
import { is, says } from '../parsing/match.ts';
import { codexResetMs, codexWindows } from './codex-windows.ts';
import { missingScope } from './openai.ts';
import type { Provider } from './provider.ts';

export const codex: Provider = {
  rules: [
    { code: is('usage_limit_reached'), class: 'quota_exhausted_upstream' },
    {
      code: is('usage_not_included'),
      class: 'permission',
      nextStep: 'The plan does not include Codex: change the plan, or take the account out of this pool.',
    },
    { message: says('model is at capacity'), class: 'overloaded', scope: 'model' },
    {
      code: is('deactivated_workspace'),
      class: 'account_disabled',
      nextStep: 'The ChatGPT workspace was deactivated: replace the account, or have its owner pay for it again.',
    },
    {
      code: is('codex_workspace_access_denied'),
      class: 'permission',
      nextStep: 'Have an administrator of the workspace allow Codex for this member.',
    },
    {
      code: is('codex_entitlement_missing'),
      class: 'permission',
      nextStep: 'Assign a seat with Codex to this account, or change its plan.',
    },
    {
      code: is('token_invalidated'),
      class: 'auth_revoked',
      nextStep: 'The session was ended elsewhere (log-out, new password): log in again.',
    },
    {
      message: says('missing scopes: '),
      class: 'permission',
      scope: 'capability',
      nextStep: 'Log in again and grant the scope that the message names.',
    },
    { status: [401], message: says('unauthorized'), class: 'auth_expired' },
  ],
  windows: codexWindows,
  resetMs: codexResetMs,
  refine: (verdict, reading, snapshots) => {
    if (verdict.scope.kind === 'capability') return { ...verdict, scope: missingScope(reading.error.message) };
    const limited = verdict.class === 'quota_exhausted_upstream' || verdict.class === 'rate_limited';
    return limited ? { ...verdict, ...exhausted(snapshots) } : verdict;
  },
};

/** A 429 is the quota's where a window is used up, and of one limit alone where only that one is. */
function exhausted(snapshots: readonly Snapshot[]) {
  const used = snapshots.filter((snapshot) => snapshot.exhausted);
  if (used.length === 0) return {};
  const whole = used.some(({ scope }) => scope.kind === 'all');
  return {
    class: 'quota_exhausted_upstream' as const,
    policy: 'snapshot' as const,
    ...(whole ? {} : { scope: used[0]!.scope }),
  };
}
