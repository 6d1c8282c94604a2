// `recoup demo`: what `npm start` shows, with the same options.
import type { Command } from 'commander';
import { descriptions } from '../demo/options.ts';
import { runProgram } from '../demo/program.ts';
import type { Tools } from './tools.ts';

export function addDemo(program: Command, tools: Tools): void {
  const command = program
    .command('demo')
    .description(
      'a story of 40 credits, and real requests through Recoup and through the naive design; then serves what came of it',
    );
  for (const { flags, about } of descriptions) command.option(flags, about);
  command.action(async (given: Record<string, string | true>) => {
    const args = Object.entries(given).flatMap(([name, value]) =>
      value === true ? [`--${name}`] : [`--${name}`, value],
    );
    tools.stop.leave();
    const { databaseUrl, port } = tools.settings().values;
    tools.exitWith(await runProgram(tools.json() ? [...args, '--json'] : args, databaseUrl, String(port)));
  });
}
