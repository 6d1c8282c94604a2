// Streams as async iterators: JSON lines and server-sent events, taken up again where they broke off.
import { lines, parsed, refusal } from './answer.ts';
import { RecoupError } from './errors.ts';
import { type Input, type Output, requestOf, rowOf, type StreamName } from './operation.ts';
import { type CallOptions, type Opened, Patience, type Transport } from './transport.ts';

/** An event of the feed, and the cursor right behind it: keep it, and give it back to go on. */
export interface FeedItem {
  cursor: string;
  event: Output<'feed.stream'>;
}

export type StreamItem<N extends StreamName> = N extends 'feed.stream' ? FeedItem : Output<N>;

/** What is particular to a stream. */
interface Particulars {
  /** The input that goes on behind an item. Without it a stream that broke off is not taken up. */
  resume?(last: unknown): Record<string, unknown>;
  /**
   * Whether the stream may end where it would be taken up. What was cut off can look whole: fetch takes the end of a connection that
   * says `close` for the end of the answer, and so do proxies that speak HTTP/1.0.
   */
  whole(from: Readonly<Record<string, unknown>>, goal: number, last?: { ended?: boolean }): boolean;
}

const PARTICULARS: Record<StreamName, Particulars> = {
  'wallets.replay': {
    resume: (last) => ({ afterSeq: (last as Output<'wallets.replay'>).seq }),
    whole: ({ afterSeq }, goal) => Number(afterSeq ?? 0) >= goal,
  },
  // What it has done, a repeat would be refused for.
  'deadLetters.redriveAll': {
    whole: (_from, _goal, last) => last?.ended === true,
  },
  // A repeat would ask once more.
  'probes.recheck': { whole: (_from, _goal, last) => last?.ended === true },
  // It has no end: the service closes it now and then, and another replica may go on.
  'feed.stream': { resume: (last) => ({ cursor: (last as FeedItem).cursor }), whole: () => false },
};

export async function* stream<N extends StreamName>(
  transport: Transport,
  name: N,
  input: Input<N>,
  options: CallOptions,
): AsyncGenerator<StreamItem<N>, void> {
  const row = rowOf(name);
  const kind = row.stream!;
  const { resume, whole } = PARTICULARS[name];
  let from: Record<string, unknown> = input;
  const goal = name === 'wallets.replay' ? await lastSeq(transport, from.wallet, options) : 0;
  let last: StreamItem<N> | undefined;
  // Who follows the feed follows it through outages, unless told how long one may last.
  const deadlineMs = kind === 'sse' ? Number.POSITIVE_INFINITY : transport.options.deadlineMs;
  const patience = new Patience(options, row.repeatable !== false, deadlineMs);
  for (;;) {
    const prepared = transport.prepare(requestOf(row, from), options);
    try {
      const opened = await transport.open(prepared, kind, options, patience.leftMs);
      try {
        for await (const item of items(opened, kind, transport.options.maxAnswerBytes)) {
          last = item as StreamItem<N>;
          if (resume) from = { ...from, ...resume(last) };
          yield last;
          patience.renew();
        }
      } finally {
        opened.end();
      }
      if (whole(from, goal, last as { ended?: boolean })) return;
      throw new RecoupError('unreachable', 'The stream ended before its end.', { status: 0 });
    } catch (error) {
      await patience.pause(error);
    }
  }
}

/** How far a replay that begins now has to go, at least. */
async function lastSeq(transport: Transport, wallet: unknown, options: CallOptions): Promise<number> {
  const request = requestOf(rowOf('wallets.balance'), { wallet });
  const balance = (await transport.call(request, options, true)) as { lastSeq: number };
  return balance.lastSeq;
}

async function* items(opened: Opened, kind: 'sse' | 'ndjson', maxBytes: number): AsyncGenerator<unknown> {
  const { response } = opened;
  const texts = lines(opened, maxBytes);
  if (kind === 'sse') {
    for await (const { id, event, data } of events(texts)) {
      const value = whole(data, response);
      if (event !== 'error') yield { cursor: id, event: value };
    }
  } else for await (const line of texts) if (line !== '') yield whole(line, response);
}

/** One object of a stream; the last one may say why there are no more. */
function whole(text: string, response: Response): Record<string, unknown> {
  const value = parsed(text);
  if (!value) {
    const { status } = response;
    throw new RecoupError('unexpected_answer', 'A part of the stream is not a JSON object.', { status });
  }
  const problem = value.error as Record<string, unknown> | undefined;
  if (typeof problem?.code === 'string') throw refusal(problem, response);
  return value;
}

interface ServerSent {
  id: string;
  event: string;
  data: string;
}

/** Server-sent events (the WHATWG's rules, without the end of line CR, which no server of ours writes). */
async function* events(texts: AsyncIterable<string>): AsyncGenerator<ServerSent> {
  let id = '';
  let event = '';
  let data: string[] = [];
  for await (const line of texts) {
    if (line === '') {
      if (data.length > 0) yield { id, event, data: data.join('\n') };
      event = '';
      data = [];
      continue;
    }
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') data.push(value);
    else if (field === 'event') event = value;
    else if (field === 'id') id = value;
  }
}
