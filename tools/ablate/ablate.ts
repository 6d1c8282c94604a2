// Takes out one rule or one guard at a time and looks for what notices: violations by hand, the simulation, the named test.

import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { BothWorlds } from '../../packages/recoup/simulation/both-worlds.ts';
import { BothCapacities } from '../../packages/recoup/simulation/capacity/both.ts';
import { capacityIn, jobsIn } from '../../packages/recoup/simulation/kinds.ts';
import { type SimulateOptions, simulate, WORLD } from '../../packages/recoup/simulation/simulate.ts';
import type { AnyStatement } from '../../packages/recoup/src/db/database.ts';
import { testDatabase } from '../../packages/recoup/src/testing.ts';
import { takenThoughBroken } from '../../packages/recoup/test/support/refusals.ts';
import { type Rule, rulesOf } from './constraints.ts';
import { type Guard, guardsOf, removing, statements } from './guards.ts';
import { reasonFor, SUITES, TESTS } from './known.ts';
import type { Tests } from './tests.ts';

/** What came of one removal. Neither `by` nor `reason`: missed. */
export interface Removal {
  readonly id: string;
  readonly kind: 'rule' | 'guard';
  /** The test that noticed, and what it said. */
  readonly by?: string;
  readonly said?: string;
  /** Why it may go unnoticed. */
  readonly reason?: string;
}

/** Worlds of the simulation that a guard's removal has to survive before other tests are asked: an ordinary and a crowded one. */
const SEEDS = [1, 3];
/** The same of capacity: a crowded one, and one whose providers are in trouble. */
const SEEDS_OF_CAPACITY = [3, 5];

const firstLine = (text: string) => text.split('\n')[0]!;

/** Each rule of the schema, taken out in a transaction of its own: then what it refused is taken. */
export async function ablateRules(
  url: string,
  wanted: (id: string) => boolean,
  tell: (one: Removal) => void,
): Promise<void> {
  await using db = await testDatabase(url);
  const client = new pg.Client({ connectionString: db.url });
  await client.connect();
  try {
    const query = async (sql: string, values?: unknown[]) => (await client.query(sql, values)).rows;
    for (const rule of (await rulesOf(query)).filter(({ id }) => wanted(id))) tell(await withoutRule(query, rule));
  } finally {
    await client.end();
  }
}

async function withoutRule(
  query: (sql: string, values?: unknown[]) => Promise<unknown[]>,
  rule: Rule,
): Promise<Removal> {
  await query('begin');
  try {
    await query(rule.remove);
    const [wrong] = await takenThoughBroken(query, rule.name);
    if (wrong !== undefined)
      return { id: rule.id, kind: 'rule', by: 'refused.test.ts: each rule of the schema', said: wrong };
    return unnoticed(rule.id, 'rule');
  } finally {
    await query('rollback');
  }
}

function unnoticed(id: string, kind: Removal['kind']): Removal {
  const reason = reasonFor(id);
  return reason === undefined ? { id, kind } : { id, kind, reason };
}

/** Every guard of the statements. */
export async function guards(): Promise<{ all: Guard[]; statements: AnyStatement[] }> {
  const found = await statements();
  return { all: guardsOf(found), statements: found };
}

/**
 * A guard taken out: first the test that is named for it, then the suite that asks its statement, then the simulation, else the suites around it;
 * `search`: else whichever of these files notices.
 */
export async function ablateGuard(
  url: string,
  guard: Guard,
  tests: () => Promise<Tests>,
  search: readonly string[] = [],
): Promise<Removal> {
  const { id } = guard;
  const inFiles = async (files: Iterable<string>, name?: string): Promise<Removal | undefined> => {
    for (const file of files) {
      const failed = await (await tests()).failing(guard, file, name);
      if (failed !== undefined) return { id, kind: 'guard', by: `${file}: ${failed}` };
    }
    return undefined;
  };
  const known = TESTS[id];
  const named = known && (await inFiles([known[0]], known[1]));
  const own = SUITES.filter(([names]) => guard.statements.some((name) => names.test(name)));
  const asked = named ?? (await inFiles(own.flatMap(([, asking]) => asking)));
  if (asked) return asked;
  const simulated = SIMULATED.test(guard.statements.join()) ? await inSimulation(url, guard) : undefined;
  if (simulated) return { id, kind: 'guard', ...simulated };
  const excused = unnoticed(id, 'guard');
  if (excused.reason !== undefined) return excused;
  return (await inFiles(new Set([...own.flatMap(([, , around]) => around), ...search]))) ?? excused;
}

/** A statement that lacks a guard may leave a call without an answer, or bring its process down: both are noticed. */
const SILENCE_MS = 15_000;

/** Statements that take part in the worlds of capacity. */
const CAPACITY =
  /^(upstream\.(register|select|extend|release|report)|upstream_lease\.forget|provider\.block|block\.(close|lapse))$/;
/** Those, and what takes part in the worlds of jobs. */
const SIMULATED =
  /\b(wallet|job(?!\.claim)|queue|lease_request|upstream_lease|provider|block)\.|\bupstream\.(register|select|extend|release|report)\b/;

async function inSimulation(url: string, guard: Guard): Promise<{ by: string; said: string } | undefined> {
  await using db = await testDatabase(url);
  const rewrite = removing(guard);
  const ofCapacity = guard.statements.some((name) => CAPACITY.test(name));
  const both = ofCapacity ? await BothCapacities.open(db, { rewrite }) : await BothWorlds.open(db, { rewrite });
  const run = (options: SimulateOptions) =>
    both instanceof BothWorlds ? simulate(jobsIn(both), options) : simulate(capacityIn(both), options);
  const fallen = fall();
  try {
    for (const seed of ofCapacity ? SEEDS_OF_CAPACITY : SEEDS) {
      let steps = 0;
      const progress = (done: number) => {
        steps = done;
        fallen.alive();
      };
      const violation = await Promise.race([
        run({ seed, steps: WORLD, shrinks: 0, progress }),
        fallen.said.then((problem) => ({ steps, problem })),
      ]);
      if (violation) {
        return { by: `simulation: seed ${seed}, step ${violation.steps}`, said: firstLine(violation.problem) };
      }
    }
    return undefined;
  } finally {
    fallen.stop();
    // What waits for an answer that never comes would wait here, too: the database goes, and all with it.
    await Promise.race([both.close(), sleep(2000, undefined, { ref: false })]);
  }
}

/** Says so when nothing happens for too long, or an error reaches nobody. */
function fall(): { said: Promise<string>; alive: () => void; stop: () => void } {
  let [last, tell] = [Date.now(), (_problem: string) => {}];
  const said = new Promise<string>((done) => {
    tell = done;
  });
  const onError = (error: unknown) => tell(`an error reached nobody: ${(error as Error).message}`);
  const watch = setInterval(() => Date.now() - last > SILENCE_MS && tell('a call was never answered'), 1000);
  process.on('unhandledRejection', onError);
  const stop = () => {
    clearInterval(watch);
    process.off('unhandledRejection', onError);
  };
  const alive = () => {
    last = Date.now();
  };
  return { said, alive, stop };
}

/** A statement that lacks a guard must still be one: else its error would be what is noticed. */
export async function checkSyntax(url: string, all: readonly Guard[], of: readonly AnyStatement[]): Promise<string[]> {
  await using db = await testDatabase(url);
  const broken: string[] = [];
  for (const guard of all) {
    const remove = removing(guard);
    for (const { name, text } of of.filter((one) => guard.statements.includes(one.name))) {
      for (const sql of new Set([text.shared, text.patient])) {
        const cut = remove(sql);
        if (cut === sql) continue;
        const error = await db.query(`prepare ablated(text) as ${cut}; deallocate ablated`).then(
          () => undefined,
          (error: Error) => error.message,
        );
        if (error) broken.push(`${guard.id} (${name}): ${error}`);
      }
    }
  }
  return broken;
}
