// What is not Recoup, or not whole: pages of proxies, redirects, answers that are huge, slow, cut off or no JSON.
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTcp } from 'node:net';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type ClientOptions, RecoupClient, type RecoupError } from '../src/index.ts';
import { collect, Stand } from './support/stand.ts';

const running: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one.close();
});

/** A client of something that answers so. */
async function before(answer: RequestListener, options: Partial<ClientOptions> = {}): Promise<RecoupClient> {
  const server: Server = createServer(answer);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  running.push({
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
  const { port } = server.address() as { port: number };
  return new RecoupClient({ url: `http://127.0.0.1:${port}`, deadlineMs: 1500, ...options });
}
const failure = (call: Promise<unknown>): Promise<RecoupError> =>
  call.then(
    (answer) => {
      throw new Error(`it was answered: ${JSON.stringify(answer)}`);
    },
    (error: RecoupError) => error,
  );
const html =
  (status: number): RequestListener =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end('<h1>nginx</h1>');
  };
const json = (text: string, headers: Record<string, string> = {}): RequestListener => {
  return (_request, response) =>
    void response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(text);
};

describe('one answer', () => {
  test.each([200, 404, 413])(
    'a page with status %i is not an answer of Recoup, and not asked for again',
    async (status) => {
      let asked = 0;
      const client = await before((request, response) => {
        asked += 1;
        html(status)(request, response);
      });
      expect(await failure(client.queues.get({ queue: 'q' }))).toMatchObject({
        code: 'unexpected_answer',
        status,
        message: `Not Recoup answered: status ${status}, text/html.`,
      });
      expect(asked).toBe(1);
    },
  );

  test('a proxy whose server is away (502, 504) is asked again, until the deadline or an answer', async () => {
    let asked = 0;
    const client = await before((request, response) => {
      asked += 1;
      if (asked === 1) html(502)(request, response);
      else if (asked === 2) html(504)(request, response);
      else json('{"queues":[]}')(request, response);
    });
    expect(await client.queues.list()).toEqual({ queues: [] });
    const gone = await before(html(502));
    expect(await failure(gone.queues.list())).toMatchObject({
      code: 'unexpected_answer',
      status: 502,
      retryable: true,
    });
    // What must not be repeated is not, also here.
    asked = 0;
    expect(await failure(client.keys.create({ name: 'k', scopes: ['app'] }))).toMatchObject({ status: 502 });
    expect(asked).toBe(1);
  });

  test('a Retry-After that is later than the deadline is not waited for; a date is read', async () => {
    const busy = (after: string): RequestListener => {
      return (_request, response) =>
        void response
          .writeHead(503, { 'content-type': 'application/problem+json', 'retry-after': after })
          .end('{"code":"wallet_busy","detail":"busy","status":503}');
    };
    const client = await before(busy('3600'));
    expect(await failure(client.queues.list())).toMatchObject({ code: 'wallet_busy', retryAfterMs: 3_600_000 });
    const dated = await before(busy(new Date(Date.now() + 3_600_000).toUTCString()));
    const { retryAfterMs } = await failure(dated.queues.list());
    expect(retryAfterMs! / 3_600_000).toBeCloseTo(1, 1);
    const odd = await before(busy('soon'));
    expect(await failure(odd.queues.list())).toMatchObject({ code: 'wallet_busy', retryAfterMs: undefined });
  });

  test('a redirect is not followed: the key stays here, and no GET is made of a POST', async () => {
    const seen: (string | undefined)[] = [];
    const elsewhere = createServer((request, response) => {
      seen.push(request.headers.authorization);
      json('{"keys":[]}')(request, response);
    });
    await new Promise<void>((done) => elsewhere.listen(0, '127.0.0.1', done));
    running.push(elsewhere);
    const { port } = elsewhere.address() as { port: number };
    for (const status of [301, 302, 307, 308]) {
      const location = `http://127.0.0.1:${port}/v1/keys`;
      const client = await before((_request, response) => void response.writeHead(status, { location }).end(), {
        key: 'rcp_secret',
      });
      expect(await failure(client.keys.list())).toMatchObject({
        code: 'unexpected_answer',
        status,
        message: expect.stringContaining(location),
      });
    }
    expect(seen).toEqual([]);
  });

  test.each([
    ['cut off in the middle', '{"queues":[', { 'content-length': '100' }],
    ['no whole JSON', '{"queues":[', {}],
    ['empty', '', {}],
  ])(
    'an answer that is %s counts as lost, and is asked for again',
    async (_what, text, headers: Record<string, string>) => {
      let asked = 0;
      const client = await before((request, response) => {
        asked += 1;
        if (asked > 1) return json('{"queues":[]}')(request, response);
        json(text, headers)(request, response);
        if (headers['content-length']) response.on('finish', () => request.socket.destroy());
      });
      expect(await client.queues.list()).toEqual({ queues: [] });
      expect(asked).toBe(2);
    },
  );

  test('an answer without end is not read to its end', async () => {
    let sent = 0;
    const client = await before(
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const more = () => {
          while (!response.destroyed && response.write(' '.repeat(65_536))) sent += 65_536;
        };
        response.on('drain', more);
        more();
      },
      { maxAnswerBytes: 1_000_000 },
    );
    expect(await failure(client.queues.list())).toMatchObject({
      code: 'unexpected_answer',
      details: { maxAnswerBytes: 1_000_000 },
    });
    expect(sent).toBeLessThan(100_000_000);
  });

  test('no answer, or one that comes drop by drop, is over after the time limit', async () => {
    const silent = await before(() => {}, { timeoutMs: 100, deadlineMs: 350 });
    expect(await failure(silent.queues.list())).toMatchObject({ code: 'unreachable' });
    const drops = await before(
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const drop = setInterval(() => (response.destroyed ? clearInterval(drop) : response.write(' ')), 10);
      },
      { timeoutMs: 200, deadlineMs: 500 },
    );
    const { code, message } = await failure(drops.queues.list({}, { repeat: false }));
    expect({ code, message }).toEqual({ code: 'unreachable', message: 'No answer within 200 ms.' });
  });

  test('what is no HTTP at all, and nobody at the address', async () => {
    const tcp = createTcp((socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'));
    await new Promise<void>((done) => tcp.listen(0, '127.0.0.1', done));
    running.push(tcp);
    const url = `http://127.0.0.1:${(tcp.address() as { port: number }).port}`;
    expect(await failure(new RecoupClient({ url, deadlineMs: 300 }).queues.list())).toMatchObject({
      code: 'unreachable',
    });
    const nobody = new RecoupClient({ url: 'http://127.0.0.1:9', deadlineMs: 300 });
    expect(await failure(nobody.queues.list())).toMatchObject({ code: 'unreachable', status: 0 });
  });
});

describe('streams', () => {
  const stream = (type: string, text: string): RequestListener => {
    return (_request, response) => void response.writeHead(200, { 'content-type': type }).end(text);
  };

  test('a problem in the middle is thrown; what is no JSON too; a line without end is not kept', async () => {
    const problem = '{"code":"internal","status":500,"detail":"went wrong"}';
    const progress = '{"done":1,"of":2,"ended":false}\n';
    const redrive = (client: RecoupClient) => failure(collect(client.deadLetters.redriveAll({ confirm: 2 })));
    const broken = await before(stream('application/x-ndjson', `${progress}{"error":${problem}}\n`));
    expect(await redrive(broken)).toMatchObject({ code: 'internal', status: 500, message: 'went wrong' });
    const odd = await before(stream('application/x-ndjson', `${progress}<html>\n`));
    expect(await redrive(odd)).toMatchObject({ code: 'unexpected_answer' });
    const short = await before(stream('application/x-ndjson', progress));
    expect(await redrive(short)).toMatchObject({ code: 'unreachable', message: 'The stream ended before its end.' });
    const long = await before(stream('application/x-ndjson', 'x'.repeat(200_000)), { maxAnswerBytes: 1000 });
    expect(await redrive(long)).toMatchObject({ code: 'unexpected_answer', details: { maxAnswerBytes: 1000 } });
    const page = await before(html(200));
    expect(await failure(page.feed.stream().next())).toMatchObject({ code: 'unexpected_answer' });
  });

  test('server-sent events as the standard has them: comments, several lines of data, CRLF, pieces of any size', async () => {
    const event = '{"kind":"entry","wallet":"ä"}';
    const [left, right] = [event.slice(0, 15), event.slice(15)];
    const text = `: hello\r\nretry: 1\r\n\r\nid: a\r\nevent: entry\r\ndata: ${left}\r\ndata:${right}\r\n\r\nid: b\ndata: ${event}\n\nid: c\ndata: {"cut":`;
    const asked: (string | undefined)[] = [];
    const client = await before(async (request, response) => {
      asked.push(request.url);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const byte of Buffer.from(text)) {
        response.write(Buffer.of(byte));
        if (byte === 10) await new Promise((done) => setImmediate(done));
      }
      response.end();
    });
    const items = [];
    for await (const item of client.feed.stream({ cursor: 'start' })) {
      items.push(item);
      if (items.length === 3) break;
    }
    expect(items.map(({ cursor }) => cursor)).toEqual(['a', 'b', 'a']);
    expect(items[1]!.event).toEqual({ kind: 'entry', wallet: 'ä' });
    expect(asked).toEqual(['/v1/feed/stream?cursor=start', '/v1/feed/stream?cursor=b']);
  });

  test('one that falls silent is cut and taken up again; one whose reader is slow is not', async () => {
    let asked = 0;
    const client = await before(
      (_request, response) => {
        asked += 1;
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('id: 1\ndata: {"n":1}\n\nid: 2\ndata: {"n":2}\n\n');
      },
      { timeoutMs: 100 },
    );
    let seen = 0;
    for await (const _ of client.feed.stream()) {
      seen += 1;
      if (seen === 1) await new Promise((done) => setTimeout(done, 400));
      if (seen === 2) expect(asked).toBe(1);
      if (seen === 3) break;
    }
    expect(asked).toBe(2);
  });
});

describe('requests that are too large', () => {
  let stand: Stand;
  beforeAll(async () => {
    stand = await Stand.start();
    return async () => void (await stand.close());
  });

  test.each([2_000_000, 20_000_000])('a payload of %i bytes is refused, not sent again and again', async (bytes) => {
    const wallet = await stand.wallet();
    const submit = { wallet, job: 'j', queue: 'q', price: 1, payload: 'x'.repeat(bytes) };
    const { code } = await failure(stand.client.jobs.submit(submit, { deadlineMs: 5000 }));
    expect(code).toBe(bytes < 4_000_000 ? 'invalid' : 'too_large');
    expect(await stand.ledger(wallet)).toEqual([]);
  });
});
