// Where a command is carried out: on a database, in this process, or by a server over HTTP. The same operations either way.
import { type ErrorCode, errors, InvalidInput, open, Refusal } from 'recoup';
import type { Rules } from 'recoup/decoders';
import { startEmbedded } from '../embedded/embedded.ts';
import { EmbeddedError } from '../embedded/errors.ts';
import { keepEmbedded } from '../embedded/keep.ts';
import { Keys } from '../keys/keys.ts';
import { checkFields } from '../operations/check.ts';
import type { Context, Operation, StreamEvent } from '../operations/operation.ts';
import { requestOf } from '../operations/request.ts';
import { PaymentHooks } from '../payments/hooks.ts';
import { Callbacks } from '../webhooks/callbacks.ts';
import type { Output } from './output.ts';
import { readRulesFile } from './rules.ts';
import type { Settings } from './settings.ts';

type Input = Record<string, unknown>;

export interface Target {
  /** One answer, or the data of a stream, event by event. */
  ask(operation: Operation, input: Input, signal: AbortSignal): Promise<unknown> | AsyncIterable<unknown>;
  close(): Promise<void>;
}

/** The database that the settings name, or one of our own, with what stops it. `keep`: ours is started again where it dies. */
export async function database(
  settings: Settings,
  output: Output,
  { keep = false }: { keep?: boolean } = {},
): Promise<{ url: string; stop: () => Promise<void>; announce: (serves: string) => Promise<void> }> {
  // Through a server everything else goes; silently another database would be looked at.
  if (settings.server !== undefined)
    throw new InvalidInput('server', 'cannot be used here: this command works on a database itself (--database-url)');
  if (settings.databaseUrl !== undefined)
    return { url: settings.databaseUrl, stop: async () => {}, announce: async () => {} };
  const dataDir = settings.dataDir as string;
  const start = keep ? keepEmbedded : startEmbedded;
  const embedded = await start({ dataDir, onProgress: output.err }).catch((error: unknown) => {
    if (!(error instanceof EmbeddedError) || error.code !== 'data_directory_in_use') throw error;
    if (error.message.includes('--server')) throw error;
    const hint = 'Where that is recoup start, talk to it: --server with the address that it printed.';
    throw new EmbeddedError(error.code, `${error.message} ${hint}`);
  });
  return embedded;
}

/** The rules of the file that the settings name, checked. */
export async function rulesOf({ decoderRules }: Settings): Promise<Rules | undefined> {
  return decoderRules === undefined ? undefined : readRulesFile('decoderRules', decoderRules);
}

export async function openTarget(settings: Settings, output: Output): Promise<Target> {
  return settings.server === undefined ? local(settings, output) : remote(settings.server, settings.key);
}

async function local(settings: Settings, output: Output): Promise<Target> {
  const decoderRules = await rulesOf(settings);
  const { url, stop } = await database(settings, output);
  try {
    const { schema, pooler } = settings;
    const own = settings.databaseUrl === undefined;
    const recoup = await open({
      connection: url,
      schema: schema!,
      pooler: pooler!,
      sweep: false,
      migrate: own,
      ...(decoderRules && { decoderRules }),
    });
    const callbacks = new Callbacks(recoup, settings.publicUrl ? { publicUrl: settings.publicUrl } : {});
    const payments = new PaymentHooks(recoup);
    const caller = { key: null, scopes: ['admin'], customer: null } as const;
    return {
      ask: (operation, input, signal) => {
        checkFields(operation, input);
        const context: Context = { recoup, keys: new Keys(recoup), callbacks, payments, caller, signal };
        const answer = operation.run(context, input);
        return operation.stream ? data(answer as AsyncIterable<StreamEvent>) : answer;
      },
      close: async () => {
        await recoup.close();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function* data(events: AsyncIterable<StreamEvent>): AsyncGenerator<unknown> {
  for await (const { event, data } of events) if (event !== 'idle') yield data;
}

function remote(server: string, key: string | undefined): Target {
  const base = server.replace(/\/+$/, '');
  const send = async (operation: Operation, input: Input, signal: AbortSignal): Promise<Response> => {
    for (const name of Object.keys(operation.params.properties)) {
      // Nobody would hear of it: the address would be another one.
      if (/^\.\.?$/.test(String(input[name]))) throw new InvalidInput(name, 'must not be "." or ".."');
    }
    const { method, path, body } = requestOf(operation, input);
    const headers: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
    if (key !== undefined) headers.authorization = `Bearer ${key}`;
    const request = fetch(`${base}${path}`, { method, headers, signal, ...(body === undefined ? {} : { body }) });
    const response = await heard(request, signal, `The server ${base} does not answer.`);
    if (!response.ok) throw await refusalOf(response);
    return response;
  };
  const answer = async (operation: Operation, input: Input, signal: AbortSignal): Promise<unknown> => {
    const response = await send(operation, input, signal);
    if (!isOf(response, 'application/json')) throw await notRecoup(response);
    return heard(response.json(), signal, `The answer of the server ${base} broke off.`);
  };
  return {
    ask: (operation, input, signal) =>
      operation.stream ? lines(send(operation, input, signal), operation.stream) : answer(operation, input, signal),
    close: async () => {},
  };
}

/** What comes of a step of a request; where nothing does, a refusal: the same call may be answered later. */
async function heard<T>(step: Promise<T>, signal: AbortSignal, otherwise: string): Promise<T> {
  try {
    return await step;
  } catch (error) {
    if (signal.aborted) throw error;
    throw new Refusal('database_unavailable', otherwise, {}, { cause: error });
  }
}

const isOf = ({ headers }: Response, type: string) => (headers.get('content-type') ?? '').startsWith(type);

/** A proxy's page, or another service: nothing is known of the call, and what stands in front may be gone the next time. */
async function notRecoup(response: Response): Promise<Refusal> {
  await response.body?.cancel().catch(() => {});
  return new Refusal('database_unavailable', `The server answered ${response.status}, not as Recoup does.`);
}

/** The refusal that a problem tells of. */
async function refusalOf(response: Response): Promise<Refusal> {
  if (!isOf(response, 'application/problem+json')) return notRecoup(response);
  const problem = (await response.json().catch(() => null)) as Record<string, unknown> | null;
  const { code, detail, type, title, status, instance, requestId, ...details } = problem ?? {};
  if (typeof code !== 'string' || !Object.hasOwn(errors, code)) return notRecoup(response);
  return new Refusal(code as ErrorCode, String(detail), details);
}

async function* lines(response: Promise<Response>, kind: 'sse' | 'ndjson'): AsyncGenerator<unknown> {
  const { body } = await response;
  if (!body) throw new InvalidInput('server', 'answered nothing');
  let rest = '';
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    const parts = (rest + chunk).split('\n');
    rest = parts.pop() ?? '';
    for (const line of parts) {
      const json = kind === 'ndjson' ? line : /^data: (.*)$/.exec(line)?.[1];
      if (json) yield JSON.parse(json);
    }
  }
}
