// npm run faults: real processes under load and faults, then the audit. Exit code 0 only if ours is whole and both controls failed.
import { parseArgs } from 'node:util';
import { print } from './report.ts';
import { run } from './run.ts';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const [seconds, seed] = [Number(options.seconds), Number(options.seed)];
if (options.help || !(seconds > 0) || !Number.isInteger(seed)) {
  console.log('npm run faults -- [--seconds N] [--seed N] [--json]');
  process.exit(options.help ? 0 : 2);
}

const stop = new AbortController();
// A second signal changes nothing: what was started has to be ended first.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort());

const began = performance.now();
const say = (line: string) =>
  console.error(`${((performance.now() - began) / 1000).toFixed(1).padStart(7)} s  ${line}`);
try {
  // Progress is for people: with --json only the object is on stdout.
  const report = await run({ seconds, seed, say, signal: stop.signal });
  if (options.json) console.log(JSON.stringify(report));
  else print(report, (line) => console.log(line));
  process.exit(report.ok ? 0 : 1);
} catch (error) {
  if (!stop.signal.aborted) console.error(error);
  else console.error('  Stopped; everything is cleared away');
  process.exit(stop.signal.aborted ? 130 : 1);
}
