// Bodies that are no JSON: a page of something on the way blames the route; what is garbled or cut blames nobody by itself.
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { bodyOf, MAX_BODY } from '../src/decoders/parsing/body.ts';
import { type Answer, decode } from '../src/decoders.ts';

const NOW = new Date('2026-03-10T12:00:00Z');
const factsOf = (answer: Partial<Answer>) => decode({ provider: 'generic', status: 429, receivedAt: NOW, ...answer });

const PAGES = [
  '<!DOCTYPE html><p>401',
  '\ufeff\n  <HTML lang=en>',
  '<html>',
  '<?xml version="1.0"?><Error/>',
  '<p>no',
  `<html>${' '.repeat(MAX_BODY)}`,
  // In another encoding than UTF-8 it is a page, too.
  Buffer.from('<html><title>Acc\u00e8s refus\u00e9</title>', 'latin1'),
  'error code: 1015',
  'upstream connect error or disconnect/reset before headers',
];

test.each(PAGES)(
  'rule 10: what was written on the way blames the route, whatever it says of the account: %#',
  (body) => {
    for (const provider of ['openai', 'deepseek', 'codex', 'gemini'])
      for (const status of [401, 402, 403, 429, 500, 503])
        expect(factsOf({ provider, status, body })).toMatchObject({ class: 'cdn_or_proxy', subject: 'route' });
  },
);

test.each(PAGES)('a page about the request itself blames nobody: %#', (body) => {
  for (const status of [400, 404, 405, 413, 414, 431, 499])
    expect(factsOf({ status, body })).toMatchObject({ class: 'request_scoped', subject: 'none', policy: null });
});

const json = JSON.stringify({ error: { code: 'invalid_api_key', message: 'x'.repeat(300) } });
const random = Uint8Array.from({ length: 256 }, (_, i) => (i * 167 + 13) % 256);
const GARBLED: Record<string, unknown> = {
  'random bytes': random,
  'random bytes that begin like a page': Uint8Array.from([0x3c, ...random]),
  'random bytes, as fetch makes a text of them': new TextDecoder().decode(random),
  'random bytes, a character each': Buffer.from(random).toString('latin1'),
  gzip: gzipSync(json),
  'gzip that was cut': gzipSync(json).subarray(0, 20),
  'the two bytes that gzip begins with': Uint8Array.from([0x1f, 0x8b]),
  'JSON that was cut': json.slice(0, 40),
  'a list that was cut': `[${json.slice(0, 40)}`,
  'one brace': '{',
  'an event that was cut': 'event: error\ndata: {"type":"er',
  'a comment of a stream and no event': ': PROCESSING',
  'JSON in UTF-16': Buffer.from(json, 'utf16le'),
};
const BY_STATUS = [
  [400, 'request_scoped', 'none'],
  [401, 'auth_expired', 'upstream'],
  [403, 'permission', 'upstream'],
  [404, 'request_scoped', 'none'],
  [429, 'rate_limited', 'upstream'],
  [500, 'server_error', 'upstream'],
  [503, 'server_error', 'upstream'],
  [529, 'overloaded', 'provider'],
  [200, null, 'none'],
  [204, null, 'none'],
  [null, 'server_error', 'upstream'],
] as const;

test.each(Object.entries(GARBLED))('%s: what the status alone says', (_name, body) => {
  for (const provider of ['generic', 'openai', 'anthropic']) {
    for (const [status, kind, subject] of BY_STATUS) {
      const facts = factsOf({ provider, status, body });
      const dropped = kind === null ? [] : [{ field: 'body', value: 'garbled', rule: 'not_understood' }];
      expect([status, facts]).toMatchObject([status, { class: kind, subject, dropped }]);
      // No word of it is kept.
      expect(facts.reason?.message ?? null).toBe(null);
    }
  }
});

test('headers count, whatever became of the body', () => {
  const { until, source } = factsOf({ headers: { 'retry-after': '30' }, body: random });
  expect([until, source]).toEqual([new Date(NOW.getTime() + 30_000), 'retry_after']);
});

test('bodies are read to a bound', () => {
  expect(bodyOf(`{"a":"${'x'.repeat(MAX_BODY)}"}`)).toEqual({ kind: 'unread', values: [] });
  expect(bodyOf(new Uint8Array(MAX_BODY + 1))).toEqual({ kind: 'unread', values: [] });
  expect(factsOf({ body: `{"a":"${'x'.repeat(MAX_BODY)}"}` })).toMatchObject({
    class: 'rate_limited',
    dropped: [{ field: 'body', rule: 'too_large' }],
  });
  expect(bodyOf('\ufeff {"a":1}')).toEqual({ kind: 'json', values: [{ a: 1 }] });
});

const thrower = (field = 'error') =>
  Object.defineProperty({}, field, {
    enumerable: true,
    get() {
      throw new Error('mine');
    },
  });

test('an object of the caller that throws when it is read is refused, wherever it is', () => {
  const one = { error: thrower('message') };
  for (const wrong of [{ body: thrower() }, { body: one }, { body: [thrower()] }, { headers: thrower() as never }])
    expect(() => factsOf(wrong)).toThrow(/^answer: cannot be read: a getter of it throws$/);
});
