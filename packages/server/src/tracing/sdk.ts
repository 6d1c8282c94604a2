// Loads the OpenTelemetry SDK where tracing is switched on, and says what to install where it is not there.
import type * as Api from '@opentelemetry/api';
import { InvalidInput } from 'recoup';

/** What tracing needs: optional packages, since they weigh more than the service. */
export const TRACING_PACKAGES = [
  '@opentelemetry/api',
  '@opentelemetry/sdk-trace-node',
  '@opentelemetry/resources',
  '@opentelemetry/exporter-trace-otlp-http',
] as const;

export interface Tracing {
  readonly api: typeof Api;
  /** Sends what is waiting to be sent; at most a few seconds. */
  close(): Promise<void>;
}

const CLOSE_MS = 3000;

/**
 * Starts the SDK. Where to and how much is set by OpenTelemetry's own variables, which the SDK reads:
 * OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS, OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER and the like. Refuses
 * `invalid`.
 */
export async function startTracing(): Promise<Tracing> {
  const { api, sdk, resources, exporter } = await load();
  const named = resources.resourceFromAttributes({ 'service.name': 'recoup' });
  const told = resources.detectResources({ detectors: [resources.envDetector] });
  const provider = new sdk.NodeTracerProvider({
    resource: resources.defaultResource().merge(named).merge(told),
    spanProcessors: [new sdk.BatchSpanProcessor(new exporter.OTLPTraceExporter())],
  });
  provider.register();
  const close = async () => {
    const late = new Promise<void>((done) => setTimeout(done, CLOSE_MS).unref());
    // A collector that does not answer must not keep the process.
    await Promise.race([provider.shutdown().catch(() => {}), late]);
    api.trace.disable();
    api.context.disable();
    api.propagation.disable();
  };
  return { api, close };
}

async function load() {
  try {
    const [api, sdk, resources, exporter] = await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace-node'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/exporter-trace-otlp-http'),
    ]);
    return { api, sdk, resources, exporter };
  } catch (error) {
    if ((error as { code?: string }).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new InvalidInput('tracing', `needs packages that are not there: npm install ${TRACING_PACKAGES.join(' ')}`);
  }
}
