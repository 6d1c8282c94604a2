// Webhooks of RunPod: a job's status. They carry no signature: only a signed URL tells them from a forgery.
import { InvalidInput, Refusal } from 'recoup';
import { needText, reasonOf } from './payload.ts';
import type { Provider, Report } from './provider.ts';

export const runpod: Provider = {
  name: 'runpod',
  signs: false,
  checkSecret() {
    throw new Error('RunPod signs nothing');
  },
  verify() {
    throw new Refusal('bad_signature', 'RunPod signs nothing: give it a signed callback URL.');
  },
  read(payload): Report {
    const upstreamRef = needText(payload, 'id');
    switch (payload.status) {
      case 'COMPLETED':
        return { kind: 'succeeded', upstreamRef, result: payload.output ?? null };
      case 'FAILED':
      case 'TIMED_OUT': {
        const reason = reasonOf(payload.error ?? payload.output, String(payload.status));
        return { kind: 'failed', upstreamRef, reason, retryable: true };
      }
      case 'CANCELLED':
        return { kind: 'failed', upstreamRef, reason: 'CANCELLED', retryable: false };
      case 'IN_QUEUE':
      case 'IN_PROGRESS':
        return { kind: 'progress', upstreamRef };
      default:
        throw new InvalidInput('status', 'must be a status of a RunPod job');
    }
  },
};
