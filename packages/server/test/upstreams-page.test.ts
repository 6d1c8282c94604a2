// Holds docs/upstreams.md to the service: its curl lines run one after the other, and its commands show what it shows.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api } from './support/api.ts';
import { cli } from './support/cli.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../../docs/upstreams.md'), 'utf8');
const script = /^```sh\n([\s\S]*?)^```/m.exec(page)![1]!;
const [, commands, shown] = [...page.matchAll(/^```(?:sh)?\n([\s\S]*?)^```/gm)].map(([, text]) => text!);

let api: Api;
beforeAll(async () => {
  api = await Api.start();
});
afterAll(() => api.close());

test('what the page says with curl is answered as it says', async () => {
  const lines = script.split('\n').filter((line) => line.startsWith('curl '));
  const setting = `R=${api.service.url}; ${/^J=.*$/m.exec(script)![0]}`;
  expect(script).toContain('R=http://127.0.0.1:7420\n');
  const answers = [];
  for (const line of lines) {
    const { stdout } = await promisify(execFile)('sh', ['-c', `${setting}; ${line}`]);
    answers.push(JSON.parse(stdout));
  }
  expect(answers.map(({ outcome, upstream }) => [outcome, upstream].filter(Boolean).join(' '))).toEqual([
    'registered',
    'registered',
    'selected acme-1',
    'noted',
    'selected acme-1',
    'blocked',
    'selected acme-2',
    'blocked',
    'none',
    'registered',
    'blocked',
    'set',
    '',
    '',
    'taken',
  ]);
  expect(answers[2]).toMatchObject({ credentialRef: 'vault/acme-1', lease: 'call-1' });
  expect(answers[10]).toMatchObject({ class: 'rate_limited', use: 'none' });
  expect(answers[12]).toMatchObject({ limit: 'openai-1-day', amount: 1_000_000, used: 0 });
  expect(answers[13].items).toMatchObject([{ item: 'block:2', nextStep: 'put in a new key' }]);
  expect(answers[8].retryAfterMs).toBeLessThanOrEqual(30_000);
});

test('the commands of the page work, and show what it shows', async () => {
  const words = (line: string) =>
    [...line.replace(/\s+#.*$/, '').matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!);
  const typed = commands!.trim().split('\n').map(words);
  expect(typed.length).toBeGreaterThan(7);
  for (const [program, ...argv] of typed) {
    expect(program).toBe('recoup');
    const { code, out, err } = await cli(argv, { RECOUP_SERVER: api.service.url });
    expect({ code, err }, argv.join(' ')).toEqual({ code: 0, err: '' });
    if (argv.join(' ') === 'upstreams explain acme-2') expect(out).toBe(shown);
  }
});
