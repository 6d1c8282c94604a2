// graphile-worker as its page on performance advises: a local queue of 500, ends written in batches, 24 jobs at once.
import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import pg from 'pg';
import { serve } from './harness.mjs';

const TASK = 'bench';
const CONCURRENCY = 24;
const quiet = new Logger(() => () => {});

serve(async (url) => {
  const pool = new pg.Pool({ connectionString: url, max: CONCURRENCY + 1 });
  pool.on('error', (error) => console.error(error));
  const utils = await makeWorkerUtils({ pgPool: pool, logger: quiet });
  await utils.migrate();
  const start = (handler) =>
    run({
      preset: {
        worker: {
          concurrentJobs: CONCURRENCY,
          localQueue: { size: 500 },
          completeJobBatchDelay: 0,
          failJobBatchDelay: 0,
        },
      },
      pgPool: pool,
      logger: quiet,
      noHandleSignals: true,
      taskList: { [TASK]: handler },
    });
  return {
    add: (payload) => utils.addJob(TASK, payload),
    batch: {
      size: 1000,
      atOnce: 2,
      add: (payloads) => utils.addJobs(payloads.map((payload) => ({ identifier: TASK, payload }))),
    },
    async drain(jobs) {
      let left = jobs;
      let first;
      let done;
      const all = new Promise((resolve) => {
        done = resolve;
      });
      const runner = await start(() => {
        first ??= performance.now();
        if (--left === 0) done();
      });
      await all;
      // Waits for the ends that are still to be written.
      await runner.stop();
      return performance.now() - first;
    },
    async left() {
      const { rows } = await pool.query('select count(*)::int as n from graphile_worker.jobs');
      return rows[0].n;
    },
    async work(onStart) {
      const runner = await start(onStart);
      return { stop: () => runner.stop() };
    },
    async close() {
      await utils.release();
      await pool.end();
    },
  };
});
