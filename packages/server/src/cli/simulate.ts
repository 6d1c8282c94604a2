// `recoup upstreams simulate`: recorded answers of AI providers through decoders and policies, on a database of its own.
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { InvalidInput } from 'recoup';
import { readRecording } from '../simulate/recording.ts';
import { runRecording } from '../simulate/run.ts';
import { simulationOf } from '../simulate/simulation.ts';
import { readRulesFile, textOf } from './rules.ts';
import { count, Progress, type Tools } from './tools.ts';
import { simulationView, widthOf } from './views/simulation.ts';

const SHAPE = `
A line is {at, upstream, provider, pool?, quotaGroup?, route?, model?, status, headers?, body?, error?, elapsedMs?}: what answered, when it
came, and how long it took. The line that names an upstream first says whose it is. Lines are put into the order of time. Everything is
checked first: one wrong line, and nothing runs.`;

/** A day of five upstreams that comes with the program. */
export const EXAMPLE = fileURLToPath(new URL('../../data/recorded-day.jsonl', import.meta.url));

interface Options {
  rules?: string;
  example?: boolean;
}

/** Beside the operations of the group. */
export function addSimulate(program: Command, tools: Tools): void {
  const group = program.commands.find((one) => one.name() === 'upstreams')!;
  group
    .command('simulate')
    .description(
      'run recorded answers through decoders and policies: which blocks there would have been, and for how long',
    )
    .argument('[file]', 'answers as JSON lines; - is stdin')
    .option('--rules <file>', 'rules of your own in YAML or JSON, as the setting decoderRules names them')
    .option('--example', 'the recorded day that comes with the program, instead of a file')
    .addHelpText('after', SHAPE)
    .action((file: string | undefined, options: Options) => run(tools, file, options));
  group.description(`${group.description()}, simulate`);
}

async function run(tools: Tools, file: string | undefined, options: Options): Promise<void> {
  const { stop, output } = tools;
  if (file !== undefined && options.example) throw new InvalidInput('--example', 'is given instead of a file');
  if (file === undefined && !options.example)
    throw new InvalidInput('file', 'is required: answers as JSON lines, - for stdin, or --example');
  const rules = options.rules === undefined ? undefined : await readRulesFile('--rules', options.rules);
  const recording = readRecording(await textOf('file', file ?? EXAMPLE, stop.asked));
  if (recording.outOfOrder > 0)
    output.err(`${count(recording.outOfOrder)} lines stood behind a later one: they are put into the order of time.`);
  const all = count(recording.answers.length);
  let progress: Progress | undefined;
  // The step under way ends first, so that nothing stays: it is one of milliseconds.
  stop.gently();
  const ran = await runRecording(recording, rules, {
    onProgress: output.err,
    onAnswer: (done, { at }) => {
      stop.check(() => `Stopped after ${count(done)} of ${all} answers: nothing of it stays.`);
      progress ??= new Progress(output);
      progress.say(() => `${count(done)} of ${all} answers, at ${at.toISOString()}`);
    },
  });
  tools.print(simulationOf(recording, ran), (simulation) =>
    simulationView(simulation as ReturnType<typeof simulationOf>, widthOf(process.stdout.columns)),
  );
}
