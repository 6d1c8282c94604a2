// A bare HTTP handler: Fastify, one insert of a job and its entry, batched as the library batches. What HTTP itself costs.
import Fastify from 'fastify';
import pg from 'pg';
import { BARE_TABLES } from './floors.ts';

const INSERT = `
with i as materialized (
  select * from jsonb_to_recordset($1::text::jsonb) as i(wallet_id text, id text, seq bigint, queue text, price bigint, payload jsonb)),
j as (insert into bare.jobs (wallet_id, id, queue, state, price, max_failures, priority, attempt, not_before, submitted_at, payload)
      select wallet_id, id, queue, 'queued', price, 5, 5, 0, now(), now(), payload from i)
insert into bare.entries (wallet_id, seq, type, amount, balance, job_id, created_at)
select wallet_id, seq, 'charge', -price, -price, id, now() from i`;

interface Waiting {
  row: object;
  done: () => void;
  failed: (error: unknown) => void;
}

const [url] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: url!, max: 3 });
await pool.query(BARE_TABLES);
const waiting: Waiting[] = [];
let running = 0;
let seq = 0;

async function pump(): Promise<void> {
  if (running === 3) return;
  running += 1;
  while (waiting.length > 0) {
    const batch = waiting.splice(0, 500);
    try {
      await pool.query({ name: 'insert', text: INSERT, values: [JSON.stringify(batch.map(({ row }) => row))] });
      for (const { done } of batch) done();
    } catch (error) {
      for (const { failed } of batch) failed(error);
    }
  }
  running -= 1;
}

const app = Fastify();
const body = {
  type: 'object',
  properties: { queue: { type: 'string' }, price: { type: 'integer' }, payload: {} },
  required: ['queue', 'price'],
};
app.put('/v1/wallets/:wallet/jobs/:job', { schema: { body } }, async (request, reply) => {
  const { wallet, job } = request.params as { wallet: string; job: string };
  const row = { ...(request.body as object), wallet_id: wallet, id: job, seq: ++seq };
  await new Promise<void>((done, failed) => {
    waiting.push({ row, done, failed });
    if (waiting.length === 1) queueMicrotask(() => void pump());
  });
  reply.code(201);
  return { outcome: 'charged', job: { wallet, id: job } };
});
console.log(await app.listen({ host: '127.0.0.1', port: 0 }));
