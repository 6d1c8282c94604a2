// The shortest embed: twelve lines that hold a wallet, a worker, and an order that is stored and charged as one.

// docs: twelve-lines
import { open } from 'recoup';
import { createTable, run } from './support.ts';

export async function main(url: string) {
  const recoup = await open({ connection: url, migrate: true });
  await recoup.wallets.open({ wallet: 'ada', customer: 'ada' });
  await recoup.wallets.grant({ wallet: 'ada', key: 'invoice-1', amount: 100 });
  recoup.work('drawings', async (work) => ({ drawn: work.payload }));
  await recoup.transaction(async ({ jobs }, client) => {
    await client.query('insert into example_orders values ($1, $2) on conflict do nothing', ['order-1', 'ada']);
    await jobs.submit({ wallet: 'ada', job: 'order-1', queue: 'drawings', price: 5, payload: 'a cat' });
  });
  return recoup;
}
// end

await run(import.meta, async (url) => {
  const recoup = await open({ connection: url, migrate: true });
  await recoup.transaction((_inside, client) => client.query(createTable));
  await recoup.close();
  const embedded = await main(url);
  const { job } = await embedded.jobs.get({ wallet: 'ada', job: 'order-1' });
  const { booked } = await embedded.wallets.balance('ada');
  await embedded.close();
  return { job: job.state, booked };
});
