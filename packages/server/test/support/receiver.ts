// A receiver of webhooks on loopback: keeps what came, answers as a test says, verifies signatures by code of its own.
import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  id: string;
  headers: IncomingHttpHeaders;
  body: string;
}

type Answering = (received: Received, response: ServerResponse) => void;
const ok: Answering = (_, response) => void response.writeHead(204).end();

export class Receiver {
  readonly received: Received[] = [];
  readonly url: string;
  /** What it does with what comes; 204 unless set. */
  answer: Answering = ok;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('error', () => {});
      request.on('end', () => {
        const received = {
          id: String(request.headers['webhook-id']),
          headers: request.headers,
          body: Buffer.concat(chunks).toString(),
        };
        this.received.push(received);
        this.answer(received, response);
      });
    });
  }

  static async start(): Promise<Receiver> {
    const server = createServer();
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return new Receiver(server);
  }

  /** What came, by kind. */
  get kinds(): string[] {
    return this.received.map(({ body }) => (JSON.parse(body) as { type: string }).type).sort();
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }
}

/** Whether the signature fits, as the specification says it: HMAC-SHA256 of id, timestamp and body, by the bytes of the secret. */
export function isSigned({ headers, body }: Received, secret: string): boolean {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const right = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
  const age = Math.abs(Date.now() / 1000 - Number(headers['webhook-timestamp']));
  return age < 300 && String(headers['webhook-signature']).split(' ').includes(right);
}
