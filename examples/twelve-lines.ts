// The shortest embed: twelve lines that hold a wallet, a worker, and an order that is stored and charged as one.

// docs: twelve-lines
import { open } from 'recoup';

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

// From here on only what runs it from the command line.
import { setTimeout as sleep } from 'node:timers/promises';
import { createTable, run } from './support.ts';

/** Makes the table, embeds, waits for the worker. */
export async function program(url: string) {
  const first = await open({ connection: url, migrate: true });
  await first.transaction((_inside, client) => client.query(createTable));
  await first.close();
  const recoup = await main(url);
  const key = { wallet: 'ada', job: 'order-1' };
  let found = await recoup.jobs.get(key);
  while (found.job.state !== 'succeeded') {
    await sleep(20);
    found = await recoup.jobs.get(key);
  }
  const { booked } = await recoup.wallets.balance('ada');
  await recoup.close();
  return { state: found.job.state, result: found.result, booked };
}

await run(import.meta, program);
