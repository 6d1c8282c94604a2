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

/** The input that goes on behind an item. A redrive cannot: what it has done, a repeat would be refused for. */
const RESUME: Partial<Record<StreamName, (last: never) => Record<string, unknown>>> = {
  'wallets.replay': ({ seq }: Output<'wallets.replay'>) => ({ afterSeq: seq }),
  'feed.stream': ({ cursor }: FeedItem) => ({ cursor }),
};

export async function* stream<N extends StreamName>(
  transport: Transport,
  name: N,
  input: Input<N>,
  options: CallOptions,
): AsyncGenerator<StreamItem<N>, void> {
  const row = rowOf(name);
  const kind = row.stream!;
  const resume = RESUME[name] as ((last: unknown) => Record<string, unknown>) | undefined;
  let from: Record<string, unknown> = input;
  // Who follows the feed follows it through outages, unless told how long one may last.
  const patience = new Patience(
    options,
    row.repeatable !== false,
    kind === 'sse' ? Number.POSITIVE_INFINITY : transport.options.deadlineMs,
  );
  for (;;) {
    const prepared = transport.prepare(requestOf(row, from), options);
    try {
      const opened = await transport.open(prepared, kind, options, patience.leftMs);
      try {
        let whole = name !== 'deadLetters.redriveAll';
        for await (const item of items(opened, kind, transport.options.maxAnswerBytes)) {
          if (resume) from = { ...from, ...resume(item) };
          whole ||= (item as Output<'deadLetters.redriveAll'>).ended;
          yield item as StreamItem<N>;
          patience.renew();
        }
        if (!whole) throw brokeOff();
      } finally {
        opened.end();
      }
      if (kind === 'ndjson') return;
      // The feed has no end: the server closes streams now and then, and another replica may go on.
      throw brokeOff();
    } catch (error) {
      await patience.pause(error);
    }
  }
}

const brokeOff = () => new RecoupError('unreachable', 'The stream ended before its end.', { status: 0 });

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
