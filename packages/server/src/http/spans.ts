// Spans of HTTP requests, named by OpenTelemetry's conventions; without tracing, the header's trace context alone.
import type * as Api from '@opentelemetry/api';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { spanContextOf } from 'recoup/opentelemetry';

declare module 'fastify' {
  interface FastifyRequest {
    span: Api.Span | null;
  }
}

/** The `traceparent` of a request as it is kept with a job. One that is not valid is no reason to refuse the request. */
export function traceparentOf({ headers }: FastifyRequest): string | undefined {
  const given = headers.traceparent;
  if (typeof given !== 'string') return undefined;
  // A later version may have more behind what this one knows; what is passed on says the version that was understood.
  const known = /^(?!00|ff)[0-9a-f]{2}(-.{52})(?:-|$)/.exec(given)?.[1];
  const text = known === undefined ? given : `00${known}`;
  return spanContextOf(text) && text;
}

export class Spans {
  readonly #api: typeof Api;
  readonly #tracer: Api.Tracer;

  constructor(api: typeof Api) {
    this.#api = api;
    this.#tracer = api.trace.getTracer('@recoup/server');
  }

  /** A span for each request of an operation, from its first byte to its last, a child of the caller's. */
  addHooks(server: FastifyInstance): void {
    const { SpanKind, SpanStatusCode } = this.#api;
    server.addHook('onRequest', (request, _reply, done) => {
      const { url: route, config } = request.routeOptions;
      // Probes and scrapes are not traced, nor what has no address here.
      if (!config.operation || route === undefined) return done();
      const attributes = {
        'http.request.method': request.method,
        'url.scheme': 'http',
        // The address as it came may hold a signed URL: the route stands for it.
        'url.path': route,
        'network.protocol.version': request.raw.httpVersion,
        'http.route': route,
        'recoup.operation': config.operation.name,
        'recoup.request_id': request.id,
      };
      const name = `${request.method} ${route}`;
      request.span = this.#tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, this.#caller(request));
      done();
    });
    server.addHook('onResponse', (request, reply, done) => {
      const status = reply.raw.statusCode;
      request.span?.setAttribute('http.response.status_code', status);
      // A refusal is the caller's business; only what the server is to blame for is an error of its span.
      if (status >= 500) {
        request.span?.setAttribute('error.type', String(status)).setStatus({ code: SpanStatusCode.ERROR });
      }
      request.span?.end();
      done();
    });
  }

  /** Runs what a request asks for inside of its span: transitions become its children, jobs carry its context. */
  within<T>({ span }: FastifyRequest, work: () => T): T {
    const { context, trace } = this.#api;
    return span === null ? work() : context.with(trace.setSpan(context.active(), span), work);
  }

  #caller(request: FastifyRequest): Api.Context {
    const { ROOT_CONTEXT, trace } = this.#api;
    const caller = spanContextOf(traceparentOf(request));
    return caller ? trace.setSpanContext(ROOT_CONTEXT, caller) : ROOT_CONTEXT;
  }
}
