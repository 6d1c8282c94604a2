// `recoup prune`: deletes the rows of jobs that ended long ago, in small steps; their entries stay, their ids stay used.
import { type Command, Option } from 'commander';
import { count, durationOf, integerOf, Progress, type Tools, withTarget } from './tools.ts';

interface Options {
  olderThan: string;
  state?: string;
  batch: string;
  dryRun?: boolean;
}

export function addPrune(program: Command, tools: Tools): void {
  program
    .command('prune')
    .description('delete rows of jobs that succeeded or were canceled long ago; the ledger keeps every entry')
    .requiredOption('--older-than <duration>', 'only jobs that ended longer ago: 90d, 12h, 30m')
    .addOption(new Option('--state <state>', 'only jobs that ended so').choices(['succeeded', 'canceled']))
    .option('--batch <integer>', 'rows a step, each step its own transaction', '1000')
    .option('--dry-run', 'say how many there are, delete nothing')
    .action((options: Options) => prune(tools, options));
}

async function prune(tools: Tools, options: Options): Promise<void> {
  const olderThanMs = durationOf('--older-than', options.olderThan);
  const batch = integerOf('--batch', options.batch, 1, 10_000)!;
  const which = { olderThanMs, ...(options.state === undefined ? {} : { state: options.state }) };
  const progress = new Progress(tools.output);
  const answer = await withTarget(tools, async (ask) => {
    if (options.dryRun) return ask('jobs.prune', { ...which, dryRun: true });
    let pruned = 0;
    tools.stop.gently();
    for (;;) {
      tools.stop.check(() => `Stopped: ${count(pruned)} jobs were pruned. The same command goes on with the rest.`);
      const step = await ask<{ pruned: number }>('jobs.prune', { ...which, count: batch });
      pruned += step.pruned;
      progress.say(() => `${count(pruned)} jobs pruned`);
      if (step.pruned < batch) return { pruned };
    }
  });
  tools.print(answer);
}
