// Bytes to a server and what comes back: sent in the pieces and with the end that a case asks for, read as HTTP.
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export interface Heard {
  answers: Answer[];
  /** What came that is no HTTP answer, or half of one. */
  rest: string;
  /** Whether the server closed the connection before the patience was over. */
  closed: boolean;
}

export interface Sending {
  /** Pieces with a pause of some ms after each. */
  pieces: readonly (readonly [bytes: Buffer, pauseMs: number])[];
  /** `close`: says that nothing more comes; `leave`: says nothing; `cut`: is gone at once. */
  end: 'close' | 'leave' | 'cut';
  /** How long to wait for the connection to be closed. */
  patienceMs: number;
  /** Ends the wait once this says so: for streams and polls. */
  enough?: (soFar: string) => boolean;
}

export async function send(url: string, { pieces, end, patienceMs, enough }: Sending): Promise<Heard> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true, allowHalfOpen: true });
  let text = '';
  let closed = false;
  const over = new Promise<void>((done) => {
    socket.setEncoding('latin1');
    socket.on('data', (chunk) => {
      text += chunk;
      if (enough?.(text)) done();
    });
    socket.on('end', () => {
      closed = true;
      done();
    });
    // A server may close while we still send: what it said before counts.
    socket.on('error', () => {});
    socket.on('close', () => {
      closed = true;
      done();
    });
  });
  for (const [bytes, pauseMs] of pieces) {
    if (socket.destroyed || closed) break;
    if (bytes.length > 0) socket.write(bytes);
    if (pauseMs > 0) await sleep(pauseMs);
  }
  if (end === 'close') socket.end();
  if (end !== 'cut') await Promise.race([over, sleep(patienceMs, undefined, { ref: false })]);
  socket.destroy();
  const { answers, rest } = read(text);
  return { answers, rest, closed };
}

/** Answers as they stand behind one another. */
function read(text: string): { answers: Answer[]; rest: string } {
  const answers: Answer[] = [];
  let rest = text;
  for (;;) {
    const head = /^HTTP\/1\.[01] (\d{3})[^\r\n]*\r\n((?:[^\r\n]+\r\n)*)\r\n/.exec(rest);
    if (!head) return { answers, rest };
    const headers: Record<string, string> = {};
    for (const line of head[2]!.split('\r\n').filter(Boolean)) {
      const [name = '', ...value] = line.split(':');
      headers[name.toLowerCase()] = value.join(':').trim();
    }
    const status = Number(head[1]);
    const behind = rest.slice(head[0].length);
    const { body, length } = bodyOf(status, headers, behind);
    if (status >= 200) answers.push({ status, headers, body: Buffer.from(body, 'latin1').toString() });
    rest = behind.slice(length);
  }
}

function bodyOf(status: number, headers: Record<string, string>, behind: string): { body: string; length: number } {
  if (status < 200 || status === 204 || status === 304) return { body: '', length: 0 };
  if (headers['transfer-encoding'] === 'chunked') return chunks(behind);
  const length = headers['content-length'] === undefined ? behind.length : Number(headers['content-length']);
  // The answer to HEAD says a length and has no body: what follows is another answer, or nothing.
  if (behind === '' || behind.startsWith('HTTP/1.')) return { body: '', length: 0 };
  return { body: behind.slice(0, length), length };
}

function chunks(text: string): { body: string; length: number } {
  let body = '';
  let at = 0;
  for (;;) {
    const size = /^([0-9a-f]+)\r\n/i.exec(text.slice(at, at + 20));
    if (!size) return { body, length: at };
    const length = Number.parseInt(size[1]!, 16);
    at += size[0].length;
    body += text.slice(at, at + length);
    at += length + 2;
    if (length === 0) return { body, length: at };
  }
}
