// `recoup work --server` behind a proxy that answers in the service's stead, cuts, or swallows: one run is one charge.
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request as httpRequest, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../../recoup/test/support/waiting.ts';
import { Api, type Json, newId } from './support/api.ts';
import { CliProcess } from './support/cli.ts';

let api: Api;
let folder: string;
let proxy: Server;
const started: CliProcess[] = [];
/** What the proxy does itself with requests to these paths: how often, and what. */
const tricks: { path: RegExp; times: number; act: (response: ServerResponse) => void }[] = [];

beforeAll(async () => {
  api = await Api.start();
  folder = await mkdtemp(join(tmpdir(), 'recoup-behind-'));
  proxy = createServer((request, response) => {
    const trick = tricks.find(({ path, times }) => times > 0 && path.test(request.url!));
    if (trick) {
      trick.times -= 1;
      request.resume().on('end', () => trick.act(response));
      return;
    }
    const { method, headers } = request;
    const onward = httpRequest(`${api.service.url}${request.url}`, { method: method!, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
});
afterAll(async () => {
  for (const { child } of started) child.kill('SIGKILL');
  proxy.closeAllConnections();
  await new Promise((done) => proxy.close(done));
  expect((await api.service.recoup.verify()).problems).toEqual([]);
  await api.close();
  await rm(folder, { recursive: true });
});

async function submit(): Promise<{ wallet: string; job: string; queue: string }> {
  const job = { wallet: await api.wallet(1000), job: 'j', queue: newId('q') };
  await api.call('jobs.submit', { ...job, price: 10 });
  return job;
}
const work = (queue: string, ...argv: string[]) => {
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const worker = new CliProcess(['work', '--queue', queue, ...argv], { RECOUP_SERVER: url });
  started.push(worker);
  return worker;
};
const jobOf = async ({ wallet, job }: { wallet: string; job: string }): Promise<Json> =>
  ((await api.call('jobs.get', { wallet, job })) as Json).job;
const charges = async (wallet: string) =>
  ((await api.call('wallets.entries', { wallet })) as Json).entries
    .filter(({ type }: Json) => type !== 'grant')
    .map(({ type, amount }: Json) => `${type} ${amount}`);

const page = (status: number) => (response: ServerResponse) =>
  void response.writeHead(status, { 'content-type': 'text/html' }).end('<html>not here</html>');
test.each<[string, (response: ServerResponse) => void]>([
  ['a page with status 502', page(502)],
  ['a page with status 413', page(413)],
  ['a page with status 200', page(200)],
  [
    'an answer that breaks off',
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{"outcome":', () => response.destroy());
    },
  ],
  [
    'JSON of something else',
    (response) => void response.writeHead(404, { 'content-type': 'application/json' }).end('null'),
  ],
])('%s in place of the answer to a report: it is reported again, the job ran once', async (_, act) => {
  const job = await submit();
  tricks.push({ path: new RegExp(`${job.wallet}/jobs/j/succeed$`), times: 2, act });
  const worker = work(job.queue, '--exec', `echo ran >&2; echo 1`);
  await until(async () => (await jobOf(job)).state === 'succeeded');
  worker.child.kill('SIGTERM');
  expect(await worker.ended, worker.err).toBe(0);
  expect(worker.err.match(/^ran$/gm)).toEqual(['ran']);
  expect(await charges(job.wallet)).toEqual(['charge -10']);
  expect(tricks.at(-1)!.times).toBe(0);
});

test('what is refused for what it says is reported without it: a price that is none, a delay, a result that is too large', async () => {
  for (const [command, expected] of [
    [`echo '{"finalPrice":2.5}' >&3; echo 1`, { state: 'succeeded', finalPrice: null }],
    [`echo '{"finalPrice":"12"}' >&3; echo 1`, { state: 'succeeded', finalPrice: null }],
    [`echo '{"retryAfterMs":-1}' >&3; exit 65`, { state: 'dead', failures: 1, verdict: 'definitive' }],
    [`head -c 1500000 /dev/zero | tr '\\0' x`, { state: 'dead', failures: 1, verdict: 'definitive' }],
  ] as const) {
    const job = await submit();
    const worker = work(job.queue, '--exec', command);
    await until(async () => ['succeeded', 'dead'].includes((await jobOf(job)).state));
    expect(await jobOf(job), command).toMatchObject({ ...expected, attempt: 1 });
    worker.child.kill('SIGTERM');
    expect(await worker.ended, worker.err).toBe(0);
  }
});

test('extensions that nobody answers: the command is told that its lease is lost', async () => {
  const job = await submit();
  tricks.push({ path: new RegExp(`${job.wallet}/jobs/j/extend$`), times: 1e9, act: () => {} });
  const told = join(folder, job.queue);
  const command = `trap 'touch ${told}; exit 1' TERM; sleep 1000 & wait`;
  const worker = work(job.queue, '--exec', command, '--lease-ms', '1500');
  // The network's own time-out is minutes: within the test only the lease's clock tells.
  await until(() => existsSync(told));
  await worker.says(/the lease was lost/);
  worker.child.kill('SIGTERM');
  expect(await worker.ended, worker.err).toBe(0);
});
