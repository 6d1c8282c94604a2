// The command line as a whole: global options, the commands of the list, and the few that are about the process itself.
import { readFileSync } from 'node:fs';
import { Command, CommanderError, Option } from 'commander';
import { InvalidInput, Refusal } from 'recoup';
import { openapi } from '../http/openapi.ts';
import type { Operation } from '../operations/operation.ts';
import { operations } from '../operations/operations.ts';
import { addDecode } from './decode.ts';
import { addDemo } from './demo.ts';
import { addExplain } from './explain.ts';
import { addExport } from './export.ts';
import { addImport } from './import.ts';
import { refuseWrong, runDoctor, runMigrate, runVerify } from './maintenance.ts';
import { addOperations, previewOf } from './operation-commands.ts';
import { failure, type Output, readable } from './output.ts';
import { addPrune } from './prune.ts';
import { describeSettings, kebab, type Resolved, resolveSettings, SETTINGS } from './settings.ts';
import { addSimulate } from './simulate.ts';
import { runStart } from './start.ts';
import { type Stop, Stopped } from './stop.ts';
import { openTarget } from './target.ts';
import type { Tools } from './tools.ts';
import { describeUses, refuseUnused } from './uses.ts';
import { viewOf } from './views/views.ts';
import { addWork } from './work.ts';

export interface Environment {
  env: NodeJS.ProcessEnv;
  output: Output;
  stop: Stop;
}

/** Runs one command line; returns the exit code. */
export async function run(argv: readonly string[], environment: Environment): Promise<number> {
  const { output } = environment;
  let code = 0;
  const program = buildProgram(environment, (given) => {
    code = given;
  });
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return code;
  } catch (error) {
    // Commander has said what was wrong, or printed the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const { stop } = environment;
    if (stop.asked.aborted && !(error instanceof Refusal)) {
      output.err(error instanceof Stopped ? error.message : 'Interrupted.');
      return stop.code;
    }
    return failure(error, output, program.opts().json === true);
  }
}

/** Every command; `exitWith` hears of the exit code of one that ended without an error. */
export function buildProgram(environment: Environment, exitWith: (code: number) => void = () => {}): Command {
  const { output, env } = environment;
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  const program = new Command('recoup')
    .description('Charge for AI jobs exactly once: credits, jobs and retries in one PostgreSQL transaction.')
    .version(version)
    .exitOverride()
    .configureOutput({ writeOut: (text) => output.out(text.trimEnd()), writeErr: (text) => output.err(text.trimEnd()) })
    .addHelpText('afterAll', ({ command }) => describeUses(command))
    .option('--json', 'print JSON instead of tables')
    .option('--config <file>', 'settings in YAML; ./recoup.yaml is read where it is there');
  for (const [name, { kind, about }] of Object.entries(SETTINGS)) {
    const option =
      kind === 'flag'
        ? new Option(`--${kebab(name)} [true|false]`, about).choices(['true', 'false']).preset('true')
        : new Option(`--${kebab(name)} <${kind}>`, about);
    program.addOption(option.helpGroup('Settings:'));
  }
  const settings = (): Resolved => {
    const { json, config, ...flags } = program.opts();
    return resolveSettings(flags, env, config as string | undefined);
  };
  program.hook('preAction', (_, command) => {
    const resolved = settings();
    refuseUnused(command, resolved);
    for (const name of resolved.unknown)
      output.err(`${name} is in the environment and is no setting: see recoup config.`);
  });
  const print = (answer: unknown, view: (answer: unknown) => string = readable) =>
    output.out(program.opts().json ? JSON.stringify(answer) : view(answer));
  const json = () => program.opts().json === true;
  const tools: Tools = { ...environment, settings, json, print, exitWith };
  addProcessCommands(program, environment, settings, print);
  for (const add of [addDemo, addWork, addExplain, addImport, addExport, addPrune, addDecode]) add(program, tools);
  addOperations(program, operations, async (operation, input, options) => {
    await ask(operation, input, options, settings(), environment, (answer) => print(answer, viewOf(operation.name)));
  });
  addSimulate(program, tools);
  return program;
}

function addProcessCommands(
  program: Command,
  { output, stop }: Environment,
  settings: () => Resolved,
  print: (answer: unknown) => void,
): void {
  program
    .command('start')
    .description('serve HTTP, sweep, and apply missing migrations first')
    .action(() => {
      stop.leave();
      return runStart(settings().values, output);
    });
  program
    .command('migrate')
    .description('apply missing migrations')
    .option('--dry-run', 'say how far the schema is and what would be applied, change nothing')
    .option('--grant-to <role>', 'let this role serve on the schema, and do nothing else there')
    .action(async (options: { dryRun?: boolean; grantTo?: string }) =>
      print(await runMigrate(settings().values, output, options)),
    );
  program
    .command('verify')
    .description('replay the ledger and hold every promise against it; exit code 8 where something does not add up')
    .option('--limit <integer>', 'at most this many problems per check')
    .action(async ({ limit }: { limit?: string }) => {
      if (limit !== undefined && !/^[1-9]\d{0,3}$/.test(limit))
        throw new InvalidInput('limit', 'must be an integer from 1 to 9999');
      const verified = await runVerify(settings().values, output, limit === undefined ? undefined : Number(limit));
      print(verified);
      if (!verified.ok) throw new Refusal('unhealthy', `${verified.problems.length} problems were found.`);
    });
  program
    .command('doctor')
    .description('look at what must be right before Recoup can run')
    .action(async () => {
      const findings = await runDoctor(settings().values, output);
      print(findings);
      refuseWrong(findings);
    });
  program
    .command('config')
    .description('every setting, and where its value came from')
    .action(() => print(describeSettings(settings())));
  program
    .command('openapi')
    .description('the OpenAPI 3.1 document')
    .action(() => output.out(JSON.stringify(openapi(operations), null, 2)));
}

async function ask(
  operation: Operation,
  input: Record<string, unknown>,
  options: Record<string, unknown>,
  { values }: Resolved,
  { output, stop }: Environment,
  print: (answer: unknown) => void,
): Promise<void> {
  const previewing = previewOf(operation);
  const bulk = previewing !== undefined;
  const target = await openTarget(values, output);
  try {
    if (options.dryRun && bulk) {
      const preview = operations.find(({ name }) => name === previewing)!;
      const known = { ...preview.params.properties, ...preview.query.properties };
      const filter = Object.fromEntries(Object.entries(input).filter(([field]) => Object.hasOwn(known, field)));
      return print(await target.ask(preview, filter, stop.cut));
    }
    if (bulk) stop.gently();
    // In this process the step at work is finished by itself; a server is told by hanging up, once it was heard of the step.
    const answer = target.ask(operation, input, bulk && values.server === undefined ? stop.asked : stop.cut);
    if (!operation.stream) return print(await answer);
    await printLines(answer as AsyncIterable<Line>, bulk, stop, output);
  } finally {
    await target.close();
  }
}

type Line = { ended?: boolean; done?: number; of?: number };

async function printLines(lines: AsyncIterable<Line>, bulk: boolean, stop: Stop, output: Output): Promise<void> {
  let last: Line = {};
  const howFar = () => `Stopped: ${last.done ?? 0} of ${last.of ?? 'them'} were looked at. Preview again for the rest.`;
  try {
    for await (const line of lines) {
      last = line;
      // Progress is no data: the last line is.
      if (line.ended === false) output.err(JSON.stringify(line));
      else output.out(JSON.stringify(line));
      if (bulk && line.ended === false) stop.check(howFar);
    }
  } catch (error) {
    if (bulk && !(error instanceof Refusal)) stop.check(howFar);
    throw error;
  }
}
