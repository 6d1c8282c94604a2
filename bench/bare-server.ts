// A bare HTTP handler: Fastify, and one insert of a job and its entry through the library's batching. What HTTP and rows cost without Recoup.
import Fastify from 'fastify';
import { BatchingRunner } from '../packages/recoup/src/db/batch.ts';
import { Pools } from '../packages/recoup/src/db/pool.ts';
import { answerEach, statement } from '../packages/recoup/src/db/statement.ts';
import { checkOptions } from '../packages/recoup/src/options.ts';
import { type FloorTables, TABLES } from './floors.ts';

const columns = {
  wallet_id: 'text',
  id: 'text',
  seq: 'bigint',
  queue: 'text',
  price: 'bigint',
  payload: 'jsonb',
} as const;

const insert = (schema: FloorTables) =>
  statement<typeof columns, { ord: number; outcome: string }>(
    'bench.insert',
    columns,
    () => `jobs as (
  insert into ${schema}.jobs (wallet_id, id, queue, state, price, max_failures, priority, attempt, not_before, submitted_at, payload)
  select wallet_id, id, queue, 'queued', price, 5, 5, 0, now(), now(), payload from input),
entries as (
  insert into ${schema}.entries (wallet_id, seq, type, amount, balance, job_id, created_at)
  select wallet_id, seq, 'charge', -price, -price, id, now() from input)
${answerEach('input', `'charged'`, {})}`,
    { atOnce: 3 },
  );

const [url, tables = 'same'] = process.argv.slice(2);
const pools = new Pools(checkOptions({ connection: url! }).pool);
const client = await pools.connect();
await client.query(TABLES[tables as FloorTables]);
client.release();
const batches = new BatchingRunner(pools, () => {});
const insertJob = insert(tables as FloorTables);
let seq = 0;

const app = Fastify();
const body = {
  type: 'object',
  properties: { queue: { type: 'string' }, price: { type: 'integer' }, payload: {} },
  required: ['queue', 'price'],
};
app.put('/v1/wallets/:wallet/jobs/:job', { schema: { body } }, async (request, reply) => {
  const { wallet, job } = request.params as { wallet: string; job: string };
  const { outcome } = await batches.call(insertJob, {
    ...(request.body as object),
    wallet_id: wallet,
    id: job,
    seq: ++seq,
  });
  reply.code(201);
  return { outcome, job: { wallet, id: job } };
});
process.on('SIGTERM', () => process.exit(0));
console.log(await app.listen({ host: '127.0.0.1', port: 0 }));
