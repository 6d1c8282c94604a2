// npm run simulate: random histories on real PostgreSQL beside the pure model, with faults, from a seed.
import { parseArgs } from 'node:util';
import { startEmbedded } from '../../server/src/embedded/embedded.ts';
import { type TestDatabase, testDatabase } from '../src/testing.ts';
import { BothWorlds } from './both-worlds.ts';
import { BothCapacities } from './capacity/both.ts';
import { capacityIn, jobsIn } from './kinds.ts';
import { type SimulateOptions, simulate, type Violation, violationInWords } from './simulate.ts';
import { Tally } from './tally.ts';
import { throwawaySettings } from './throwaway.ts';

const USAGE = `npm run simulate -- [--seed N] [--steps N] [--database URL] [--json]

  --seed N        where chance begins, 0 to 4294967295; another one each time unless set
  --steps N       how many commands are run, of each kind; 20,000 unless set
  --kind KIND     jobs (wallets, queues, jobs) or capacity (upstreams, blocks, leases); both unless set
  --database URL  a server to make a throw-away database on; DATABASE_URL, or an embedded one, unless set
  --json          one object instead of the closing line`;

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    steps: { type: 'string', default: '20000' },
    kind: { type: 'string', default: 'both' },
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

const KINDS = ['jobs', 'capacity'] as const;
if (values.kind !== 'both' && !KINDS.some((kind) => kind === values.kind)) {
  console.error(`--kind must be jobs, capacity or both; got ${JSON.stringify(values.kind)}\n\n${USAGE}`);
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
  const total = new Tally();
  let violation: Violation | undefined;
  try {
    for (const kind of KINDS.filter((one) => values.kind === 'both' || values.kind === one)) {
      await using db = await testDatabase(url ?? server!.url);
      let told = Date.now();
      const progress = (done: number) => {
        if (Date.now() - told < 5000) return;
        told = Date.now();
        const seconds = number(Math.round((told - started) / 1000));
        console.error(`seed ${seed}, ${kind}: ${number(done)} of ${number(steps)} steps, ${seconds} s`);
      };
      console.error(`seed ${seed}, ${kind}, ${number(steps)} steps`);
      violation ??= await run(kind, db, { seed, steps, progress }, total);
    }
  } finally {
    await server?.stop();
  }
  if (violation) console.error(violationInWords(violation));
  close(seed, total, violation, (Date.now() - started) / 1000);
  return violation ? 1 : 0;
}

/** One kind of world; what it did is added to the total. */
async function run(kind: (typeof KINDS)[number], db: TestDatabase, options: SimulateOptions, total: Tally) {
  const both = kind === 'jobs' ? await BothWorlds.open(db) : await BothCapacities.open(db);
  try {
    return both instanceof BothWorlds
      ? await simulate(jobsIn(both), options)
      : await simulate(capacityIn(both), options);
  } finally {
    total.add(both.tally);
    await both.close();
  }
}

function close(seed: number, tally: Tally, violation: Violation | undefined, seconds: number): void {
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
