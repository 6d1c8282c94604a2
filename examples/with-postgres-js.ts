// With postgres.js: the application's own INSERT and Recoup's charge commit together, or not at all.
import postgres from 'postgres';
import type { Recoup } from 'recoup';
import { forPostgresJs } from 'recoup/adapters';
import { type Order, openShop, run, showOrders } from './support.ts';

// docs: with-postgres-js
async function placeOrder(sql: postgres.Sql, recoup: Recoup, order: Order) {
  const charged = await sql.begin(async (tx) => {
    await tx`insert into example_orders values (${order.id}, ${order.customer}) on conflict do nothing`;
    return recoup.using(forPostgresJs(tx)).jobs.submit({
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
  const sql = postgres(url);
  try {
    return await showOrders(shop, (order) => placeOrder(sql, shop.recoup, order));
  } finally {
    await sql.end();
    await shop.close();
  }
}

await run(import.meta, main);
