// npm run ablate: every rule of the schema and every guard of the statements, taken out one at a time; what notices, and what does not.
import { parseArgs } from 'node:util';
import { throwawaySettings } from '../../packages/recoup/simulation/throwaway.ts';
import { startEmbedded } from '../../packages/server/src/embedded/embedded.ts';
import { ablateGuard, ablateRules, checkSyntax, guards, type Removal } from './ablate.ts';
import { Tests } from './tests.ts';

const USAGE = `npm run ablate -- [--only TEXT] [--search] [--part I/N] [--json]

  --only TEXT     only what has this in its name; once or more
  --rules         only the rules of the schema
  --search        where nothing is known to notice, try the suites one after the other
  --part I/N      the I-th of N parts of the guards
  --json          one object instead of the closing lines`;

/** The suites that a search goes through, the quick ones first. */
const SUITES = [
  ...['cancel-and-settle', 'money', 'queue', 'lapse', 'backoff-and-retention', 'batches', 'job-list', 'edges', 'traps'],
  ...[
    'trace-context',
    'worker-and-upstream',
    'worker',
    'transaction',
    'lock-order',
    'faults',
    'interleavings',
    'races',
  ],
].map((name) => `packages/recoup/test/${name}.test.ts`);

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [''] },
    rules: { type: 'boolean', default: false },
    search: { type: 'boolean', default: false },
    part: { type: 'string', default: '1/1' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const removals: Removal[] = [];

/** How many of each statement, or of the rules: `block.close, block.lapse: 39, 37 caught, 2 with a reason, 0 missed`. */
function perStatement(): string[] {
  const counts = new Map<string, [caught: number, reasons: number, missed: number]>();
  for (const { id, kind, by, reason } of removals) {
    const name = kind === 'rule' ? 'rules of the schema' : id.split(' · ')[0]!;
    const count = counts.get(name) ?? [0, 0, 0];
    count[by ? 0 : reason ? 1 : 2] += 1;
    counts.set(name, count);
  }
  return [...counts].map(
    ([name, [caught, reasons, missed]]) =>
      `${name}: ${caught + reasons + missed}, ${caught} caught, ${reasons} with a reason, ${missed} missed`,
  );
}

function tell(one: Removal): void {
  removals.push(one);
  const what = one.by ? `caught   ${one.by}` : one.reason ? `reason   ${one.reason}` : 'MISSED';
  console.error(`${one.id}\n    ${what}${one.said ? ` — ${one.said.slice(0, 160)}` : ''}`);
}

async function run(): Promise<void> {
  const server = await startEmbedded({ throwaway: true, settings: throwawaySettings });
  let tests: Promise<Tests> | undefined;
  const open = () => {
    tests ??= Tests.open();
    return tests;
  };
  try {
    const wanted = (id: string) => values.only.some((text) => id.includes(text));
    const [part, parts] = values.part.split('/').map(Number) as [number, number];
    if (part === 1) await ablateRules(server.url, wanted, tell);
    if (values.rules) return;
    const { all, statements } = await guards();
    const some = all.filter(({ id }, index) => wanted(id) && index % parts === part - 1);
    const broken = await checkSyntax(server.url, some, statements);
    if (broken.length > 0) throw new Error(`not a statement any more:\n${broken.join('\n')}`);
    for (const guard of some) tell(await ablateGuard(server.url, guard, open, values.search ? SUITES : []));
  } finally {
    await (await tests)?.close();
    await server.stop();
  }
}

if (values.help) console.log(USAGE);
else {
  const started = Date.now();
  await run();
  const missed = removals.filter(({ by, reason }) => by === undefined && reason === undefined);
  const caught = removals.filter(({ by }) => by !== undefined).length;
  const reasons = removals.length - caught - missed.length;
  const seconds = Math.round((Date.now() - started) / 1000);
  const totals = { guards: removals.length, caught, reasons, missed: missed.length, seconds };
  if (values.json) console.log(JSON.stringify({ ...totals, removals }));
  else {
    for (const line of perStatement()) console.log(line);
    for (const { id } of missed) console.log(`missed: ${id}`);
    console.log(
      `${totals.guards} guards, ${caught} caught, ${reasons} with a reason, ${missed.length} missed, ${seconds} s`,
    );
  }
  process.exitCode = missed.length > 0 ? 1 : 0;
}
