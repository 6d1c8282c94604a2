// With pg: the application's own INSERT and Recoup's charge commit together, or not at all.
import pg from 'pg';
import { type Recoup, TransactionConflict } from 'recoup';
import { type Order, openShop, run, showOrders } from './support.ts';

// docs: with-pg
async function placeOrder(pool: pg.Pool, recoup: Recoup, order: Order) {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query('insert into example_orders values ($1, $2) on conflict do nothing', [order.id, order.customer]);
    const charged = await recoup.using(client).jobs.submit({
      wallet: order.customer,
      job: order.id,
      queue: 'video',
      price: order.price,
    });
    await client.query('commit');
    recoup.wake('video');
    return charged;
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}
// end

// docs: run-again
/** Runs a whole transaction again when it lost a race; everything else is thrown on. */
async function again<T>(transaction: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction();
    } catch (error) {
      // SERIALIZABLE may find the conflict only at COMMIT: then the driver says so, with 40001.
      const lost = error instanceof TransactionConflict || (error as { code?: string }).code === '40001';
      if (!lost || attempt === 5) throw error;
    }
  }
}
// end

export async function main(url: string) {
  const shop = await openShop(url);
  const pool = new pg.Pool({ connectionString: url });
  try {
    return await showOrders(shop, (order) => again(() => placeOrder(pool, shop.recoup, order)));
  } finally {
    await pool.end();
    await shop.close();
  }
}

await run(import.meta, main);
