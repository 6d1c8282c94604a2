// A process of its own: a worker over HTTP that says which attempt it began and never finishes it.
import { RecoupClient } from '../../src/index.ts';

const [url, queue] = process.argv.slice(2) as [string, string];
new RecoupClient({ url }).work(queue, ({ id, attempt }) => {
  console.log(JSON.stringify({ id, attempt }));
  return new Promise(() => {});
});
