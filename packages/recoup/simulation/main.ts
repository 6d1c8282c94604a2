// npm run simulate: random histories on real PostgreSQL beside the pure model, with faults, from a seed.
import { parseArgs } from 'node:util';
import { startEmbedded } from '../../server/src/embedded/embedded.ts';
import { testDatabase } from '../src/testing.ts';
import { BothWorlds } from './both-worlds.ts';
import { simulate, type Violation, violationInWords } from './simulate.ts';
import { throwawaySettings } from './throwaway.ts';

const USAGE = `npm run simulate -- [--seed N] [--steps N] [--database URL] [--json]

  --seed N        where chance begins, 0 to 4294967295; another one each time unless set
  --steps N       how many commands are run; 20,000 unless set
  --database URL  a server to make a throw-away database on; DATABASE_URL, or an embedded one, unless set
  --json          one object instead of the closing line`;

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    steps: { type: 'string', default: '20000' },
    database: { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

function integer(name: string, text: string, from: number, to: number): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= from && value <= to && text !== '') return value;
  console.error(`--${name} must be an integer from ${from} to ${to}; got ${JSON.stringify(text)}\n\n${USAGE}`);
  process.exit(2);
}

const number = (value: number) => value.toLocaleString('en');

async function main(): Promise<number> {
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const seed = integer('seed', values.seed ?? `${Math.floor(Math.random() * 4_294_967_296)}`, 0, 4_294_967_295);
  const steps = integer('steps', values.steps, 1, 1_000_000_000);
  const started = Date.now();
  const url = values.database ?? process.env.DATABASE_URL;
  const server = url === undefined ? await startEmbedded({ throwaway: true, settings: throwawaySettings }) : undefined;
  const db = await testDatabase(url ?? server!.url);
  try {
    const both = await BothWorlds.open(db);
    let told = Date.now();
    const progress = (done: number) => {
      if (Date.now() - told < 5000) return;
      told = Date.now();
      console.error(
        `seed ${seed}: ${number(done)} of ${number(steps)} steps, ${number(Math.round((told - started) / 1000))} s`,
      );
    };
    console.error(`seed ${seed}, ${number(steps)} steps`);
    const violation = await simulate(both, { seed, steps, progress });
    await both.close();
    if (violation) console.error(violationInWords(violation));
    close(seed, both, violation, (Date.now() - started) / 1000);
    return violation ? 1 : 0;
  } finally {
    await db.drop();
    await server?.stop();
  }
}

function close(seed: number, { tally }: BothWorlds, violation: Violation | undefined, seconds: number): void {
  const violations = violation ? 1 : 0;
  if (values.json) {
    console.log(JSON.stringify({ seed, ...tally, violations, ...(violation ? { violation } : {}), seconds }));
    return;
  }
  const { steps, crashes, lostAnswers, cutBefore, cutInCommit, duplicates, overlapping } = tally;
  const cuts = `${number(cutBefore)} requests and ${number(cutInCommit)} commits cut, ${number(lostAnswers)} answers lost`;
  const rest = `${number(crashes)} crashes, ${cuts}, ${number(duplicates)} duplicates, ${number(overlapping)} overlapping`;
  console.log(`seed ${seed}: ${number(steps)} steps, ${rest}, ${violations} violations, ${seconds.toFixed(0)} s`);
}

process.exitCode = await main();
