// Holds docs/upstreams.md to the service: its curl lines run one after the other, and its commands show what it shows.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api } from './support/api.ts';
import { cli } from './support/cli.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../../docs/upstreams.md'), 'utf8');
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(([, text]) => text!);
const [script, together] = blocks('sh') as [string, string];
const [commands, shown] = page
  .split(/^```(?:\w*)\n/m)
  .filter((_, index) => index % 2 === 1)
  .filter((text) => text !== script && text !== together);

let api: Api;
beforeAll(async () => {
  api = await Api.start();
});
afterAll(() => api.close());

/** The answers to the curl lines of a block, one after the other. */
async function typed(block: string) {
  const setting = `R=${api.service.url}; ${/^J=.*$/m.exec(script)![0]}`;
  const answers = [];
  for (const line of block.split('\n').filter((one) => one.startsWith('curl '))) {
    const { stdout } = await promisify(execFile)('sh', ['-c', `${setting}; ${line}`]);
    answers.push(JSON.parse(stdout));
  }
  return answers;
}

test('what the page says with curl is answered as it says', async () => {
  expect(script).toContain('R=http://127.0.0.1:7420\n');
  const answers = await typed(script);
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

test('jobs and upstreams together: what the page says is answered as it says', async () => {
  const [, , , none, , leased, told] = await typed(together);
  expect(none).toMatchObject({ jobs: [], out: { pool: 'pictures', reason: 'rate_limited' } });
  expect(leased.jobs).toMatchObject([{ job: { id: 'j1', attempt: 1 }, upstream: { upstream: 'openai-2' } }]);
  expect(told).toMatchObject({
    means: 'release',
    outcome: 'released',
    refunded: false,
    upstream: { outcome: 'blocked' },
  });
});

test('the commands of the page work, and show what it shows', async () => {
  const words = (line: string) =>
    [...line.replace(/\s+#.*$/, '').matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!);
  const lines = commands!.trim().split('\n').map(words);
  expect(lines.length).toBeGreaterThan(7);
  for (const [program, ...argv] of lines) {
    expect(program).toBe('recoup');
    const { code, out, err } = await cli(argv, { RECOUP_SERVER: api.service.url });
    expect({ code, err }, argv.join(' ')).toEqual({ code: 0, err: '' });
    if (argv.join(' ') === 'upstreams explain acme-2') expect(out).toBe(shown);
  }
});
