// BullMQ on PostgreSQL: its own backend there, finished jobs removed as its tuning tips say.
import { createPostgresBackend, Queue, runMigrations, Worker } from 'bullmq';
import pg from 'pg';
import { serve } from './harness.mjs';

const QUEUE = 'bench';
const CONCURRENCY = 16;

serve(async (url) => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await runMigrations(client);
  const connection = { connectionString: url, max: 16 };
  const queue = new Queue(QUEUE, { connection, defaultJobOptions: { removeOnComplete: true } }, createPostgresBackend);
  await queue.waitUntilReady();
  const start = async (handler, concurrency) => {
    const worker = new Worker(QUEUE, async (job) => handler(job), { connection, concurrency }, createPostgresBackend);
    worker.on('error', (error) => console.error(error));
    await worker.waitUntilReady();
    return worker;
  };
  return {
    add: (payload) => queue.add(QUEUE, payload),
    batch: {
      size: 1000,
      atOnce: 2,
      add: (payloads) => queue.addBulk(payloads.map((data) => ({ name: QUEUE, data }))),
    },
    async drain(jobs) {
      let left = jobs;
      let first;
      let done;
      let failed;
      const all = new Promise((resolve, reject) => {
        done = resolve;
        failed = reject;
      });
      const worker = await start(() => {
        first ??= performance.now();
      }, CONCURRENCY);
      worker.on('completed', () => {
        if (--left === 0) done();
      });
      worker.on('failed', (_job, error) => failed(error));
      await all;
      const ms = performance.now() - first;
      await worker.close();
      return ms;
    },
    async left() {
      const counts = await queue.getJobCounts('waiting', 'active', 'delayed', 'failed');
      return Object.values(counts).reduce((sum, n) => sum + n, 0);
    },
    async work(onStart) {
      const worker = await start(onStart, 1);
      return { stop: () => worker.close() };
    },
    async close() {
      await queue.close();
      await client.end();
    },
  };
});
