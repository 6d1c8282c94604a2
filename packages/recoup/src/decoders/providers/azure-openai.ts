// Azure OpenAI. Source: learn.microsoft.com/azure/ai-services/openai/how-to/quota.
import { durationWindows } from '../parsing/counted-windows.ts';
import { durationAfter } from '../parsing/durations.ts';
import { is, says, verdictOf } from '../parsing/match.ts';
import type { Reading } from '../parsing/reading.ts';
import { HOUR, resetOf } from '../parsing/windows.ts';
import type { Provider } from './provider.ts';

/** "Please retry after 86400 seconds" is real: a quota of a longer period, not a rate. */
const longWaitMs = ({ error }: Reading) => {
  const ms = durationAfter(error.message, ['retry after ']);
  return ms !== null && ms > HOUR ? ms : null;
};

export const azureOpenai: Provider = {
  rules: [
    { code: is('content_filter', 'ResponsibleAIPolicyViolation'), class: 'request_scoped' },
    {
      code: is('SubscriptionDisabled', 'ReadOnlyDisabledSubscription'),
      class: 'account_disabled',
      nextStep: 'The Azure subscription is disabled: reactivate it, or use another.',
    },
    {
      status: [401],
      message: says('invalid subscription key', 'wrong api endpoint'),
      class: 'auth_revoked',
      nextStep: 'Check that key and endpoint are of the same Azure resource, or renew the key.',
    },
    {
      code: is('PermissionDenied', 'AuthorizationFailed'),
      class: 'permission',
      nextStep: 'Give the identity the role “Cognitive Services OpenAI User” on the resource.',
    },
    {
      status: [403],
      message: says('virtual network', 'firewall rules'),
      class: 'permission',
      nextStep: 'The resource’s network rules keep this machine out: allow its address.',
    },
    { code: is('NoCapacity'), class: 'overloaded', scope: 'model' },
    { status: [429], code: is('429', 'too_many_requests', 'RateLimitReached'), class: 'rate_limited' },
  ],
  windows: (reading) => durationWindows(reading),
  resetMs: (reading) => {
    const afterMs = longWaitMs(reading);
    return afterMs === null ? null : resetOf(reading, { field: 'message', afterMs }, null);
  },
  refine: (verdict, reading) =>
    verdict.class === 'rate_limited' && longWaitMs(reading) !== null
      ? verdictOf({ class: 'quota_exhausted_upstream' }, reading.model)
      : verdict,
};
