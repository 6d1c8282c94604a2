// `npm start`: the demo as a program: options, Ctrl-C, exit codes, and what goes to which stream.
import { EmbeddedError } from '../embedded/errors.ts';
import { runDemo } from './demo.ts';
import { help, type Options, parseOptions, UsageError } from './options.ts';
import { failuresOf, jsonOf, okLine, type Result } from './report.ts';
import { Screen } from './screen.ts';
import { loadJobs } from './trace.ts';

/** npm passes a Ctrl-C on that the terminal has sent already: so soon after the first it is the same one. */
const SAME_MS = 400;

async function main(args: string[]): Promise<number> {
  let options: Options;
  try {
    options = parseOptions(args);
    if (options.help) {
      console.log(help);
      return 0;
    }
    const jobs = await loadJobs(options);
    return await run(jobs, options);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}\nTry --help.`);
    return 2;
  }
}

async function run(jobs: Awaited<ReturnType<typeof loadJobs>>, options: Options): Promise<number> {
  const interrupt = new AbortController();
  const exitCode = listenToSignals(interrupt);
  const screen = new Screen(options.json ? process.stderr : process.stdout, !options.headless);
  try {
    const result = await runDemo(jobs, options, screen, interrupt.signal);
    return conclude(result, options, screen);
  } catch (error) {
    if (interrupt.signal.aborted) {
      screen.line();
      screen.line('Stopped; processes, database and folder are gone.');
      return exitCode();
    }
    const message = error instanceof Error ? error.message : String(error);
    if (options.json) console.log(JSON.stringify({ error: message }));
    if (!(error instanceof EmbeddedError)) console.error(error);
    screen.line();
    screen.line(`demo failed: ${message}`);
    return 1;
  }
}

function conclude(result: Result, options: Options, screen: Screen): number {
  const failures = failuresOf(result);
  screen.line();
  if (!options.headless && !options.json && failures.length === 0) {
    const { bold } = screen.colors;
    screen.line(`   ${bold('Next')}     npm run explore   every order of signals, in a model`);
    screen.line('            npm run bench     how fast it is on this machine');
    screen.line('            examples/         how it looks in an application');
    screen.line();
  }
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

// Whoever reads the output may stop reading (`npm start | head`): that ends the demo as Ctrl-C does.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => process.emit('SIGTERM'));

const code = await main(process.argv.slice(2));
// What is still on its way to a pipe goes first.
process.stdout.write('', () => process.exit(code));
