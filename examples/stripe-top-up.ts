// A Stripe top-up: the credits are granted once for each payment, whatever events come, how often and in which order.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Recoup, Refusal } from 'recoup';
import { openShop, run } from './support.ts';

/** What is used of Stripe's events. `metadata` is yours: set it on the session and on its `payment_intent_data`. */
interface StripeEvent {
  id: string;
  type: string;
  data: { object: StripeObject };
}
interface StripeObject {
  id: string;
  payment_intent?: string;
  payment_status?: string;
  metadata?: { wallet?: string; credits?: string };
}

/** `stripe.webhooks` of Stripe's own library has this. */
export interface StripeWebhooks {
  constructEvent(body: Buffer, signature: string, secret: string): StripeEvent;
}

// docs: stripe
/** The route of the webhook: the raw body, as it came. 200: heard; anything else, and Stripe sends it again. */
async function take(recoup: Recoup, webhooks: StripeWebhooks, secret: string, body: Buffer, signature: string) {
  let event: StripeEvent;
  try {
    event = webhooks.constructEvent(body, signature, secret);
  } catch {
    return 400;
  }
  const { object } = event.data;
  const { wallet, credits } = object.metadata ?? {};
  if (!wallet || !credits) return 200;
  try {
    // Two events tell of one payment. The key is the payment's, so the second one is a `duplicate`.
    if (event.type === 'checkout.session.completed' && object.payment_status === 'paid' && object.payment_intent) {
      await recoup.wallets.grant({ wallet, key: object.payment_intent, amount: Number(credits), reason: 'stripe' });
    } else if (event.type === 'payment_intent.succeeded') {
      await recoup.wallets.grant({ wallet, key: object.id, amount: Number(credits), reason: 'stripe' });
    } else if (event.type === 'refund.created') {
      // May come first, and may take the wallet into debt until the payment is heard of.
      await recoup.wallets.adjust({ wallet, key: object.id, amount: -Number(credits), reason: 'stripe refund' });
    }
    return 200;
  } catch (error) {
    // The same payment with another number of credits, or no such wallet: the repeats keep it in front of a person.
    if (error instanceof Refusal && !error.retryable) console.error(event.id, error.code, error.details);
    return 500;
  }
}
// end

/** Stands in for Stripe's library, with its signature: `t=…,v1=…`, an HMAC over `t.body`. */
const standIn: StripeWebhooks = {
  constructEvent(body, header, secret) {
    const parts = new Map(header.split(',').map((part) => part.split('=') as [string, string]));
    const given = Buffer.from(parts.get('v1') ?? '', 'hex');
    const right = createHmac('sha256', secret)
      .update(`${parts.get('t')}.`)
      .update(body)
      .digest();
    const old = Math.abs(Date.now() / 1000 - Number(parts.get('t'))) > 300;
    if (old || given.length !== right.length || !timingSafeEqual(given, right)) throw new Error('bad signature');
    return JSON.parse(body.toString()) as StripeEvent;
  },
};

export async function main(url: string) {
  const shop = await openShop(url);
  const { recoup, customer: wallet } = shop;
  const secret = 'whsec_example';
  const sent: number[] = [];
  const send = async (type: string, object: StripeObject, as = secret) => {
    const body = Buffer.from(JSON.stringify({ id: `evt_${sent.length}`, type, data: { object } }));
    const t = Math.floor(Date.now() / 1000);
    const v1 = createHmac('sha256', as).update(`${t}.`).update(body).digest('hex');
    sent.push(await take(recoup, standIn, secret, body, `t=${t},v1=${v1}`));
  };
  const metadata = { wallet, credits: '500' };
  const session = { id: 'cs_1', payment_intent: 'pi_1', payment_status: 'paid', metadata };
  const refund = { id: 're_1', metadata: { wallet, credits: '200' } };
  const heard = console.error;
  const told: unknown[] = [];
  console.error = (...words) => void told.push(words[1]);
  try {
    await send('refund.created', refund);
    await send('checkout.session.completed', { ...session, payment_status: 'unpaid' });
    await send('payment_intent.succeeded', { id: 'pi_1', metadata });
    await send('checkout.session.completed', session);
    await send('payment_intent.succeeded', { id: 'pi_1', metadata });
    await send('refund.created', refund);
    await send('payment_intent.succeeded', { id: 'pi_2', metadata }, 'whsec_of_somebody');
    await send('payment_intent.succeeded', { id: 'pi_1', metadata: { wallet, credits: '900' } });
    const { entries } = await recoup.wallets.entries(wallet);
    return { sent, told, entries: entries.map(({ type, amount, key }) => `${type} ${amount} ${key}`) };
  } finally {
    console.error = heard;
    await shop.close();
  }
}

await run(import.meta, main);
