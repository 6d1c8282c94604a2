// Runs the examples of the clients against a service of their own, each held to the story that it tells.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { startService } from '@recoup/server/service';
import { testDatabase } from 'recoup/testing';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { main } from './over-http.ts';

const shown = {
  late: 'reclaimed',
  again: 'duplicate',
  story: ['grant 100: 100', 'charge -40: 60', 'refund 40: 100', 'reclaim -40: 60'],
  // video-3 was worth 30, video-4 nothing.
  balance: '30',
};
let url: string;
let close: () => Promise<void>;
beforeAll(async () => {
  const database = await testDatabase(inject('servers')[0]!.url);
  const service = await startService({ open: { connection: database.url }, port: 0 });
  url = service.url;
  close = async () => {
    await service.close();
    await database.drop();
  };
});
afterAll(() => close());

test('in TypeScript', async () => {
  expect(await main(url)).toEqual(shown);
});

test('in Python', async () => {
  const python = process.env.PYTHON ?? 'python3';
  const PYTHONPATH = `${import.meta.dirname}/../clients/python/src`;
  const env = { ...process.env, PYTHONPATH, RECOUP_URL: url, PYTHONDONTWRITEBYTECODE: '1' };
  const { stdout, stderr } = await promisify(execFile)(python, [`${import.meta.dirname}/over_http.py`], { env });
  expect(JSON.parse(stdout)).toEqual(shown);
  expect(stderr).toBe('60 credits are left, it costs 61\n');
});
