// recoup/opentelemetry: a tracer for open() that speaks OpenTelemetry. Takes the API you use; nothing is installed by it.
import type * as Api from '@opentelemetry/api';
import type { Tracer } from './db/tracing.ts';
import { TRACEPARENT } from './input.ts';

export type { Begun, EndSpan, TracedJob, Tracer } from './db/tracing.ts';

type Otel = Pick<typeof Api, 'trace' | 'context' | 'SpanKind' | 'SpanStatusCode' | 'ROOT_CONTEXT'>;

/** A traceparent as the context of a span elsewhere; undefined where it is none. */
export function spanContextOf(traceparent: string | null | undefined): Api.SpanContext | undefined {
  if (traceparent === null || traceparent === undefined || !TRACEPARENT.test(traceparent)) return undefined;
  const [, traceId, spanId, flags] = traceparent.split('-') as [string, string, string, string];
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
}

/** The traceparent of a span's context; undefined where it is not valid, as without an SDK. */
export function traceparentOf(context: Api.SpanContext | undefined): string | undefined {
  if (context === undefined) return undefined;
  const text = `00-${context.traceId}-${context.spanId}-${context.traceFlags.toString(16).padStart(2, '0')}`;
  return TRACEPARENT.test(text) ? text : undefined;
}

/**
 * Spans for transitions (`job.submit` as `send QUEUE`, `job.lease` as `receive QUEUE`) and for handlers (`process QUEUE`),
 * with the names of the messaging conventions. They carry ids, counts and outcomes; no payload, result, reason or message.
 */
export function openTelemetry(api: Otel): Tracer {
  const { trace, context, SpanKind, SpanStatusCode, ROOT_CONTEXT } = api;
  const tracer = trace.getTracer('recoup');
  return {
    begin: (transition, { queue, count }) => {
      const verb = typeof queue === 'string' ? OF_QUEUES[transition] : undefined;
      const attributes: Api.Attributes = { 'recoup.transition': transition };
      if (verb !== undefined) Object.assign(attributes, messaging(verb, queue as string));
      if (count !== 1) attributes['messaging.batch.message_count'] = count;
      const name = verb === undefined ? transition : `${verb} ${queue}`;
      const span = tracer.startSpan(name, { kind: verb ? SpanKind.CLIENT : SpanKind.INTERNAL, attributes });
      return (outcome, failed) => {
        span.setAttribute('recoup.outcome', outcome);
        if (failed) span.setAttribute('error.type', outcome).setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      };
    },
    handle: (job, run) => {
      const { wallet, id, attempt, traceparent } = job;
      const queue = job.queue ?? '';
      const submitter = spanContextOf(traceparent);
      const ids = { 'messaging.message.id': id, 'recoup.wallet': wallet, 'recoup.attempt': attempt };
      const span = tracer.startSpan(
        `process ${queue}`,
        {
          kind: SpanKind.CONSUMER,
          attributes: { ...messaging('process', queue), ...ids },
          // A link and not the parent: a job may run hours later, and more than once.
          links: submitter ? [{ context: submitter }] : [],
        },
        ROOT_CONTEXT,
      );
      return context.with(trace.setSpan(ROOT_CONTEXT, span), async () => {
        const threw = await run();
        if (threw !== undefined && nameOf(threw) !== 'Release') {
          span.setAttribute('error.type', nameOf(threw)).setStatus({ code: SpanStatusCode.ERROR });
        }
        span.end();
        return threw;
      });
    },
    traceparent: () => traceparentOf(trace.getSpanContext(context.active())),
  };
}

/** The transitions that are a message's to a queue, with the operation that the conventions know. */
const OF_QUEUES: Readonly<Record<string, string>> = { 'job.submit': 'send', 'job.lease': 'receive' };

const messaging = (verb: string, queue: string): Api.Attributes => ({
  'messaging.system': 'recoup',
  'messaging.operation.name': verb,
  'messaging.operation.type': verb,
  'messaging.destination.name': queue,
});

/** The name alone: a message may hold what is not for everybody. */
const nameOf = (threw: unknown): string => (threw instanceof Error ? threw.name : typeof threw);
