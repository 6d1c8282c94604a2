// Receives the upstream's callbacks: POST /WALLET/JOB/ATTEMPT becomes a signal about that attempt.
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Signal } from './design.ts';

export interface Callbacks extends AsyncDisposable {
  /** Wallet, job and attempt are added to it. */
  readonly url: string;
}

/** Starts on a free port of the loopback. What `signal` cannot take now is answered 503: the upstream sends it again. */
export async function receiveCallbacks(signal: (signal: Signal) => Promise<void>): Promise<Callbacks> {
  const server = createServer(async (request, response) => {
    try {
      const [, wallet, job, attempt] = (request.url ?? '').split('/').map(decodeURIComponent);
      const { status, error } = await bodyOf(request);
      const reason = error === undefined ? {} : { reason: `callback: ${error}` };
      await signal({ wallet: wallet!, job: job!, attempt: Number(attempt), status, ...reason });
      response.writeHead(200).end('{}');
    } catch {
      response.writeHead(503).end('{}');
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((done) => server.close(done));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<{ status: Signal['status']; error?: string }> {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += chunk as string;
  return JSON.parse(body);
}
