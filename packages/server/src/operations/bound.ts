// What a key that is bound to a customer may ask for: what is of that customer.
import { Refusal } from 'recoup';
import type { Context, Operation } from './operation.ts';

const MESSAGE = 'A key that is bound to a customer sees the wallets of that customer only.';
const forbidden = ({ name }: Pick<Operation, 'name'>) => new Refusal('forbidden', MESSAGE, { operation: name });

/** Refuses `forbidden` what is neither about one wallet nor about one customer. */
export function checkBound(operation: Pick<Operation, 'name' | 'params' | 'ofCustomer'>): void {
  if (!operation.ofCustomer && !('wallet' in operation.params.properties)) throw forbidden(operation);
}

/** Holds the input to the customer. A wallet of another one is refused as if it were not there: the key must not learn that it is. */
export async function bind(
  context: Context,
  operation: Operation,
  input: Record<string, unknown>,
  customer: string,
): Promise<void> {
  if (operation.ofCustomer) {
    input.customer ??= customer;
    if (input.customer !== customer) throw forbidden(operation);
    return;
  }
  const wallet = String(input.wallet);
  const balance = await context.recoup.wallets.balance(wallet);
  if (balance.customer !== customer) throw new Refusal('no_wallet', undefined, { wallet });
}
