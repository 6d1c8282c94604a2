// The accounts that the demo's jobs run on, each at a provider, and what befalls them while the trace runs.
import type { Refused } from 'recoup/testing';

export const POOL = 'inference';

/** The one whose key is revoked. */
export const REVOKED = 'anthropic-1';

export interface Account {
  upstream: string;
  provider: string;
  /** Where its key is kept; in the demo that is the key itself. */
  credentialRef: string;
}

export const accounts: readonly Account[] = [
  { upstream: 'openai-1', provider: 'openai', credentialRef: 'vault/openai-1' },
  { upstream: 'openai-2', provider: 'openai', credentialRef: 'vault/openai-2' },
  { upstream: 'codex-1', provider: 'codex', credentialRef: 'vault/codex-1' },
  { upstream: REVOKED, provider: 'anthropic', credentialRef: `vault/${REVOKED}` },
  { upstream: 'anthropic-2', provider: 'anthropic', credentialRef: 'vault/anthropic-2' },
];

/** When, as a part of the time that the requests take to arrive, the operator looks into the inbox. */
export const OPERATOR_AT = 0.6;
/** The key that the operator has then. */
export const newCredential = (upstream: string) => `vault/${upstream}-new`;

/**
 * What each key meets, as its provider really answers: a limit for a second, a quota that is used up and announces its reset, a revoked
 * key, a provider that is overloaded. `durationMs`: how long the requests take to arrive.
 */
export function troubles(durationMs: number): (key: string | null, sinceMs: number) => Refused | undefined {
  const from = (part: number) => part * durationMs;
  return (key, sinceMs) => {
    const within = (part: number, ms: number) => sinceMs >= from(part) && sinceMs < from(part) + ms;
    if (key === 'vault/openai-2' && within(0.1, 1500)) return limited();
    if (key === 'vault/codex-1' && within(0.2, from(0.2))) return exhausted(from(0.4) - sinceMs);
    if (key === `vault/${REVOKED}` && sinceMs >= from(0.3)) return revoked();
    if (key === 'vault/anthropic-2' && within(0.7, 1000)) return overloaded();
    return undefined;
  };
}

const limited = (): Refused => ({
  status: 429,
  headers: { 'retry-after': '2' },
  body: {
    error: { type: 'requests', code: 'rate_limit_exceeded', message: 'Rate limit reached. Please try again in 2s.' },
  },
});
const exhausted = (leftMs: number): Refused => ({
  status: 429,
  body: {
    error: {
      type: 'usage_limit_reached',
      message: 'The usage limit has been reached',
      resets_in_seconds: Math.ceil(leftMs / 1000),
    },
  },
});
const revoked = (): Refused => ({
  status: 401,
  body: { type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } },
});
const overloaded = (): Refused => ({
  status: 529,
  headers: { 'retry-after': '1' },
  body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
});
