// `recoup start`: the service on a database, or on one of its own, until it is told to stop.
import { Refusal } from 'recoup';
import type { Rules } from 'recoup/decoders';
import { type Service, startService } from '../service.ts';
import { startTracing } from '../tracing/sdk.ts';
import type { Output } from './output.ts';
import type { Settings } from './settings.ts';
import { database, rulesOf } from './target.ts';

function serviceOptions(settings: Settings, url: string, decoderRules: Rules | undefined) {
  const { schema, pooler, maxConnections, lockTimeoutMs, pollMs, pruneAfterMs, sweep, publicUrl, alertIdleMs } =
    settings;
  const opened = {
    schema: schema!,
    pooler: pooler!,
    maxConnections: maxConnections!,
    lockTimeoutMs: lockTimeoutMs!,
    pollMs: pollMs!,
    sweep: sweep!,
    alertBlockedMs: settings.alertBlockedMs!,
  };
  return {
    open: {
      connection: url,
      migrate: settings.migrate!,
      ...opened,
      ...(pruneAfterMs === undefined ? {} : { pruneAfterMs }),
      ...(alertIdleMs === undefined ? {} : { alertIdleMs }),
      ...(decoderRules === undefined ? {} : { decoderRules }),
    },
    bind: settings.bind!,
    port: settings.port!,
    hosts: settings.hosts!,
    requireKeys: settings.requireKeys!,
    insecure: settings.insecure!,
    maxWaiting: settings.maxWaiting!,
    stopDelayMs: settings.stopDelayMs!,
    webhooksToPrivate: settings.webhooksToPrivate!,
    ...(settings.probeCredentials === undefined ? {} : { probeCredentials: settings.probeCredentials }),
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(settings.verifyEveryMs === undefined ? {} : { verifyEveryMs: settings.verifyEveryMs }),
    webhookSecrets: {
      replicate: settings.webhookReplicate!,
      generic: settings.webhookGeneric!,
      fal: settings.webhookFal!,
    },
    paymentSecrets: { stripe: settings.paymentStripe!, generic: settings.webhookGeneric! },
    server: { logger: settings.logLevel === 'silent' ? false : { level: settings.logLevel! } },
  };
}

/** The command that makes the first key, for the database that was meant. */
function withFlags(error: unknown, { databaseUrl, dataDir, schema }: Settings): unknown {
  if (!(error instanceof Refusal) || error.code !== 'keys_required') return error;
  // The URL holds a password: it is named, not repeated.
  const where = databaseUrl === undefined ? ` --data-dir ${JSON.stringify(dataDir)}` : ' --database-url … (as here)';
  return new Refusal(error.code, `${error.message}${where} --schema ${schema}`, error.details);
}

/** Where the console is; where keys are asked for on loopback, with a link that opens it once. */
function consoleLine({ url, sessions }: Service, requireKeys: boolean): string {
  const token = requireKeys ? sessions.link() : null;
  if (token === null) return `The console: ${url}/`;
  return `The console, once and within ten minutes: ${url}/sign-in#${token}`;
}

/** What still holds the process when everything is closed, such as a collector that does not answer, goes this long after. */
const LINGER_MS = 100;

/** Resolves when a signal has stopped it. A second signal stops it now. */
export async function runStart(settings: Settings, output: Output): Promise<void> {
  const rules = await rulesOf(settings);
  const tracing = settings.tracing ? await startTracing() : undefined;
  const { url, stop, announce } = await database(settings, output, { keep: true });
  try {
    const options = { ...serviceOptions(settings, url, rules), ...(tracing ? { tracing } : {}) };
    const service = await startService(options).catch((error: unknown) => {
      throw withFlags(error, settings);
    });
    await announce(service.url);
    output.err(`Recoup serves ${service.url} (OpenAPI: ${service.url}/openapi.json)`);
    output.err(consoleLine(service, settings.requireKeys!));
    if (settings.insecure) output.err('It serves everybody without a key: --insecure was given.');
    await told(() => {
      output.err('Stopping: what runs may finish. Once more stops it now.');
      return service.close().then(() => tracing?.close());
    });
  } finally {
    await stop();
    setTimeout(() => process.exit(), LINGER_MS).unref();
  }
}

const atOnce = (): never => {
  throw new Refusal('closed', 'Stopped at once; what was running was cut off.');
};

/**
 * Waits for SIGTERM or SIGINT and runs what closes; a second signal hurries it, or ends the process with an error. Ends too
 * when `fatal` rejects.
 */
export function told(close: () => Promise<void>, hurry: () => void = atOnce, fatal?: Promise<never>): Promise<void> {
  return new Promise<void>((done, fail) => {
    let closing = false;
    const onSignal = () => {
      try {
        if (closing) return hurry();
        closing = true;
        close().then(done, fail);
      } catch (error) {
        fail(error);
      }
    };
    fatal?.catch(fail);
    process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  });
}
