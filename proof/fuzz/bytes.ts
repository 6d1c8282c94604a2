// Lane: bytes that are nearly HTTP, whole or in pieces, alone or one behind another.
import fc, { type Arbitrary } from 'fast-check';
import { type Lane, lane } from './hold.ts';
import { Broken, judgeAnswer } from './judge.ts';
import { shown } from './requests.ts';
import type { Stand } from './stand.ts';
import { type Sending, send } from './wire.ts';

const TARGETS = [
  '/v1/wallets/w1/balance',
  '/v1/wallets/w1/grants/bytes',
  '/v1/queues/none/leases',
  '/v1/webhooks/generic',
  '/livez',
  '/readyz',
  '/openapi.json',
  '/errors/invalid',
  '/metrics',
  '/',
  '*',
  '',
  '//',
  '/..',
  '/v1/../v1/queues',
  'http://evil.example/v1/queues',
  'http://localhost/v1/queues',
  'localhost:443',
  '/v1/queues HTTP/1.1\r\nx: y',
  '/\u0000',
  '/\u00ff',
  '/%',
  `/${'x'.repeat(40_000)}`,
  '/v1/queues?a=1&a=2',
  `/v1/queues?${'a&'.repeat(2000)}`,
];
const METHODS = [
  'GET',
  'GET',
  'PUT',
  'POST',
  'HEAD',
  'DELETE',
  'PATCH',
  'OPTIONS',
  'TRACE',
  'CONNECT',
  'PURGE',
  'M-SEARCH',
  'get',
  'PRI',
  'G ET',
  '',
];
const VERSIONS = [
  'HTTP/1.1',
  'HTTP/1.1',
  'HTTP/1.1',
  'HTTP/1.0',
  'HTTP/0.9',
  'HTTP/2.0',
  'HTTP/1.2',
  'http/1.1',
  'HTTP/1.1 ',
  '',
];
const HEADERS = [
  'host: evil.example',
  'host: localhost',
  'Host : localhost',
  'content-length: 0',
  'content-length: 2',
  'content-length: 5',
  'content-length: 99999999999999999999',
  'content-length: 40000000',
  'content-length: -1',
  'content-length: +2',
  'content-length: 0x2',
  'content-length: 2, 2',
  'content-length:',
  'transfer-encoding: chunked',
  'transfer-encoding: chunked, chunked',
  'transfer-encoding: gzip, chunked',
  'transfer-encoding: identity',
  'transfer-encoding: xchunked',
  'transfer-encoding:\tchunked',
  'Transfer-Encoding : chunked',
  'expect: 100-continue',
  'expect: the-unexpected',
  'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nsec-websocket-version: 13',
  'connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAAP__',
  'connection: close',
  'connection: keep-alive',
  'content-type: application/json',
  'content-type: application/json\r\ncontent-type: text/plain',
  ' folded: yes',
  ': no name',
  'no colon',
  'x: \u0000',
  'x: \u00ff\u00fe',
  `x: ${'y'.repeat(33_000)}`,
  Array.from({ length: 3000 }, (_, i) => `x${i}: y`).join('\r\n'),
  'trailer: x',
  'x-request-id: \u001b[31m',
  'authorization: Bearer a\r\nauthorization: Bearer b',
];
const BODIES = [
  '',
  '{}',
  '{"a',
  '2\r\n{}\r\n0\r\n\r\n',
  '2\r\n{}\r\n0\r\nx: y\r\n\r\n',
  '2;ext="\r\n{}\r\n0\r\n\r\n',
  'zz\r\n{}\r\n',
  'ffffffffffffffff\r\n',
  '-1\r\n',
  '2\r\n{}0\r\n\r\n',
  '0\r\n\r\n',
  'GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n',
];

const likeHttp = (key: string): Arbitrary<string> =>
  fc
    .record({
      method: fc.constantFrom(...METHODS),
      target: fc.constantFrom(...TARGETS),
      version: fc.constantFrom(...VERSIONS),
      usual: fc.constantFrom('host: localhost\r\n', 'host: localhost\r\n', 'host: localhost\r\n', ''),
      key: fc.constantFrom(`authorization: Bearer ${key}\r\n`, `authorization: Bearer ${key}\r\n`, ''),
      headers: fc.array(fc.constantFrom(...HEADERS), { maxLength: 3 }),
      end: fc.constantFrom('\r\n', '\r\n', '\r\n', '\n', ''),
      body: fc.constantFrom(...BODIES),
    })
    .map(
      ({ method, target, version, usual, key: given, headers, end, body }) =>
        `${method} ${target} ${version}\r\n${usual}${given}${headers.map((line) => `${line}\r\n`).join('')}${end}${body}`,
    );

interface Bytes {
  text: string;
  cuts: number[];
  pauseMs: number;
  end: Sending['end'];
}

function piecesOf({ text, cuts, pauseMs }: Bytes): [Buffer, number][] {
  const bytes = Buffer.from(text, 'latin1');
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return at.slice(1).map((end, index) => [bytes.subarray(at[index], end), pauseMs]);
}

/** Nothing of these lasts longer than this once nothing more comes. */
const PATIENCE_MS = 10_000;
const QUIET_MS = 100;

export function byteLane(stand: Stand): Lane {
  const requests = fc.array(likeHttp(stand.keys.admin!), { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''));
  const flood = likeHttp(stand.keys.admin!).map((text) => text.slice(0, 2000).repeat(50));
  const noise = fc.uint8Array({ maxLength: 2000 }).map((bytes) => Buffer.from(bytes).toString('latin1'));
  const cases: Arbitrary<Bytes> = fc.record({
    text: fc.oneof(
      { withCrossShrink: true },
      { weight: 8, arbitrary: requests },
      { weight: 1, arbitrary: noise },
      { weight: 1, arbitrary: flood },
    ),
    cuts: fc.oneof(
      { weight: 3, arbitrary: fc.constant<number[]>([]) },
      { weight: 1, arbitrary: fc.array(fc.nat(100_000), { maxLength: 6 }) },
    ),
    pauseMs: fc.constantFrom(0, 0, 1, 5),
    end: fc.constantFrom<Sending['end'][]>('close', 'close', 'close', 'cut', 'leave'),
  });
  const check = async (one: Bytes) => {
    const before = await stand.digest();
    // Left open it may stay open until the limits are over: those have a lane of their own.
    const patienceMs = one.end === 'leave' ? QUIET_MS : PATIENCE_MS;
    const heard = await send(stand.url, { pieces: piecesOf(one), end: one.end, patienceMs });
    for (const answer of heard.answers) judgeAnswer(answer, stand, one.text.includes('HEAD '));
    if (one.end === 'close' && !heard.closed)
      throw new Broken('nothing more was coming, and the connection stayed open');
    if (one.end === 'close' && heard.rest !== '') throw new Broken(`what came is no HTTP: ${heard.rest.slice(0, 300)}`);
    const refused = heard.answers.every(({ status }) => status >= 400);
    if (one.end === 'close' && refused && (await stand.digest()) !== before)
      throw new Broken('everything was refused, and something was changed');
  };
  return lane(
    'bytes',
    cases,
    check,
    ({ text, cuts, end }) => `${shown(Buffer.from(text, 'latin1'))}\n(in ${cuts.length + 1} pieces, then ${end})`,
  );
}

/** Requests that stop coming, left alone until the documented limits are over: each connection is closed, none with a 5xx. */
export async function stalled(stand: Stand, limitMs: number): Promise<string[]> {
  const starts = [
    '',
    'G',
    'GET /livez HTTP/1.1\r\n',
    'GET /livez HTTP/1.1\r\nhost: localhost\r\nx: ',
    `PUT /v1/wallets/slow HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${stand.keys.admin}\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{`,
    'POST /v1/webhooks/generic HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{',
  ];
  const drip = Array.from({ length: limitMs / 1000 }, (): [Buffer, number] => [Buffer.from('x'), 1000]);
  const ends = await Promise.all([
    ...starts.map((text) => send(stand.url, { pieces: [[Buffer.from(text), 0]], end: 'leave', patienceMs: limitMs })),
    send(stand.url, {
      pieces: [[Buffer.from('GET /livez HTTP/1.1\r\nhost: localhost\r\nx: '), 0], ...drip],
      end: 'leave',
      patienceMs: 2000,
    }),
  ]);
  const wrong = ends.map(({ answers, closed }, index) =>
    closed && answers.every(({ status }) => status < 500)
      ? ''
      : `a request that stops after ${JSON.stringify(starts[index] ?? 'a byte a second')} holds its connection`,
  );
  return wrong.filter(Boolean);
}
