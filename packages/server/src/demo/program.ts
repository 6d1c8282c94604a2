// The demo as a program: options, Ctrl-C, exit codes, what goes to which stream, and whether it stays up at the end.
import { addressProblem } from 'recoup';
import { EmbeddedError } from '../embedded/errors.ts';
import { runDemo } from './demo.ts';
import { help, type Options, parseOptions, UsageError } from './options.ts';
import { failuresOf, jsonOf, okLine, type Result } from './report.ts';
import { Screen } from './screen.ts';
import { serve } from './serve.ts';
import { loadJobs } from './trace.ts';

/** npm passes a Ctrl-C on that the terminal has sent already: so soon after the first it is the same one. */
const SAME_MS = 400;

/** Runs it to its end; gives the exit code. `databaseUrl` names a server for a throw-away database, `port` is the environment's. */
export async function runProgram(args: string[], databaseUrl: string | undefined, port?: string): Promise<number> {
  let options: Options;
  try {
    options = parseOptions(args, port);
    if (options.help) {
      console.log(help);
      return 0;
    }
    const problem = databaseUrl ? addressProblem(databaseUrl) : null;
    if (problem !== null) throw new UsageError(`DATABASE_URL: ${problem}`);
    const jobs = await loadJobs(options);
    return await run(jobs, options, databaseUrl);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}\nTry --help.`);
    return 2;
  }
}

async function run(
  jobs: Awaited<ReturnType<typeof loadJobs>>,
  options: Options,
  databaseUrl: string | undefined,
): Promise<number> {
  const interrupt = new AbortController();
  // Whoever reads the output may stop reading (`npm start | head`): that ends the demo as Ctrl-C does.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => process.emit('SIGTERM'));
  const exitCode = listenToSignals(interrupt);
  const screen = new Screen(options.json ? process.stderr : process.stdout, !options.headless);
  let concluded: number | undefined;
  try {
    await runDemo(jobs, options, screen, interrupt.signal, databaseUrl, async (result, url) => {
      concluded = conclude(result, options, screen);
      // A script that waits for the end must not wait for ever: without a terminal it ends, unless told otherwise.
      if (concluded === 0 && (options.serve ?? Boolean(process.stdout.isTTY)))
        await serve(url, options.port, screen, interrupt.signal);
    });
    return concluded!;
  } catch (error) {
    if (interrupt.signal.aborted) return exitCode();
    const message = error instanceof Error ? error.message : String(error);
    if (options.json) console.log(JSON.stringify({ error: message }));
    if (!(error instanceof EmbeddedError)) console.error(error);
    screen.line();
    screen.line(`demo failed: ${message}`);
    return 1;
  } finally {
    if (interrupt.signal.aborted) {
      screen.line();
      screen.line('Stopped; processes, database and folder are gone.');
    }
  }
}

function conclude(result: Result, options: Options, screen: Screen): number {
  const failures = failuresOf(result);
  screen.line();
  if (options.json) console.log(JSON.stringify(jsonOf(result)));
  screen.line(failures.length === 0 ? okLine(result) : `demo failed: ${failures.join('; ')}`);
  return failures.length === 0 ? 0 : 1;
}

/** The first signal ends the demo in order, a second one at once. Gives the exit code that the first one means. */
function listenToSignals(interrupt: AbortController): () => number {
  let at: number | undefined;
  let code = 130;
  for (const [name, means] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const) {
    process.on(name, () => {
      if (at === undefined) {
        at = performance.now();
        code = means;
        interrupt.abort(new Error(name));
      } else if (performance.now() - at > SAME_MS) process.exit(means);
    });
  }
  return () => code;
}
