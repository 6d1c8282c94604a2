// What the examples share: a wallet with 100 credits and a table of orders, and how they run from the command line.
import { randomUUID } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { open, type Recoup } from 'recoup';

export interface Order {
  id: string;
  customer: string;
  price: number;
}

export interface Shop {
  recoup: Recoup;
  /** A customer of this run's own; the wallet has the same id. */
  customer: string;
  order(price: number): Order;
  /** How many orders the customer has. */
  orders(): Promise<number>;
  close(): Promise<void>;
}

export const createTable = `
  create table if not exists example_orders (id text primary key, customer text not null)`;

/** Opens Recoup on the database (migrating it), with a new customer who has 100 credits. */
export async function openShop(url: string): Promise<Shop> {
  const recoup = await open({ connection: url, migrate: true });
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  await pool.query(createTable);
  const customer = `customer-${randomUUID()}`;
  await recoup.wallets.open({ wallet: customer, customer });
  await recoup.wallets.grant({ wallet: customer, key: 'welcome', amount: 100 });
  return {
    recoup,
    customer,
    order: (price) => ({ id: `order-${randomUUID()}`, customer, price }),
    orders: async () => {
      const { rows } = await pool.query('select id from example_orders where customer = $1', [customer]);
      return rows.length;
    },
    close: async () => {
      await pool.end();
      await recoup.close();
    },
  };
}

/** What an example of a client shows: two orders, of which the second costs more than is left, and the first once more. */
export async function showOrders(shop: Shop, place: (order: Order) => Promise<{ outcome: string }>) {
  const affordable = shop.order(30);
  const first = await place(affordable);
  const refused = await place(shop.order(200)).then(
    () => 'charged',
    (error: { code?: string }) => error.code ?? String(error),
  );
  const again = await place(affordable);
  const { booked } = await shop.recoup.wallets.balance(shop.customer);
  return { first: first.outcome, refused, again: again.outcome, orders: await shop.orders(), booked };
}

const DATABASE = {
  name: 'DATABASE_URL',
  what: 'the database that the example may write to',
  like: 'postgres://localhost/scratch',
};

/** Runs `main` with the URL that the environment names where the file was started itself, and prints what it gives back. */
export async function run(meta: ImportMeta, main: (url: string) => Promise<unknown>, needs = DATABASE): Promise<void> {
  const started = process.argv[1];
  if (started === undefined || realpathSync(started) !== fileURLToPath(meta.url)) return;
  const url = process.env[needs.name];
  if (!url) {
    console.error(`${needs.name} is not set. It names ${needs.what}, for instance:`);
    console.error(`  ${needs.name}=${needs.like} npx tsx ${relative('', started)}`);
    process.exitCode = 2;
    return;
  }
  console.log(await main(url));
}
