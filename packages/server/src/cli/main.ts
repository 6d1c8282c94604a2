#!/usr/bin/env node
// The program `recoup`: runs the command line of this process and exits with its code.
import { standard } from './output.ts';
import { run } from './program.ts';
import { Stop } from './stop.ts';

const stop = new Stop();
stop.listen();
// A reader that went away (`| head`) is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

const { env } = process;
process.exitCode = await run(process.argv.slice(2), { env, output: standard, stop });
