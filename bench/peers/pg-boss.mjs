// pg-boss, whichever version: insert() and a loop of fetch(batch) and complete(ids), because work() waits for its polling interval.
import pg from 'pg';
import { serve } from './harness.mjs';

const QUEUE = 'bench';
/** Notifying costs each send a lock of the whole server, so that only the queue whose pick-up is timed does it. */
const WOKEN = 'woken';
const BATCH = 1000;
const CONSUMERS = 2;

/** `version` says what differs: how insert is called, how to fetch, what wakes a worker. */
export const servePgBoss = (PgBoss, version) =>
  serve(async (url) => {
    const boss = new PgBoss({ connectionString: url, max: 10, supervise: false, schedule: false, ...version.options });
    boss.on('error', (error) => console.error(error));
    await boss.start();
    await boss.createQueue(QUEUE, { name: QUEUE });
    await boss.createQueue(WOKEN, { name: WOKEN, ...version.woken });
    return {
      polls: version.polls,
      add: (payload) => boss.send(QUEUE, payload),
      batch: { size: 2000, atOnce: 2, add: (payloads) => version.insert(boss, QUEUE, payloads) },
      async drain(jobs) {
        let left = jobs;
        const started = performance.now();
        const consumer = async () => {
          while (left > 0) {
            const fetched = await boss.fetch(QUEUE, { batchSize: BATCH, ...version.fetch });
            if (fetched.length === 0) continue;
            left -= fetched.length;
            await boss.complete(
              QUEUE,
              fetched.map(({ id }) => id),
            );
          }
        };
        await Promise.all(Array.from({ length: CONSUMERS }, consumer));
        return performance.now() - started;
      },
      async left() {
        const client = new pg.Client({ connectionString: url });
        await client.connect();
        const { rows } = await client.query(
          `select count(*)::int as n from pgboss.job where name = $1 and state <> 'completed'`,
          [QUEUE],
        );
        await client.end();
        return rows[0].n;
      },
      async work(onStart) {
        await boss.work(WOKEN, { pollingIntervalSeconds: 0.5 }, async () => onStart());
        return { stop: () => boss.offWork(WOKEN), add: (payload) => boss.send(WOKEN, payload) };
      },
      close: () => boss.stop({ graceful: false, wait: false }),
    };
  });
