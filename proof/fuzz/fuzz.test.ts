// The fuzzer for a few seconds from a fixed seed, and whether it would notice.
import { expect, inject, test } from 'vitest';
import { fuzz } from './fuzz.ts';
import { Broken, judgeAnswer } from './judge.ts';

test('no hostile input breaks a promise', async () => {
  const report = await fuzz({ postgres: inject('servers')[0]!.url, seed: 20_261, seconds: 12 });
  expect(report.findings).toEqual([]);
  expect(report.afterwards).toEqual([]);
  expect(report.lanes.map(({ lane }) => lane)).toEqual([
    'requests',
    'bytes',
    'webhooks',
    'commands',
    'settings',
    'imports',
  ]);
  for (const { lane, cases } of report.lanes) expect(cases, lane).toBeGreaterThan(0);
});

const problem = {
  type: '/errors/invalid',
  title: 't',
  status: 400,
  detail: 'amount: must be',
  instance: '/x',
  code: 'invalid',
  requestId: 'r',
  field: 'amount',
  rule: 'must be',
};
const headers = { 'content-type': 'application/problem+json' };
const codes = { statuses: new Map([['invalid', 400]]) };

test('an answer as promised is taken', () => {
  expect(judgeAnswer({ status: 400, headers, body: JSON.stringify(problem) }, codes)).toBe('invalid');
  expect(judgeAnswer({ status: 200, headers: {}, body: '{}' }, codes)).toBeUndefined();
});

test.each([
  ['a server error', { status: 500, headers, body: JSON.stringify(problem) }],
  ['a gateway’s error', { status: 503, headers, body: '{}' }],
  ['no body', { status: 400, headers, body: '' }],
  ['half a body', { status: 400, headers, body: '{"code":' }],
  ['a page', { status: 400, headers: { 'content-type': 'text/html' }, body: JSON.stringify(problem) }],
  ['another status in it', { status: 400, headers, body: JSON.stringify({ ...problem, status: 409 }) }],
  ['a code that nobody knows', { status: 400, headers, body: JSON.stringify({ ...problem, code: 'oops' }) }],
  ['no field', { status: 400, headers, body: JSON.stringify({ ...problem, field: '' }) }],
  ['a stack', { status: 400, headers, body: JSON.stringify({ ...problem, detail: 'x\n    at f (a.js:1:1)' }) }],
])('%s is noticed', (_, answer) => {
  expect(() => judgeAnswer(answer, codes)).toThrow(Broken);
});
