// Webhooks of providers of payments: each proves itself, and what it says is told of the payment.
import { InvalidInput, type Recoup, Refusal, type TellPayment } from 'recoup';
import type { Hook } from '../webhooks/provider.ts';
import { checkStandardSecret, verifyStandard } from '../webhooks/standard.ts';
import { readStripe, verifyStripe } from './stripe.ts';

/** What verifies them: signing secrets of Stripe's endpoint (`whsec_…`), and of senders of your own. Several, for rotation. */
export interface PaymentSecrets {
  stripe?: readonly string[];
  generic?: readonly string[];
}

export const PAYMENT_PROVIDERS = ['stripe', 'generic'] as const;
export type PaymentProvider = (typeof PAYMENT_PROVIDERS)[number];

export interface TakenPayment {
  /** Of payment.tell; `ignored`: it says nothing that moves credit; `open`: paid, and a person has to look (see `code`). */
  outcome: string;
  payment: string | null;
  /** Why it granted nothing. */
  code: string | null;
}

export class PaymentHooks {
  readonly #recoup: Recoup;
  readonly #secrets: PaymentSecrets;

  constructor(recoup: Recoup, secrets: PaymentSecrets = {}) {
    this.#recoup = recoup;
    this.#secrets = secrets;
    for (const secret of secrets.generic ?? []) checkStandardSecret(secret);
  }

  /** Takes one: in any order, any number of times. */
  async take(provider: PaymentProvider, hook: Hook): Promise<TakenPayment> {
    const told = await this.#read(provider, hook);
    if (told === null) return { outcome: 'ignored', payment: null, code: null };
    try {
      const { outcome } = await this.#recoup.payments.tell(told);
      return { outcome, payment: told.payment, code: null };
    } catch (error) {
      // Kept with its payment: a sender that repeats it would only hear it again.
      if (error instanceof Refusal && /^(already_subscribed|subscription_ended)$/.test(error.code))
        return { outcome: 'open', payment: told.payment, code: error.code };
      throw error;
    }
  }

  async #read(provider: PaymentProvider, hook: Hook): Promise<TellPayment | null> {
    const secrets = this.#secrets[provider] ?? [];
    if (secrets.length === 0) throw new Refusal('bad_signature', `No secret of ${provider} is set here.`);
    if (provider === 'stripe') return readStripe(await verifyStripe(hook, secrets));
    verifyStandard(hook, secrets);
    return ofOwn(JSON.parse(hook.body.toString()));
  }
}

/** A payload of your own says what `payments.tell` takes. */
function ofOwn(payload: unknown): TellPayment {
  const told = payload as TellPayment;
  const { purchase } = told;
  if (typeof purchase !== 'object' || purchase === null || typeof purchase.expiresAt !== 'string') return told;
  const expiresAt = new Date(purchase.expiresAt);
  if (Number.isNaN(expiresAt.getTime())) throw new InvalidInput('purchase.expiresAt', 'must be an instant of RFC 3339');
  return { ...told, purchase: { ...purchase, expiresAt } };
}
