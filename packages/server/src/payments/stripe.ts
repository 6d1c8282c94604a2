// Events of Stripe: proved by its own package, and what they say of a payment in our words.
import { Refusal, type TellPayment } from 'recoup';
import { header } from '../webhooks/payload.ts';
import type { Hook } from '../webhooks/provider.ts';

type Json = Record<string, unknown>;
const object = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {});
const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
const positive = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : undefined;
/** An id, or the id of what stands expanded in its place. */
const idOf = (value: unknown): string | undefined => text(value) ?? text(object(value).id);

/** Verifies the signature, and that it is not older than five minutes; gives the event. Throws `bad_signature`. */
export async function verifyStripe(hook: Hook, secrets: readonly string[]): Promise<Json> {
  // Loaded with the first event: nobody else has to carry it.
  const { default: Stripe } = await import('stripe');
  for (const secret of secrets) {
    try {
      return Stripe.webhooks.constructEvent(
        hook.body,
        header(hook.headers, 'stripe-signature'),
        secret,
      ) as unknown as Json;
    } catch {
      // Another one may fit.
    }
  }
  throw new Refusal('bad_signature');
}

/** What an event says of a payment; null: nothing that moves credit. */
export function readStripe(event: Json): TellPayment | null {
  const of = object(object(event.data).object);
  switch (event.type) {
    case 'checkout.session.completed':
    case 'checkout.session.async_payment_succeeded':
      return ofCheckout(of);
    case 'invoice.paid':
    case 'invoice.payment_succeeded':
      return ofInvoice(of);
    case 'invoice_payment.paid':
      return link(of.invoice, object(of.payment).payment_intent);
    case 'charge.refunded':
      return ofCharge(of);
    case 'charge.dispute.created':
    case 'charge.dispute.updated':
    case 'charge.dispute.closed':
    case 'charge.dispute.funds_withdrawn':
    case 'charge.dispute.funds_reinstated':
      return ofDispute(of);
    default:
      return null;
  }
}

const named = (id: string) => `stripe:${id}`;
const withAmount = (amount: number | undefined) => (amount === undefined ? {} : { amount });

/** Metadata `recoup_wallet` (or the client reference) and `recoup_credits` say what was bought; a subscription's checkout is told by its invoice. */
function ofCheckout(session: Json): TellPayment | null {
  const metadata = object(session.metadata);
  const wallet = text(metadata.recoup_wallet) ?? text(session.client_reference_id);
  const credits = Number(metadata.recoup_credits);
  const id = idOf(session.payment_intent) ?? idOf(session.id);
  if (session.mode !== 'payment' || wallet === undefined || !(credits > 0) || id === undefined) return null;
  return {
    payment: named(id),
    purchase: { wallet, credits },
    ...withAmount(positive(session.amount_total)),
    paid: session.payment_status === 'paid' || session.payment_status === 'no_payment_required',
  };
}

/** Metadata `recoup_subscription` of the subscription says which one; Stripe copies it to each of its invoices. */
function ofInvoice(invoice: Json): TellPayment | null {
  const lines = object(invoice.lines).data;
  const metadata = [
    object(object(invoice.parent).subscription_details).metadata,
    object(invoice.subscription_details).metadata,
    ...(Array.isArray(lines) ? lines.map((line) => object(line).metadata) : []),
    invoice.metadata,
  ];
  const subscription = metadata.map((one) => text(object(one).recoup_subscription)).find((one) => one !== undefined);
  const id = idOf(invoice.id);
  if (subscription === undefined || id === undefined) return null;
  const payments = object(invoice.payments).data;
  const [first] = Array.isArray(payments) ? payments : [];
  const intent = idOf(invoice.payment_intent) ?? idOf(object(object(first).payment).payment_intent);
  return {
    payment: named(id),
    ...(intent !== undefined && { also: named(intent) }),
    subscription,
    ...withAmount(positive(invoice.amount_paid)),
    paid: true,
  };
}

/** Which charge paid an invoice: refunds and disputes name the charge alone. */
function link(invoice: unknown, intent: unknown): TellPayment | null {
  const [payment, also] = [idOf(invoice), idOf(intent)];
  return payment === undefined || also === undefined ? null : { payment: named(payment), also: named(also) };
}

function ofCharge(charge: Json): TellPayment | null {
  const id = idOf(charge.payment_intent) ?? idOf(charge.id);
  const refunded = positive(charge.amount_refunded);
  if (id === undefined || refunded === undefined) return null;
  return { payment: named(id), refunded, ...withAmount(positive(charge.amount)) };
}

/** An inquiry (`warning_…`) takes no money; what the bank or the customer withdrew is as good as won. */
const stateOf = (status: unknown): 'open' | 'won' | 'lost' | null => {
  if (status === 'won' || status === 'warning_closed' || status === 'prevented') return 'won';
  if (status === 'lost') return 'lost';
  return status === 'needs_response' || status === 'under_review' ? 'open' : null;
};

function ofDispute(dispute: Json): TellPayment | null {
  const id = idOf(dispute.id);
  const payment = idOf(dispute.payment_intent) ?? idOf(dispute.charge);
  const amount = positive(dispute.amount);
  const state = stateOf(dispute.status);
  if (id === undefined || payment === undefined || amount === undefined || state === null) return null;
  return { payment: named(payment), dispute: { id, amount, state } };
}
