// The client needs what every web runtime has and nothing of Node: its program runs where there is nothing else.
import { resolve } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { build, type Rollup } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId, Stand } from './support/stand.ts';

let stand: Stand;
beforeAll(async () => {
  stand = await Stand.start();
});
afterAll(async () => {
  expect(await stand.close()).toEqual([]);
});

/** What Deno, Bun, browsers and edge runtimes have alike (WinterTC’s minimum common API, as far as it is used). */
const web = {
  AbortController,
  AbortSignal,
  crypto,
  fetch,
  Headers,
  performance,
  TextDecoder,
  TextEncoder,
  URL,
  URLSearchParams,
  setTimeout: (run: () => void, ms: number) => Number(setTimeout(run, ms)),
  clearTimeout: (timer: number) => clearTimeout(timer),
};

test('the story and a worker in a runtime that has fetch, timers and no Node', async () => {
  const built = (await build({
    configFile: false,
    logLevel: 'silent',
    resolve: { conditions: ['recoup-source'] },
    build: {
      write: false,
      minify: false,
      lib: { entry: resolve(import.meta.dirname, '../src/index.ts'), name: 'recoup', formats: ['iife'] },
    },
  })) as Rollup.RollupOutput[];
  const { code } = built[0]!.output[0];
  expect(code).not.toMatch(/\bnode:|\brequire\(|\bprocess\.|\bBuffer\b/);
  const context = createContext({ ...web });
  runInContext(`${code};globalThis.recoup = recoup`, context);
  const wallet = await stand.wallet();
  const queue = newId('queue');
  const story = `(async () => {
    const { RecoupClient } = recoup;
    const client = new RecoupClient({ url: ${JSON.stringify(stand.api.service.url)} });
    await client.jobs.submit({ wallet: '${wallet}', job: 'video-1', queue: '${queue}', price: 40 });
    let told;
    const ran = new Promise((done) => { told = done; });
    const worker = client.work('${queue}', async ({ signal }) => { told(signal.aborted); return 'done'; });
    await ran;
    await worker.stop();
    const found = [];
    for await (const { type, balance } of client.wallets.replay({ wallet: '${wallet}' })) found.push(type + ' ' + balance);
    for await (const { cursor } of client.feed.stream()) { found.push(typeof cursor); break; }
    return found.join(', ');
  })()`;
  expect(await runInContext(story, context)).toBe('grant 100, charge 60, string');
  expect((await stand.client.jobs.get({ wallet, job: 'video-1' })).job.state).toBe('succeeded');
});
