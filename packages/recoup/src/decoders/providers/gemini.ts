// Gemini API, Vertex AI and clients of both. Source: ai.google.dev/gemini-api/docs/rate-limits and cloud.google.com/apis/design/errors.
import type { Scope, Snapshot } from '../facts/facts.ts';
import { durationMs } from '../parsing/durations.ts';
import { pacificMidnight } from '../parsing/instants.ts';
import { at, isObject, listOf, textOf } from '../parsing/json.ts';
import { is, says, type Verdict, verdictOf } from '../parsing/match.ts';
import type { Reading } from '../parsing/reading.ts';
import { DAY, HOUR, resetOf, snapshotOf } from '../parsing/windows.ts';
import type { Provider } from './provider.ts';

export const gemini: Provider = {
  rules: [
    {
      code: is('API_KEY_INVALID'),
      class: 'auth_revoked',
      nextStep: 'The key is unknown to Google: check what is stored, or create a new key.',
    },
    { code: is('ACCESS_TOKEN_EXPIRED', 'UNAUTHENTICATED'), class: 'auth_expired' },
    {
      code: is('CONSUMER_SUSPENDED'),
      class: 'account_disabled',
      nextStep: 'Google suspended the project: appeal in its console, or replace the project.',
    },
    {
      code: is('BILLING_DISABLED'),
      class: 'billing',
      nextStep: 'Switch on billing for the project, then release the upstream.',
    },
    {
      code: is('SERVICE_DISABLED'),
      class: 'permission',
      nextStep: 'Switch on the API for the project in the Google Cloud console.',
    },
    {
      code: is('VALIDATION_REQUIRED'),
      class: 'permission',
      nextStep: 'Log in to the account in a browser and complete the verification that Google asks for.',
    },
    {
      status: [403],
      message: says('verify your account', 'validation required'),
      class: 'permission',
      nextStep: 'Log in to the account in a browser and complete the verification that Google asks for.',
    },
    {
      status: [403],
      message: says('policy violation', 'violation of terms', 'terms of service'),
      class: 'permission',
      nextStep: 'Google holds the account in breach of its policy: appeal, or replace the account.',
    },
    { code: is('MODEL_CAPACITY_EXHAUSTED'), class: 'overloaded', scope: 'model' },
    { status: [503], message: says('overloaded'), class: 'overloaded', scope: 'model' },
    { code: is('QUOTA_EXHAUSTED'), class: 'quota_exhausted_upstream', subject: 'quota_group' },
    { code: is('RESOURCE_EXHAUSTED', 'RATE_LIMIT_EXCEEDED'), class: 'rate_limited', subject: 'quota_group' },
    { code: is('INVALID_ARGUMENT', 'FAILED_PRECONDITION', 'NOT_FOUND'), status: [200], class: 'request_scoped' },
  ],
  windows: violated,
  resetMs: (reading) =>
    spent(reading) ? resetOf(reading, { field: 'quotaResetDelay', afterMs: delayMs(reading) }, null) : null,
  waitMs: (reading) => {
    const delays = details(reading).map((detail) => durationMs(at(detail, 'retryDelay')));
    return delays.find((ms) => ms !== null) ?? (spent(reading) ? null : delayMs(reading));
  },
  refine: (verdict, reading, snapshots) => byWindows(verdict, reading, snapshots),
};

const details = (reading: Reading) =>
  reading.body.values.flatMap((value) => listOf(at(value, 'error', 'details'))).filter(isObject);

/** A quota is of a project, and of a model where its id says so. */
function violated(reading: Reading): Snapshot[] {
  const violations = details(reading).flatMap((detail) => listOf(at(detail, 'violations')));
  return violations
    .map((violation) => {
      const name = textOf(at(violation, 'quotaId'));
      if (name === undefined || !/PerDay/i.test(name)) return null;
      const model = textOf(at(violation, 'quotaDimensions', 'model')) ?? reading.model;
      const scope: Scope = /PerModel/i.test(name) ? { kind: 'model', name: model } : { kind: 'all', name: null };
      // A delay of seconds that comes with it is of no use: the day of Google ends at midnight in California.
      const reset = { field: 'quotaId', afterMs: pacificMidnight(reading.now) - reading.now };
      const known = { lengthMs: DAY, used: null, scale: null, exhausted: true };
      return snapshotOf(reading, { name: name.slice(0, 120), ...known, reset, scope });
    })
    .filter((snapshot) => snapshot !== null);
}

/** `quotaResetDelay` of a used-up quota that is not named; up to an hour it is only a wait, unless the code says quota. */
function delayMs(reading: Reading): number | null {
  const said = details(reading).map((detail) => at(detail, 'metadata', 'quotaResetDelay'));
  return said.map(durationMs).find((ms) => ms !== null) ?? null;
}

const spent = (reading: Reading) => (delayMs(reading) ?? 0) > HOUR || reading.error.codes.includes('QUOTA_EXHAUSTED');

function byWindows(verdict: Verdict, reading: Reading, snapshots: readonly Snapshot[]): Verdict {
  if (verdict.class !== 'rate_limited' && verdict.class !== 'quota_exhausted_upstream') return verdict;
  const used = snapshots.filter(({ exhausted }) => exhausted);
  const quota = verdictOf({ class: 'quota_exhausted_upstream', subject: 'quota_group' }, reading.model);
  if (used.length > 0)
    return { ...quota, scope: used.find(({ scope }) => scope.kind === 'all')?.scope ?? used[0]!.scope };
  const otherwise = spent(reading) ? quota : { ...verdict, subject: 'quota_group' as const };
  return { ...otherwise, scope: perModel(reading) ?? verdict.scope };
}

function perModel(reading: Reading): Scope | null {
  const violations = details(reading).flatMap((detail) => listOf(at(detail, 'violations')));
  const one = violations.find((violation) => /PerModel/i.test(textOf(at(violation, 'quotaId')) ?? ''));
  const named = details(reading).map((detail) => textOf(at(detail, 'metadata', 'model')));
  const model = textOf(at(one, 'quotaDimensions', 'model')) ?? named.find((name) => name !== undefined);
  if (one === undefined && model === undefined) return null;
  return { kind: 'model', name: model ?? reading.model };
}
