// Receives the upstream's callbacks: POST /WALLET/JOB/ATTEMPT becomes a signal about that attempt.
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Refusal } from 'recoup';
import type { Signal } from './design.ts';

export interface Callbacks extends AsyncDisposable {
  /** Wallet, job and attempt are added to it. */
  readonly url: string;
}

/**
 * Starts on a free port of the loopback. A signal that cannot be taken now is answered 503: the upstream sends it again.
 * `onError` hears of one that cannot be taken at all.
 */
export async function receiveCallbacks(
  take: (signal: Signal) => Promise<void>,
  onError: (error: Error) => void,
): Promise<Callbacks> {
  const server = createServer(async (request, response) => {
    try {
      await take(await signalOf(request));
      response.writeHead(200).end('{}');
    } catch (error) {
      if (!(error instanceof Refusal && error.retryable)) onError(error as Error);
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

async function signalOf(request: IncomingMessage): Promise<Signal> {
  const [, wallet = '', job = '', attempt] = (request.url ?? '').split('/').map(decodeURIComponent);
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += chunk as string;
  const { status, error } = JSON.parse(body) as { status: Signal['status']; error?: string };
  const reason = error === undefined ? {} : { reason: `callback: ${error}` };
  return { wallet, job, attempt: Number(attempt), status, ...reason };
}
