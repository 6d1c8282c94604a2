// Signatures after the Standard Webhooks specification: webhook-id, webhook-timestamp, webhook-signature (v1, HMAC-SHA256).
import { Refusal } from 'recoup';
import { Webhook } from 'standardwebhooks';
import { header } from './payload.ts';
import type { Hook } from './provider.ts';

/** Verifies the signature and that it is not older or newer than five minutes. */
export function verifyStandard(hook: Hook, secrets: readonly string[]): void {
  const headers = Object.fromEntries(
    ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, header(hook.headers, name)]),
  );
  // Digits alone: a reader of numbers would take what stands behind them, such as a second header, for nothing.
  if (!/^\d{1,12}$/.test(headers['webhook-timestamp'] ?? '')) throw new Refusal('bad_signature');
  for (const secret of secrets) {
    try {
      new Webhook(secret).verify(hook.body, headers, { jsonParse: false });
      return;
    } catch {
      // Another one may fit.
    }
  }
  throw new Refusal('bad_signature');
}

/** Throws where it is not base64, with or without `whsec_` before it. */
export function checkStandardSecret(secret: string): void {
  new Webhook(secret);
}
