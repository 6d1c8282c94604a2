// A process of its own: a replica that works on a queue and never finishes, or one that sweeps until a job runs no more.
import pg from 'pg';
import { open } from '../../src/index.ts';

const [task, url, queueOrWallet, job] = process.argv.slice(2) as ['work' | 'sweep', string, string, string];
const recoup = await open({
  connection: url,
  sweep: false,
  onError: (error) => console.log(JSON.stringify({ error: error.message })),
});
if (task === 'work') {
  recoup.work(queueOrWallet, ({ id, attempt }) => {
    console.log(JSON.stringify({ id, attempt }));
    return new Promise(() => {});
  });
} else {
  const clock = new pg.Client({ connectionString: url });
  await clock.connect();
  while ((await recoup.jobs.get({ wallet: queueOrWallet, job })).job.state === 'running') {
    // The clock of the test stands: here it runs, past any lease.
    await clock.query(`update recoup.test_clock set at = at + interval '1 hour'`);
    await recoup.sweep();
  }
  await clock.end();
  await recoup.close();
}
