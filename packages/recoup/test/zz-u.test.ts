// Scratch.
import pg from 'pg';
import { open } from 'recoup';
import { testDatabase } from 'recoup/testing';
import { expect, inject, test } from 'vitest';
import { startTransactionPooler } from './support/transaction-pooler.ts';

test.each([false, true])('configure, pooler %s', async (through) => {
  const db = await testDatabase(inject('servers')[0]!.url);
  const pooler = await startTransactionPooler(db.url, 4);
  const recoup = await open({ connection: through ? pooler.url : db.url, pooler: through, sweep: false, lockTimeoutMs: 300 });
  const slow = new pg.Client({ connectionString: db.url });
  await slow.connect();
  await slow.query('begin');
  await recoup.using(slow).queues.configure('held', { maxFailures: 3 });
  const started = performance.now();
  const said = await Promise.race([
    Promise.all(
      ['held', 'a', 'b', 'c'].map((q) => recoup.queues.configure(q, { maxFailures: 4 }).then(() => `${q} ok`, (e) => `${q} ${e.code}`).then((s) => `${s} ${Math.round(performance.now() - started)}`)),
    ),
    new Promise((d) => setTimeout(d, 4000, 'stalled 4 s')),
  ]);
  console.log(through, said);
  await slow.query('rollback');
  await slow.end();
  await recoup.close();
  await pooler.stop();
  await db.drop();
  expect(1).toBe(1);
});
