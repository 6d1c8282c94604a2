// OpenRouter. Source: openrouter.ai/docs/api-reference/limits and /errors.
import type { Snapshot } from '../facts/facts.ts';
import { countedBy } from '../parsing/counted-windows.ts';
import { headersOf } from '../parsing/headers.ts';
import { at, isObject } from '../parsing/json.ts';
import { says } from '../parsing/match.ts';
import type { Reading } from '../parsing/reading.ts';
import { DAY, snapshotOf } from '../parsing/windows.ts';
import type { Provider } from './provider.ts';

const perDay = ({ error }: Reading) => error.message.toLowerCase().includes('per-day');

export const openrouter: Provider = {
  rules: [
    {
      status: [402],
      class: 'billing',
      nextStep: 'Buy OpenRouter credits or raise the limit of this key, then release the upstream.',
    },
    {
      message: says('free-models-per-day'),
      class: 'quota_exhausted_upstream',
      nextStep: 'It comes back by itself; credits on the account raise the cap of free models.',
    },
    // The provider behind OpenRouter is the one that is limited, and only for this model.
    {
      status: [429],
      message: says('provider returned error', 'rate-limited upstream'),
      class: 'rate_limited',
      subject: 'provider',
      scope: 'model',
    },
    { status: [403], message: says('moderation', 'flagged'), class: 'request_scoped' },
    {
      status: [502, 503],
      message: says('no available model provider', 'no instances available'),
      class: 'overloaded',
      scope: 'model',
    },
  ],
  windows,
};

/** `X-RateLimit-*` of the answer, or of its body, where OpenRouter repeats them. */
function windows(reading: Reading): Snapshot[] {
  const inside = reading.body.values.map((value) => at(value, 'error', 'metadata', 'headers')).find(isObject);
  const headers = new Map([...headersOf(inside), ...reading.headers]);
  const counted = countedBy({ ...reading, headers }, 'x-ratelimit', ['x-ratelimit-limit', 'x-ratelimit-remaining']);
  const snapshot = snapshotOf(reading, {
    name: perDay(reading) ? 'free-models-per-day' : 'requests',
    lengthMs: perDay(reading) ? DAY : null,
    ...counted,
    exhausted: counted.exhausted || perDay(reading),
    reset: { field: 'x-ratelimit-reset', at: headers.get('x-ratelimit-reset') },
  });
  return snapshot === null ? [] : [snapshot];
}
