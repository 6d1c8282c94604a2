// One delivery sent: signed after Standard Webhooks, to a checked address, without redirects, within its time.
import { request as http, type IncomingMessage } from 'node:http';
import { request as https } from 'node:https';
import type { DeliveryReport, LeasedDelivery } from 'recoup';
import { Webhook } from 'standardwebhooks';
import { retryAfterOf } from '../work/retry-after.ts';
import { addressesOf, only } from './addresses.ts';

export interface PostOptions {
  allowPrivate: boolean;
  timeoutMs: number;
}

/** What is read of an answer: enough to see what somebody said. */
const MAX_BODY = 2048;
const MAX_SAID = 200;

/** Sends it, and tells how that went; never throws. */
export async function deliver(delivery: LeasedDelivery, options: PostOptions): Promise<DeliveryReport> {
  const { id, attempt } = delivery;
  try {
    const { status, retryAfter, said } = await post(delivery, options);
    if (status >= 200 && status < 300) return { id, attempt, delivered: true, status };
    const retryAfterMs = retryAfterOf(retryAfter);
    const moved = status >= 300 && status < 400 ? ', and redirects are not followed' : '';
    return {
      ...{ id, attempt, delivered: false, status, gone: status === 410 },
      error: `status ${status}${moved}${said === '' ? '' : `: ${said}`}`,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    };
  } catch (error) {
    return { id, attempt, delivered: false, error: reasonOf(error as NodeJS.ErrnoException, options) };
  }
}

function headersOf({ id, body, secrets }: LeasedDelivery): Record<string, string | number> {
  const now = new Date();
  return {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'user-agent': 'Recoup',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, now, body)).join(' '),
  };
}

interface Answer {
  status: number;
  retryAfter: string | null;
  said: string;
}

async function post(delivery: LeasedDelivery, { allowPrivate, timeoutMs }: PostOptions): Promise<Answer> {
  const signal = AbortSignal.timeout(timeoutMs);
  const url = new URL(delivery.url);
  // A look-up cannot be ended: it is left to itself.
  const addresses = await Promise.race([addressesOf(url.hostname, allowPrivate), aborted(signal)]);
  const { promise, resolve, reject } = withResolvers<IncomingMessage>();
  const send = url.protocol === 'https:' ? https : http;
  // A connection of its own: one that is kept could have been closed by the other side meanwhile, and the try would be lost.
  const options = { method: 'POST', headers: headersOf(delivery), agent: false, lookup: only(addresses), signal };
  const sending = send(url, options, resolve).on('error', reject);
  sending.end(delivery.body);
  try {
    const response = await promise;
    const retryAfter = response.headers['retry-after'] ?? null;
    return { status: response.statusCode ?? 0, retryAfter, said: await beginningOf(response) };
  } finally {
    sending.destroy();
  }
}

/** The first words of a body. The status is known by now: whatever goes wrong here ends it. */
async function beginningOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= MAX_BODY) break;
    }
  } catch {
    // Cut off, or too slow.
  }
  const text = Buffer.concat(chunks).subarray(0, MAX_BODY).toString('utf8');
  return text
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_SAID);
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
}

/** As `Promise.withResolvers`, which Node has from 22 on. */
function withResolvers<T>() {
  let resolve!: (value: T) => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<T>((done, fail) => {
    [resolve, reject] = [done, fail];
  });
  return { promise, resolve, reject };
}

function reasonOf(error: NodeJS.ErrnoException, { timeoutMs }: PostOptions): string {
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return `no answer within ${timeoutMs / 1000} s`;
  return error.message || error.code || 'no answer';
}
