// A collector for tests: takes OTLP over HTTP with JSON and keeps the spans.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedSpan {
  name: string;
  kind: number;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  attributes: Record<string, string | number>;
  links: { traceId: string; spanId: string }[];
  status: { code?: number };
}

interface Attribute {
  key: string;
  value: { stringValue?: string; intValue?: string | number };
}

const flat = (list: Attribute[] = []) =>
  Object.fromEntries(list.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]));

export interface Receiver {
  url: string;
  spans: ReceivedSpan[];
  resource: Record<string, string | number>;
  /** Everything as it came. */
  raw: string;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const receiver = { spans: [], resource: {}, raw: '' } as unknown as Receiver;
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    receiver.raw += text;
    for (const { resource, scopeSpans } of JSON.parse(text).resourceSpans) {
      receiver.resource = flat(resource.attributes);
      for (const { spans } of scopeSpans) {
        for (const span of spans)
          receiver.spans.push({ ...span, attributes: flat(span.attributes), links: span.links ?? [] });
      }
    }
    response.writeHead(request.url === '/v1/traces' ? 200 : 404, { 'content-type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  receiver.close = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return receiver;
}
