// A process of its own that works on a queue and drains on SIGTERM, as a service does: jobs finish, heed their signal, or do neither.
import { once } from 'node:events';
import { open } from '../../src/index.ts';

const [url, queue] = process.argv.slice(2) as [string, string];
const recoup = await open({ connection: url, sweep: false });
const terminated = once(process, 'SIGTERM');
recoup.work(
  queue,
  async ({ id, signal }) => {
    console.log(id);
    if (id === 'finishes') await terminated;
    else if (id === 'heeds')
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    else await new Promise(() => {});
    return 'done';
  },
  { drainMs: 500, graceMs: 50 },
);
await terminated;
await recoup.close();
// What hears nothing would keep nobody from leaving: nothing of it is open.
console.log('closed');
process.exit(0);
