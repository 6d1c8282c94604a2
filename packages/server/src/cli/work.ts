// `recoup work`: a worker without code: each job to a command or a URL, on a database or through a server, until it is told to stop.
import type { Command } from 'commander';
import { type Handler, InvalidInput, open, type Refusal, type WorkOptions } from 'recoup';
import { Worker } from 'recoup/worker';
import { operations } from '../operations/operations.ts';
import { EXIT, execCheck, execHandler } from '../work/exec.ts';
import { postHandler } from '../work/post.ts';
import { remoteContext } from '../work/remote.ts';
import type { Settings } from './settings.ts';
import { told } from './start.ts';
import { database, openTarget } from './target.ts';
import { integerOf, type Tools } from './tools.ts';

interface Given {
  queue: string;
  exec?: string;
  url?: string;
  header?: string[];
  check?: string;
  concurrency?: string;
  timeoutMs?: string;
  leaseMs?: string;
  drainMs?: string;
  graceMs?: string;
  name?: string;
}

const HELP = `
A command gets the payload as JSON on stdin, and RECOUP_WALLET, RECOUP_JOB, RECOUP_ATTEMPT, RECOUP_QUEUE,
RECOUP_EARLIER_ATTEMPT and RECOUP_EARLIER_REF in its environment. Its exit code says how it went:
  ${EXIT.succeeded}     it is done; stdout is the result, JSON or text
  ${EXIT.definitive}    it certainly failed, and would again: no further attempt
  ${EXIT.definitiveAgain}    it certainly failed, another attempt may help
  ${EXIT.release}    not now: given back, no failure is counted
  other it failed, presumably: the work may still turn up
It may write a JSON object to file descriptor 3: {"finalPrice", "upstreamRef", "retryAfterMs", "delayMs", "reason"}.
A URL gets the payload as a POST; 2xx is done. More: docs/command-line.md`;

export function addWork(program: Command, tools: Tools): void {
  program
    .command('work')
    .description('run the jobs of a queue with a command or a URL, until SIGTERM or Ctrl-C')
    .requiredOption('--queue <queue>', 'whose jobs')
    .option('--exec <command>', 'run this in a shell for each job')
    .option('--url <url>', 'post each job there')
    .option('--header <header>', 'with --url: "name: value", may be given again', collect)
    .option('--check <command>', 'asked before a job runs again: was it done after all? 0 yes, 75 still at it')
    .option('--concurrency <integer>', 'jobs at once; 10 unless set')
    .option('--timeout-ms <integer>', 'end a run that takes longer, as presumed failed')
    .option('--lease-ms <integer>', 'the length of the lease, which is kept by itself; the queue’s unless set')
    .option('--drain-ms <integer>', 'how long running jobs may finish after SIGTERM; 20000 unless set')
    .option('--grace-ms <integer>', 'how long a command may take to end after its SIGTERM; 1000 unless set')
    .option('--name <name>', 'the worker’s name in leases; host and process id unless set')
    .addHelpText('after', HELP)
    .action((given: Given) => work(tools, given));
}

const collect = (value: string, before: string[] = []) => [...before, value];

async function work(tools: Tools, given: Given): Promise<void> {
  tools.stop.leave();
  const { output } = tools;
  const handler = saying(handlerOf(given, output.err), output.err);
  const options = optionsOf(given, output.err);
  const { values } = tools.settings();
  const running =
    values.server === undefined
      ? await onDatabase(tools, values, given, handler, options)
      : await onServer(tools, values, given, handler, options);
  output.err(`Working on ${given.queue} as ${running.worker.name}. Ctrl-C or SIGTERM lets it finish.`);
  try {
    await told(
      () => {
        output.err(`Stopping: ${running.worker.running} jobs may finish. Once more stops now.`);
        return running.stop();
      },
      // What is cut off is given back; the commands are ended, not left behind.
      () => void running.worker.stop({ now: true }),
      running.fatal,
    );
  } finally {
    await running.close();
  }
}

function handlerOf(given: Given, onLine: (line: string) => void): Handler {
  if ((given.exec === undefined) === (given.url === undefined)) {
    throw new InvalidInput('--exec', 'one of the two is required: --exec <command>, or --url <url>');
  }
  if (given.exec !== undefined) return execHandler({ command: given.exec, killAfterMs: graceOf(given), onLine });
  const url = URL.canParse(given.url!) ? new URL(given.url!) : undefined;
  // One with a password is a request that cannot be made: each job would fail of it.
  if (!/^https?:\/\//.test(given.url!) || !url || url.username !== '' || url.password !== '')
    throw new InvalidInput('--url', 'must be http://… or https://…, without user and password: give them as --header');
  return postHandler({ url: given.url!, headers: headersOf(given.header ?? []) });
}

function headersOf(given: readonly string[]): Record<string, string> {
  const headers = new Headers();
  for (const header of given) {
    // A header without a colon has a name that no header takes.
    const [, name = '', value = ''] = /^([^:]+):\s*(.*)$/.exec(header) ?? [];
    try {
      headers.append(name, value);
    } catch {
      throw new InvalidInput('--header', 'must be "name: value"');
    }
  }
  return Object.fromEntries(headers);
}

const MAX_MS = 31_536_000_000;
const graceOf = ({ graceMs }: Given) => integerOf('--grace-ms', graceMs, 0, MAX_MS) ?? 1000;

function optionsOf(given: Given, onLine: (line: string) => void): WorkOptions {
  const { check, name } = given;
  const killAfterMs = graceOf(given);
  const numbers = {
    concurrency: integerOf('--concurrency', given.concurrency, 1, 500),
    timeoutMs: integerOf('--timeout-ms', given.timeoutMs, 1, MAX_MS),
    leaseMs: integerOf('--lease-ms', given.leaseMs, 100, 86_400_000),
    drainMs: integerOf('--drain-ms', given.drainMs, 0, MAX_MS),
    // A command that is killed has ended right after: its end is waited for, so that none outlives its report.
    graceMs: killAfterMs + 500,
  };
  return {
    ...(Object.fromEntries(Object.entries(numbers).filter(([, value]) => value !== undefined)) as WorkOptions),
    ...(name === undefined ? {} : { name }),
    ...(check === undefined ? {} : { check: execCheck({ command: check, killAfterMs, onLine }) }),
  };
}

/** One line on stderr for each run: ids and how it went, no content. */
function saying(handler: Handler, say: (line: string) => void): Handler {
  return async (work) => {
    const started = performance.now();
    const tell = (how: string) => {
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      say(`${work.wallet} ${work.id}, attempt ${work.attempt}: ${how} after ${seconds} s`);
    };
    try {
      const result = await handler(work);
      tell('done');
      return result;
    } catch (error) {
      const { reason } = work.signal as { reason?: Error };
      tell(
        work.signal.aborted
          ? `ended, ${reason?.message}`
          : `${(error as Error).name === 'Release' ? 'given back' : 'failed'}, ${(error as Error).message}`,
      );
      throw error;
    }
  };
}

interface Running {
  worker: Worker;
  /** Stops leasing, lets what runs finish. */
  stop(): Promise<void>;
  /** Rejects when there is nothing to do here. */
  fatal: Promise<never>;
  close(): Promise<void>;
}

async function onDatabase(
  { output }: Tools,
  settings: Settings,
  { queue }: Given,
  handler: Handler,
  options: WorkOptions,
): Promise<Running> {
  const { url, stop } = await database(settings, output, { keep: true });
  try {
    const { schema, pooler, maxConnections, lockTimeoutMs, pollMs, sweep } = settings;
    const recoup = await open({
      connection: url,
      migrate: settings.databaseUrl === undefined,
      schema: schema!,
      pooler: pooler!,
      maxConnections: maxConnections!,
      lockTimeoutMs: lockTimeoutMs!,
      pollMs: pollMs!,
      sweep: sweep!,
      applicationName: 'recoup-work',
      onError: (error) => output.err(`recoup: ${error.message}`),
    });
    const close = () => recoup.close().then(stop);
    try {
      const worker = recoup.work(queue, handler, options);
      return { worker, stop: () => worker.stop(), fatal: new Promise<never>(() => {}), close };
    } catch (error) {
      await recoup.close();
      throw error;
    }
  } catch (error) {
    await stop();
    throw error;
  }
}

async function onServer(
  { output }: Tools,
  settings: Settings,
  { queue }: Given,
  handler: Handler,
  options: WorkOptions,
): Promise<Running> {
  const target = await openTarget(settings, output);
  const stopping = new AbortController();
  const ask = (name: string, input: Record<string, unknown>, signal: AbortSignal) =>
    target.ask(operations.find((one) => one.name === name)!, input, signal) as Promise<never>;
  let fail!: (error: Refusal) => void;
  const fatal = new Promise<never>((_, reject) => {
    fail = reject;
  });
  fatal.catch(() => {});
  const context = remoteContext({
    ask,
    stopping: stopping.signal,
    onError: (error) => output.err(`recoup: ${error.message}`),
    onFatal: (error) => fail(error),
  });
  const worker = new Worker(queue, handler, options, context);
  worker.start();
  const stop = () => {
    stopping.abort();
    return worker.stop();
  };
  return { worker, stop, fatal, close: () => stop().then(() => target.close()) };
}
