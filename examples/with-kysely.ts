// With Kysely: the application's own insert and Recoup's charge commit together, or not at all.
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { Recoup } from 'recoup';
import { forKysely } from 'recoup/adapters';
import { type Order, openShop, run, showOrders } from './support.ts';

interface Tables {
  example_orders: { id: string; customer: string };
}

// docs: with-kysely
async function placeOrder(db: Kysely<Tables>, recoup: Recoup, order: Order) {
  const charged = await db.transaction().execute(async (trx) => {
    const row = { id: order.id, customer: order.customer };
    await trx
      .insertInto('example_orders')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    return recoup.using(forKysely(trx)).jobs.submit({
      wallet: order.customer,
      job: order.id,
      queue: 'video',
      price: order.price,
    });
  });
  recoup.wake('video');
  return charged;
}
// end

export async function main(url: string) {
  const shop = await openShop(url);
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url }) }) });
  try {
    return await showOrders(shop, (order) => placeOrder(db, shop.recoup, order));
  } finally {
    await db.destroy();
    await shop.close();
  }
}

await run(import.meta, main);
