// Runs the command line, in this process or as one of its own, with what it printed.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { until } from '../../../recoup/test/support/waiting.ts';
import { run } from '../../src/cli/program.ts';
import { Stop } from '../../src/cli/stop.ts';

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
  ran.code = await run(argv, { env, output, stop: new Stop() });
  return ran;
}

const main = join(import.meta.dirname, '../../bin/recoup.mjs');

/** The command line as a process of its own. */
export class CliProcess {
  readonly child: ChildProcess;
  out = '';
  err = '';
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string | null>;

  constructor(argv: readonly string[], env: NodeJS.ProcessEnv) {
    this.child = spawn(process.execPath, [main, ...argv], {
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.out += text;
    });
    this.child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.err += text;
    });
    this.ended = new Promise((done) => this.child.on('close', (code, signal) => done(code ?? signal)));
  }

  /** Until it says so on stderr, or fails because it ended first. */
  async says(what: RegExp): Promise<void> {
    let over = false;
    void this.ended.then(() => {
      over = true;
    });
    await until(() => what.test(this.err) || over);
    if (!what.test(this.err)) throw new Error(`it ended: ${this.err}`);
  }
}
