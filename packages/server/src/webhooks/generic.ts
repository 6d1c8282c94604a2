// Webhooks of a sender of your own: a signed body in our own words.
import { InvalidInput } from 'recoup';
import { needText, reasonOf } from './payload.ts';
import type { Provider, Report } from './provider.ts';
import { checkStandardSecret, verifyStandard } from './standard.ts';

const FIELDS = ['upstreamRef', 'status', 'result', 'finalPrice', 'reason', 'retryable', 'retryAfterMs'];

/** `{ "upstreamRef", "status": "succeeded" | "failed" | "progress", "result", "finalPrice", "reason", "retryable", "retryAfterMs" }`. */
export const generic: Provider = {
  name: 'generic',
  signs: true,
  checkSecret: checkStandardSecret,
  verify: verifyStandard,
  read(payload, named): Report {
    // The sender is one of your own: a misspelt price must not be passed over.
    const unknown = Object.keys(payload).find((name) => !FIELDS.includes(name));
    if (unknown !== undefined) throw new InvalidInput(unknown, `is not a field of it; known: ${FIELDS.join(', ')}`);
    const ref = named && payload.upstreamRef === undefined ? {} : { upstreamRef: needText(payload, 'upstreamRef') };
    switch (payload.status) {
      case 'succeeded':
        return {
          kind: 'succeeded',
          ...ref,
          ...(payload.result === undefined ? {} : { result: payload.result }),
          // Checked where it is booked.
          ...(payload.finalPrice === undefined ? {} : { finalPrice: payload.finalPrice as number }),
        };
      case 'failed':
        return {
          kind: 'failed',
          ...ref,
          reason: reasonOf(payload.reason, 'failed'),
          retryable: payload.retryable !== false,
          ...(payload.retryAfterMs === undefined ? {} : { retryAfterMs: payload.retryAfterMs as number }),
        };
      case 'progress':
        return { kind: 'progress', ...ref };
      default:
        throw new InvalidInput('status', 'must be one of succeeded, failed, progress');
    }
  },
};
