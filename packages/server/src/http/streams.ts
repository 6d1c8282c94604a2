// Streams: server-sent events with heartbeats, and JSON lines; written as fast as they are read, ended with the signal.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { StreamEvent } from '../operations/operation.ts';

export const HEARTBEAT_MS = 15_000;
/** Then a stream ends and its client resumes: with a key that may have been revoked meanwhile, at a replica that may be less busy. */
export const MAX_STREAM_MS = 900_000;
const TYPES = { sse: 'text/event-stream', ndjson: 'application/x-ndjson' } as const;

export interface StreamOptions {
  kind: keyof typeof TYPES;
  headers: Readonly<Record<string, string>>;
  signal: AbortSignal;
  heartbeatMs: number;
  maxMs: number;
  /** What to tell of an error that comes in the middle. */
  problem(error: unknown): unknown;
}

/** Writes what the events say. The first of them is already there: what refuses, refuses before the status is sent. */
export async function writeStream(
  response: ServerResponse,
  first: IteratorResult<StreamEvent>,
  rest: AsyncIterator<StreamEvent>,
  { kind, headers, signal, heartbeatMs, maxMs, problem }: StreamOptions,
): Promise<void> {
  const fixed = { 'content-type': TYPES[kind], 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
  response.writeHead(200, { ...headers, ...fixed, connection: 'close' });
  const write = async (text: string) => {
    if (!response.write(text)) await once(response, 'drain', { signal });
  };
  const heartbeat =
    kind === 'sse'
      ? setInterval(() => response.writableNeedDrain || response.write(': alive\n\n'), heartbeatMs)
      : undefined;
  const end = performance.now() + maxMs;
  let whole = false;
  try {
    if (kind === 'sse') await write('retry: 2000\n\n');
    let next = first;
    for (; !next.done && !signal.aborted && performance.now() < end; next = await rest.next()) {
      if (next.value.event !== 'idle') await write(textOf(kind, next.value));
    }
    whole = next.done === true && !signal.aborted;
  } catch (error) {
    if (!signal.aborted) await write(textOf(kind, { event: 'error', data: { error: problem(error) } })).catch(() => {});
  } finally {
    clearInterval(heartbeat);
    await rest.return?.();
    // A client that does not read what is left must not hold up a server that closes: it resumes elsewhere. And lines
    // that are not all of them must not look as if they were: they break off.
    const cutOff = signal.aborted && (response.writableNeedDrain || (kind === 'ndjson' && !whole));
    if (cutOff) response.destroy();
    else response.end();
  }
}

function textOf(kind: StreamOptions['kind'], { id, event, data }: StreamEvent): string {
  const json = JSON.stringify(data);
  if (kind === 'ndjson') return `${json}\n`;
  return `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}data: ${json}\n\n`;
}
