// Lane: requests that the OpenAPI document describes, and what is close to them and wrong.
import fc, { type Arbitrary } from 'fast-check';
import { type Lane, lane } from './hold.ts';
import { Broken, judgeAnswer } from './judge.ts';
import { type Described, JOBS, type Stand, UPSTREAMS, WALLETS } from './stand.ts';
import { bare, generators, hostile, type Pools, type Schema, textOf } from './values.ts';
import { type Answer, send } from './wire.ts';

interface Call {
  operation: Operation;
  path: string;
  query: [string, string][];
  body: Buffer | null;
  headers: [string, string][];
}
interface Operation extends Described {
  method: string;
  path: string;
}

/** Answers of no operation, before one is found or read. */
const OF_ALL = new Set(['not_found', 'method_not_allowed', 'headers_too_large']);
const STREAMS = /^(feed\.stream)$/;
const PATIENCE_MS = 20_000;
const REFS = ['ref-w1', 'ref-w2', 'ref-a/b', 'ref-none'];

function operationsOf({ document }: Stand): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({ ...described, method: method.toUpperCase(), path })),
  );
}

async function pools({ recoup }: Stand): Promise<Pools> {
  const pages = [
    (await recoup.feed.read(null, 2)).cursor,
    (await recoup.wallets.entries('w1', { limit: 1 })).cursor,
    (await recoup.jobs.list('w1', { limit: 1 })).cursor,
  ];
  return {
    wallet: WALLETS,
    job: JOBS,
    queue: ['q1', 'q2', 'prepare-running', '*'],
    upstreamRef: REFS,
    customer: ['ann', 'bob'],
    key: ['start', 'k1', 'k2', 'rcp_000000000000'],
    requestId: ['r1', 'r2'],
    provider: ['generic', 'replicate', 'fal', 'runpod'],
    cursor: [...pages.map(String), '1.1', 'u1'],
    upstream: UPSTREAMS,
    pool: ['p1', 'p2'],
    lease: ['l1', 'l2'],
    model: ['m1'],
    kind: ['rate_limited', 'server_error', 'billing'],
    scope: ['model:m1', 'capability:c', ''],
    waits: ['waitMs'],
  };
}

const base64url = (text: string) => Buffer.from(text).toString('base64url');
/** A cursor of ours that somebody wrote himself. */
const forged = fc.array(hostile, { maxLength: 7 }).map((parts) => base64url(`[${parts.join(',')}]`));

const BAD_HEADERS: [string, string][] = [
  ['authorization', 'Bearer'],
  ['authorization', 'Basic YTpi'],
  ['authorization', `Bearer rcp_${'0'.repeat(12)}_${'A'.repeat(43)}`],
  ['host', 'evil.example'],
  ['host', '127.0.0.1, evil.example'],
  ['origin', 'https://evil.example'],
  ['origin', 'null'],
  ['content-type', 'text/plain'],
  ['content-type', 'application/x-www-form-urlencoded'],
  ['content-type', 'application/json; charset=utf-16'],
  ['content-type', 'application/json;;'],
  ['content-type', 'application/jsonx'],
  ['content-type', ''],
  ['content-encoding', 'gzip'],
  ['x-request-id', 'a"}\\n{"level":60'],
  ['x-request-id', 'x'.repeat(2000)],
  ['traceparent', '00-00000000000000000000000000000000-0000000000000000-00'],
  ['traceparent', 'ff-'.repeat(100)],
  ['traceparent', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
  ['last-event-id', 'nonsense'],
  ['x-forwarded-for', '127.0.0.1'],
  ['x-http-method-override', 'DELETE'],
  ['accept', 'text/html'],
  ['range', 'bytes=0-1'],
  ['if-none-match', '*'],
  ['expect', '100-continue'],
  ['upgrade', 'h2c'],
  ['accept-version', '2'],
  ['cookie', 'x'.repeat(8000)],
];

/** A body as bytes: mostly JSON as it is, otherwise what is nearly JSON. */
function bodies(fields: Arbitrary<[string, string][]>): Arbitrary<Buffer | null> {
  const right = fields.map((one) => Buffer.from(textOf(one)));
  const broken: Arbitrary<(bytes: Buffer) => Buffer | null> = fc.oneof(
    fc.constantFrom<((bytes: Buffer) => Buffer | null)[]>(
      () => null,
      () => Buffer.alloc(0),
      (bytes) => Buffer.concat([Buffer.from('\ufeff'), bytes]),
      (bytes) => Buffer.concat([bytes, bytes]),
      (bytes) => Buffer.from(bytes.toString(), 'utf16le'),
      (bytes) => Buffer.concat([bytes.subarray(0, -1), Buffer.from([0xff, 0x7d])]),
      (bytes) => Buffer.concat([Buffer.from(' \t\r\n'), bytes]),
      (bytes) => Buffer.concat([Buffer.from('['), bytes, Buffer.from(']')]),
    ),
    fc.nat(200).map((at) => (bytes: Buffer) => bytes.subarray(0, at)),
    hostile.map((text) => () => Buffer.from(text)),
  );
  const wrong = fc.tuple(right, broken).map(([bytes, breakIt]) => breakIt(bytes));
  return fc.oneof({ withCrossShrink: true }, { weight: 12, arbitrary: right }, { weight: 1, arbitrary: wrong });
}

function callsOf(operation: Operation, stand: Stand, known: Pools): Arbitrary<Call> {
  const { schemas } = stand.document.components;
  const resolve = (schema: Schema): Schema => (schema.$ref ? schemas[schema.$ref.split('/').at(-1)!]! : schema);
  const { mixed, body } = generators(known, resolve);
  const inPath = operation.parameters.filter((one) => one.in === 'path');
  const segments = inPath.map(({ name, schema }) =>
    mixed(schema, name).map((text) => [name, encodeURIComponent(bare(text))] as const),
  );
  const path = fc
    .tuple(...segments)
    .map((pairs) => pairs.reduce((at, [name, value]) => at.replace(`{${name}}`, () => value), operation.path));
  const tricks = fc.constantFrom<((at: string) => string)[]>(
    (at) => `${at}/`,
    (at) => at.replace('/v1/', '/v1//'),
    (at) => at.replace('/v1/', '/V1/'),
    (at) => at.replace('/v1/', '/v1/./'),
    (at) => at.replace('/v1/', '/x/../v1/'),
    (at) => `${at}%00`,
    (at) => `${at}%zz`,
    (at) => `${at}%ff`,
    (at) => `${at};x=1`,
    (at) => at.replaceAll('/', '%2f'),
    (at) => `http://127.0.0.1${at}`,
    (at) => `${at}#x`,
    (at) => `${at}${'x'.repeat(20_000)}`,
  );
  const inQuery = operation.parameters.filter((one) => one.in === 'query');
  const asBody: Schema = {
    properties: Object.fromEntries(inQuery.map(({ name, schema }) => [name, schema])),
    required: inQuery.filter((one) => one.required).map(({ name }) => name),
  };
  const query = fc.oneof(
    {
      weight: 6,
      arbitrary: body(asBody).map((fields) => fields.map(([name, text]): [string, string] => [name, bare(text)])),
    },
    { weight: 1, arbitrary: forged.map((cursor): [string, string][] => [['cursor', cursor]]) },
    { weight: 1, arbitrary: fc.constant<[string, string][]>([['__proto__', '1']]) },
  );
  const schema = operation.requestBody?.content['application/json'].schema;
  const own = ['admin', 'admin', 'admin', 'admin', 'admin', 'admin', ...Object.keys(stand.keys)];
  return fc.record({
    operation: fc.constant(operation),
    path: fc.oneof(
      { weight: 15, arbitrary: path },
      { weight: 1, arbitrary: fc.tuple(path, tricks).map(([at, trick]) => trick(at)) },
    ),
    query,
    body: schema
      ? bodies(body(schema))
      : fc.oneof(
          { weight: 9, arbitrary: fc.constant(null) },
          { weight: 1, arbitrary: hostile.map((text) => Buffer.from(text)) },
        ),
    headers: fc
      .tuple(
        fc.constantFrom(...own).map((key): [string, string] => ['authorization', `Bearer ${stand.keys[key]}`]),
        fc.oneof(
          { weight: 9, arbitrary: fc.constant([]) },
          { weight: 1, arbitrary: fc.array(fc.constantFrom(...BAD_HEADERS), { maxLength: 2 }) },
        ),
      )
      .map(([key, more]) => [key, ...more]),
  });
}

/** The bytes of a call. */
function bytesOf({ operation, path, query, body, headers }: Call): Buffer {
  const names = new Set(headers.map(([name]) => name));
  const search = query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&');
  const all: [string, string][] = [
    ...(names.has('host') ? [] : [['host', 'localhost'] as [string, string]]),
    ['connection', 'close'],
    ...(body && !names.has('content-type') ? [['content-type', 'application/json'] as [string, string]] : []),
    ...(body ? [['content-length', String(body.length)] as [string, string]] : []),
    ...headers,
  ];
  const head = `${operation.method} ${path}${search ? `?${search}` : ''} HTTP/1.1\r\n${all.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
  return Buffer.concat([Buffer.from(head, 'latin1'), body ?? Buffer.alloc(0)]);
}

/** A refusal that the document does not tell of. */
function judgeDocumented({ responses, operationId }: Described, { status }: Answer, code: string): void {
  if (OF_ALL.has(code)) return;
  if (!responses[String(status)]?.description.includes(`\`${code}\``))
    throw new Broken(`the document of ${operationId} does not tell of ${code}`);
}

export async function requestLane(stand: Stand): Promise<Lane> {
  const known = await pools(stand);
  const cases = fc.oneof(...operationsOf(stand).map((operation) => callsOf(operation, stand, known)));
  let before = await stand.digest();
  const check = async (call: Call) => {
    const stream = STREAMS.test(call.operation.operationId);
    const enough = (text: string) => stream && text.includes('\r\n\r\n') && text.startsWith('HTTP/1.1 200');
    const heard = await send(stand.url, {
      pieces: [[bytesOf(call), 0]],
      end: 'leave',
      patienceMs: PATIENCE_MS,
      enough,
    });
    const [answer] = heard.answers;
    if (!answer || (!heard.closed && !stream)) throw new Broken('no answer in time');
    const code = judgeAnswer(answer, stand);
    if (code) judgeDocumented(call.operation, answer, code);
    if (!answer.headers['x-request-id']) throw new Broken(`no x-request-id: ${answer.status}`);
    const after = await stand.digest();
    if (code && after !== before)
      throw new Broken(`refused as ${code}, and something was changed: ${before} → ${after}`);
    before = after;
  };
  return lane('requests', cases, check, (call) => shown(bytesOf(call)));
}

/** Bytes for people: what cannot be printed is escaped, what is long is cut. */
export function shown(bytes: Buffer): string {
  const text = bytes
    .toString()
    .replaceAll(/rcp_[0-9a-z]{12}_[\w-]{43}/g, 'rcp_…')
    .replaceAll(/[^\n\x20-\x7e\u00a0-\uffff]/g, (one) => `\\x${one.codePointAt(0)!.toString(16).padStart(2, '0')}`);
  return text.length > 2000 ? `${text.slice(0, 1500)}…${text.slice(-200)} (${bytes.length} bytes)` : text;
}
