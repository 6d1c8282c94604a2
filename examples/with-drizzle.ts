// With Drizzle: the application's own insert and Recoup's charge commit together, or not at all.
import { sql } from 'drizzle-orm';
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import { pgTable, text } from 'drizzle-orm/pg-core';
import pg from 'pg';
import type { Recoup } from 'recoup';
import { forDrizzle } from 'recoup/adapters';
import { type Order, openShop, run, showOrders } from './support.ts';

const orders = pgTable('example_orders', { id: text().primaryKey(), customer: text().notNull() });

// docs: with-drizzle
async function placeOrder(db: NodePgDatabase, recoup: Recoup, order: Order) {
  const charged = await db.transaction(async (tx) => {
    await tx.insert(orders).values({ id: order.id, customer: order.customer }).onConflictDoNothing();
    return recoup.using(forDrizzle(tx, sql)).jobs.submit({
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
  const pool = new pg.Pool({ connectionString: url });
  const db = drizzle(pool);
  try {
    return await showOrders(shop, (order) => placeOrder(db, shop.recoup, order));
  } finally {
    await pool.end();
    await shop.close();
  }
}

await run(import.meta, main);
