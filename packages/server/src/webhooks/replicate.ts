// Webhooks of Replicate: a prediction, signed after Standard Webhooks with the account's signing secret (whsec_…).
import { InvalidInput } from 'recoup';
import { needText, reasonOf } from './payload.ts';
import type { Provider, Report } from './provider.ts';
import { checkStandardSecret, verifyStandard } from './standard.ts';

export const replicate: Provider = {
  name: 'replicate',
  signs: true,
  checkSecret: checkStandardSecret,
  verify: verifyStandard,
  read(payload): Report {
    const upstreamRef = needText(payload, 'id');
    switch (payload.status) {
      case 'succeeded':
        return { kind: 'succeeded', upstreamRef, result: payload.output ?? null };
      case 'failed':
        return { kind: 'failed', upstreamRef, reason: reasonOf(payload.error, 'failed'), retryable: true };
      // Somebody canceled the prediction there, or its own deadline did: run again only if a person says so.
      case 'canceled':
      case 'aborted':
        return {
          kind: 'failed',
          upstreamRef,
          reason: reasonOf(payload.error, String(payload.status)),
          retryable: false,
        };
      case 'starting':
      case 'processing':
        return { kind: 'progress', upstreamRef };
      default:
        throw new InvalidInput('status', 'must be a status of a Replicate prediction');
    }
  },
};
