// Webhooks of fal: the end of a request, signed with ED25519 by a key of fal's published key set.
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { InvalidInput, Refusal } from 'recoup';
import { header, needText, reasonOf } from './payload.ts';
import type { Provider, Report } from './provider.ts';

const TOLERANCE_S = 300;

/** A public key as the key set writes it: `x`, 32 bytes in base64url. */
function publicKey(x: string): KeyObject {
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
}

/**
 * The keys are configured: nothing is fetched from fal's key set while a webhook waits, so that no network stands between a
 * finished job and its money. Take `x` of each key from it, and again when fal announces new ones.
 */
export const fal: Provider = {
  name: 'fal',
  signs: true,
  checkSecret: publicKey,
  verify({ headers, body }, keys) {
    const [requestId, userId, timestamp, signature] = ['request-id', 'user-id', 'timestamp', 'signature'].map((name) =>
      header(headers, `x-fal-webhook-${name}`),
    ) as [string, string, string, string];
    const age = Math.abs(Date.now() / 1000 - Number(timestamp));
    const wellFormed = /^\d{1,12}$/.test(timestamp) && /^[0-9a-f]{128}$/i.test(signature) && requestId !== '';
    if (wellFormed && age <= TOLERANCE_S) {
      const digest = createHash('sha256').update(body).digest('hex');
      const message = Buffer.from([requestId, userId, timestamp, digest].join('\n'));
      const bytes = Buffer.from(signature, 'hex');
      if (keys.some((key) => verify(null, message, publicKey(key), bytes))) return;
    }
    throw new Refusal('bad_signature');
  },
  read(payload): Report {
    const upstreamRef = needText(payload, 'request_id');
    if (payload.status === 'OK') {
      // The work was done, only its result did not fit into the webhook: it can be fetched by its id.
      const result = payload.payload ?? { payloadError: payload.payload_error ?? null };
      return { kind: 'succeeded', upstreamRef, result };
    }
    if (payload.status === 'ERROR') {
      return { kind: 'failed', upstreamRef, reason: reasonOf(payload.error, 'ERROR'), retryable: true };
    }
    throw new InvalidInput('status', 'must be OK or ERROR');
  },
};
