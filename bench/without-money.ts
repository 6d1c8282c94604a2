// The same submit without entries and balances, to see what the money costs.
import pg from 'pg';
import { type Shape, walletOf } from './lives.ts';

const SUBMIT = `
with input as materialized (
  select * from jsonb_to_recordset($1::text::jsonb) as i(wallet_id text, id text, queue text, price bigint, payload jsonb)),
won as (
  insert into recoup.jobs (wallet_id, id, queue, state, price, max_failures, not_before, submitted_at, payload)
  select i.wallet_id, i.id, i.queue, 'queued', i.price, 5, recoup.clock(), recoup.clock(), i.payload from input i order by 1, 2
  on conflict (wallet_id, id) do nothing returning wallet_id, id)
select json_agg(json_build_object('id', id))::text as answer from won`;

/** Inserts jobs in batches of 500 like a queue that keeps no money: no wallet is read, none is written. */
export async function submitWithoutMoney(url: string, shape: Shape): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (let start = 0; start < shape.jobs; start += 500) {
    const rows = Array.from({ length: Math.min(500, shape.jobs - start) }, (_, i) => ({
      wallet_id: walletOf(shape, start + i),
      id: `${shape.queue}-${start + i}`,
      queue: shape.queue,
      price: 40,
      payload: { prompt: 'a lighthouse at dusk', seconds: 5, index: start + i },
    }));
    const { rows: answers } = await client.query({ name: 'submit', text: SUBMIT, values: [JSON.stringify(rows)] });
    JSON.parse(answers[0].answer);
  }
  await client.end();
}
