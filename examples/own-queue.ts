// A queue of your own (`queue: null`): Recoup charges, refunds and reclaims; pg-boss delivers, in the same transaction.
import pg from 'pg';
import PgBoss from 'pg-boss';
import type { Recoup } from 'recoup';
import { type Order, openShop, run } from './support.ts';

// docs: own-queue-submit
/** The charge and the message of pg-boss commit together: nobody pays for a message that was never sent. */
async function placeOrder(pool: pg.Pool, recoup: Recoup, boss: PgBoss, order: Order) {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const key = { wallet: order.customer, job: order.id };
    // Not heard of within an hour, it counts as failed and is refunded, whatever became of the message.
    await recoup.using(client).jobs.submit({ ...key, queue: null, price: order.price, deadlineMs: 3_600_000 });
    await boss.send('renders', key, { db: { executeSql: (text, values) => client.query(text, values) } });
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}
// end

// docs: own-queue-work
/** What pg-boss runs: each delivery reports what became of it, in any order and any number of times. */
async function deliver(recoup: Recoup, key: { wallet: string; job: string }, render: () => Promise<string>) {
  const file = await render().catch(async (error: unknown) => {
    await recoup.jobs.fail({ ...key, reason: String(error) });
    // Thrown on: pg-boss delivers again.
    throw error;
  });
  // `succeeded`, or `reclaimed` where an earlier delivery had been refunded, or `duplicate`: never charged twice.
  return recoup.jobs.succeed({ ...key, result: { file } });
}
// end

// With BullMQ (or any queue outside of this database) the message cannot commit with the charge. Add it after the commit,
// `queue.add('render', key, { jobId: order.id })`, and again for jobs that were charged and never added: the charge is
// found by its id, a second add of one jobId is ignored, and the deadline refunds what was never delivered.

export async function main(url: string) {
  const shop = await openShop(url);
  const { recoup, customer } = shop;
  const pool = new pg.Pool({ connectionString: url });
  const boss = new PgBoss({ connectionString: url });
  boss.on('error', (error) => console.error(error.message));
  await boss.start();
  await boss.createQueue('renders');
  try {
    const told: string[] = [];
    let deliveries = 0;
    const finished = new Promise<void>((done) => {
      void boss.work<{ wallet: string; job: string }>('renders', { pollingIntervalSeconds: 0.5 }, async ([message]) => {
        deliveries += 1;
        const render = async () => {
          // The first delivery's answer is lost; the second one's is not.
          if (deliveries === 1) throw new Error('no answer');
          return 'cat.mp4';
        };
        const { outcome } = await deliver(recoup, message!.data, render);
        told.push(outcome);
        done();
      });
    });
    const order = shop.order(30);
    await placeOrder(pool, recoup, boss, order);
    const charged = (await recoup.wallets.balance(customer)).booked;
    const refused = await placeOrder(pool, recoup, boss, shop.order(200)).then(
      () => 'charged',
      (error: { code?: string }) => error.code,
    );
    await finished;
    const entries = (await recoup.wallets.entriesOf(customer, order.id)).map((entry) => entry.type);
    const { booked } = await recoup.wallets.balance(customer);
    return { charged, refused, told, deliveries, entries, booked };
  } finally {
    await boss.stop();
    await pool.end();
    await shop.close();
  }
}

await run(import.meta, main);
