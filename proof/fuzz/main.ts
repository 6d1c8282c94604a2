// `npm run fuzz`: hostile input until time is over; says what broke, from which seed, as small as it gets.
import { parseArgs } from 'node:util';
import { startEmbedded } from '../../packages/server/src/embedded/embedded.ts';
import { fuzz, type Report } from './fuzz.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    lane: { type: 'string' },
    path: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
const [seed, seconds] = [Number(values.seed), Number(values.seconds)];
if (!Number.isSafeInteger(seed) || !(seconds > 0)) throw new Error('--seed must be an integer, --seconds more than 0');

const say = (text: string) => void (values.json ? process.stderr : process.stdout).write(`${text}\n`);
say(`seed ${seed}, ${seconds} s`);
const own = process.env.DATABASE_URL ? undefined : await startEmbedded({ throwaway: true });
let report: Report;
try {
  const onRan = ({ lane, cases, finding }: { lane: string; cases: number; finding: unknown }) =>
    say(`${finding ? 'BROKE ' : 'held  '} ${lane.padEnd(10)} ${cases} cases`);
  report = await fuzz({
    postgres: own?.url ?? process.env.DATABASE_URL!,
    seed,
    seconds,
    lane: values.lane,
    path: values.path,
    onRan,
  });
} finally {
  await own?.stop();
}
for (const { lane, path, why, sent } of report.findings) {
  say(`\n${lane}: ${why}\n\n${sent}\n\nagain: npm run fuzz -- --seed ${seed} --lane ${lane} --path ${path}`);
}
for (const line of report.afterwards) say(`afterwards: ${line}`);
if (values.json) process.stdout.write(`${JSON.stringify(report)}\n`);
const held = report.findings.length === 0 && report.afterwards.length === 0;
say(held ? `everything held; the server holds ${report.rssMb} MB, verify is clean` : 'broken');
process.exitCode = held ? 0 : 1;
