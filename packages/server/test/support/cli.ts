// Runs the command line in this process, with what it printed.
import { run } from '../../src/cli/program.ts';

export interface Ran {
  code: number;
  out: string;
  err: string;
}

export async function cli(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<Ran> {
  const ran: Ran = { code: 0, out: '', err: '' };
  const output = {
    out: (text: string) => {
      ran.out += `${text}\n`;
    },
    err: (text: string) => {
      ran.err += `${text}\n`;
    },
  };
  ran.code = await run(argv, { env, output, signal: new AbortController().signal });
  return ran;
}
