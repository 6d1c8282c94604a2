// Connections below requests: which are open, and what is answered to bytes that are no request.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Refusal } from 'recoup';
import { PROBLEM_TYPE, problemOf } from './problem.ts';

/** What each connection still owes an answer to, oldest first. */
const unanswered = new WeakMap<Socket, Set<IncomingMessage>>();

/** Follows the connections of a server; the set holds those that are open. */
export function watchConnections(server: Server): ReadonlySet<Socket> {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    unanswered.set(socket, new Set());
    socket.once('close', () => open.delete(socket));
  });
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const owed = unanswered.get(request.socket);
    owed?.add(request);
    response.once('close', () => owed?.delete(request));
  });
  // An expectation that nobody knows may be ignored; Node would answer 417 with nothing.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    server.emit('request', request, response);
  });
  return open;
}

/** What is not HTTP, is too large or too slow before there is a request, or in the middle of one. */
export function answerBroken(error: Error & { code?: string }, socket: Socket): void {
  const owed = [...(unanswered.get(socket) ?? [])];
  // An answer now would be taken for that to an earlier request, which is complete and may have changed something.
  const misread = owed.some((request) => request.complete) || owed.length > 1;
  if (error.code === 'ECONNRESET' || !socket.writable || misread) {
    socket.destroy();
    return;
  }
  const code =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? 'headers_too_large'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? 'request_timeout'
        : 'invalid';
  const facts = code === 'invalid' ? { field: 'request', rule: 'must be valid HTTP/1.1' } : {};
  const refusal = new Refusal(code, code === 'invalid' ? 'request: must be valid HTTP/1.1' : undefined, facts);
  const id = randomUUID();
  const body = JSON.stringify(problemOf(refusal, '*', id));
  const head = [
    `HTTP/1.1 ${refusal.status} Refused`,
    `content-type: ${PROBLEM_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${id}`,
    'cache-control: no-store',
    'x-content-type-options: nosniff',
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
