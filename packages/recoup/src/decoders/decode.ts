// decode(): an answer of a provider in, its facts out. Pure: no clock but the caller's, nothing kept.
import { InvalidInput } from '../errors.ts';
import { integer } from '../input.ts';
import { readable } from '../readable.ts';
import { ALL, type Answer, type Facts, type Hint, type Snapshot } from './facts/facts.ts';
import { durationAfter } from './parsing/durations.ts';
import { firstOf, type Rule, type Verdict, verdictOf } from './parsing/match.ts';
import { type Reading, read } from './parsing/reading.ts';
import { MAX_CODE, MAX_MESSAGE, redacted } from './parsing/redact.ts';
import { MAX_RETRY_AFTER_MS, retryAfterMs, waitHint } from './parsing/retry-after.ts';
import { announcedMs, DAY, plausibleReset } from './parsing/windows.ts';
import type { Provider } from './providers/provider.ts';
import { byStatus, SHARED } from './providers/shared.ts';
import { providerNamed, providers } from './providers.ts';
import type { Rules } from './rules.ts';

export interface DecodeOptions {
  /** Rules of an operator, from `readRules`; they come before the built-in ones. */
  rules?: Rules;
  /** The longest that a Retry-After is believed, in ms; an hour unless set, at most 32 days. */
  maxRetryAfterMs?: number;
}

/**
 * What an answer says, for whoever blocks upstreams. Never throws for what a provider sent, whatever it is. Times are after
 * `receivedAt` and at most 39 days ahead; what is not plausible is left out and noted in `dropped`. Refuses a `receivedAt` that is no
 * valid Date, a `provider` that is no text, a `maxRetryAfterMs` out of range, and objects whose getters throw.
 */
export function decode(answer: Answer, options: DecodeOptions = {}): Facts {
  const max = options.maxRetryAfterMs ?? MAX_RETRY_AFTER_MS;
  integer('maxRetryAfterMs', max, 1, 32 * DAY);
  // Headers and body are looked at all the way down, and may be objects of the caller's.
  return readable('answer', () => factsOf(answer, options.rules, max));
}

function factsOf(answer: Answer, rules: Rules | undefined, max: number): Facts {
  checkCaller(answer);
  const reading = read(answer);
  const named = providerNamed(answer.provider);
  if (named === null && !ofRules(rules, answer.provider)) reading.drop('provider', answer.provider, 'unknown_provider');
  const name = named ?? 'generic';
  const provider: Provider = providers[name];
  const snapshots = provider.windows?.(reading) ?? [];
  const rule = ruleFor(rules, [answer.provider.toLowerCase(), name], reading);
  const verdict = rule ? verdictOf(rule, reading.model) : failed(reading) ? judge(provider, reading, snapshots) : null;
  const hints = verdict === null ? [] : hintsOf(provider, reading, verdict, snapshots, max);
  return {
    provider: name,
    ...meaning(verdict, reading, hints),
    snapshots,
    rule: rule?.name ?? null,
    dropped: [...reading.dropped],
  };
}

function checkCaller({ provider, receivedAt }: Answer): void {
  if (typeof provider !== 'string') throw new InvalidInput('provider', 'must be a string');
  const year = receivedAt instanceof Date ? receivedAt.getUTCFullYear() : Number.NaN;
  if (!(year >= 1970 && year <= 9998)) throw new InvalidInput('receivedAt', 'must be a valid Date from 1970 to 9998');
}

/** Whether a rule names it: then it is a provider that the operator knows. */
const ofRules = (rules: Rules | undefined, provider: string) =>
  (rules?.rules ?? []).some((rule) => rule.providers?.includes(provider.toLowerCase()));

/** On a success only rules that name its status are looked at. */
function ruleFor(rules: Rules | undefined, names: readonly string[], reading: Reading): Rule | undefined {
  const mine = (rules?.rules ?? []).filter(
    (rule) =>
      (rule.providers === undefined || rule.providers.some((one) => names.includes(one))) &&
      (failed(reading) || rule.status !== undefined),
  );
  return firstOf(mine, reading);
}

const succeeded = (status: number | null) => status !== null && status >= 200 && status < 300;
/** An error event in a stream counts as a status does. */
const failed = ({ status, error }: Reading) => !succeeded(status) || error.said;

/** The network and what stands between come first: what they wrote says nothing about an account. */
function judge(provider: Provider, reading: Reading, snapshots: readonly Snapshot[]): Verdict {
  const transport = onTheWay(reading);
  if (transport !== null) return verdictOf({ class: transport }, reading.model);
  const rule =
    firstOf(provider.rules, reading) ?? firstOf(SHARED, reading) ?? byStatus(reading.status, reading.error.said);
  const verdict = verdictOf(rule, reading.model);
  return provider.refine?.(verdict, reading, snapshots) ?? verdict;
}

const TLS_OR_PROXY =
  /^(CERT_|ERR_TLS_|ERR_SSL_|ERR_PROXY|EPROTO$|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH)/;

function onTheWay({ body, failure, status }: Reading): 'cdn_or_proxy' | 'server_error' | null {
  if (body.kind === 'foreign') return 'cdn_or_proxy';
  if (status !== null || failure === null) return null;
  return TLS_OR_PROXY.test(failure) ? 'cdn_or_proxy' : 'server_error';
}

const WAITS = ['try again in ', 'retry in ', 'retry after '];
const RESETS = ['resets in '];

/** Every time that is named, the one to go by first: of a quota its reset, of anything else the order to wait. */
function hintsOf(
  provider: Provider,
  reading: Reading,
  verdict: Verdict,
  snapshots: readonly Snapshot[],
  max: number,
): Hint[] {
  if (verdict.policy === null || verdict.policy === 'manual') return [];
  const quota = verdict.class === 'quota_exhausted_upstream';
  const said = retryAfterMs(reading) ?? provider.waitMs?.(reading) ?? durationAfter(reading.error.message, WAITS);
  const wait = waitHint(reading, 'retry-after', said, max);
  const reset = quota || verdict.class === 'rate_limited' ? resetHint(provider, reading, snapshots) : null;
  return (quota ? [reset, wait] : [wait, reset]).filter((hint) => hint !== null);
}

/** The latest of what windows, body and words announce. */
function resetHint(provider: Provider, reading: Reading, snapshots: readonly Snapshot[]): Hint | null {
  const afterMs = durationAfter(reading.error.message, RESETS);
  const resets = [
    announcedMs(snapshots),
    provider.resetMs?.(reading) ?? null,
    afterMs === null ? null : plausibleReset(reading, 'message', reading.now + afterMs, null, `${afterMs} ms`),
  ].filter((ms) => ms !== null);
  return resets.length === 0 ? null : { source: 'reset_announced', until: new Date(Math.max(...resets)) };
}

type Meaning = Omit<Facts, 'provider' | 'snapshots' | 'rule' | 'dropped'>;

function meaning(verdict: Verdict | null, reading: Reading, hints: Hint[]): Meaning {
  if (verdict === null) {
    const nothing = { class: null, policy: null, until: null, source: null, reason: null, nextStep: null };
    return { ...nothing, subject: 'none', scope: ALL, hints };
  }
  const waits = verdict.policy !== null && verdict.policy !== 'manual';
  const { codes, message } = reading.error;
  const code = codes[0] ?? reading.failure ?? (reading.status === null ? null : `http_${reading.status}`);
  return {
    ...verdict,
    until: hints[0]?.until ?? null,
    source: hints[0]?.source ?? (waits ? 'backoff' : null),
    hints,
    reason: { code: redacted(code, MAX_CODE), message: redacted(message, MAX_MESSAGE) },
  };
}
