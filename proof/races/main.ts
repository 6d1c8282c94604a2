// npm run races: every pair of transitions that leave the same state, 50 callers each way, round after round on a server of its own.
import { parseArgs } from 'node:util';
import { startEmbedded } from '../../packages/server/src/embedded/embedded.ts';
import { Arena } from './arena.ts';
import { CapacityArena, capacityRaces } from './capacity.ts';
import { pairsOf, races } from './pairs.ts';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '2000' },
    callers: { type: 'string', default: '50' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const [rounds, callers] = [Number(options.rounds), Number(options.callers)];
if (options.help || !Number.isInteger(rounds) || rounds < 1 || !(callers >= 2 && callers <= 100)) {
  console.log('npm run races -- [--rounds N] [--callers N (2 to 100, each way)] [--json]');
  process.exit(options.help ? 0 : 2);
}

const all = races();
const ofCapacity = capacityRaces();
const say = (line: string) => console.error(line);
let stopped = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    stopped = true;
  });
}
const settings = { fsync: 'off', synchronous_commit: 'off', max_connections: '300' };
const server = await startEmbedded({ throwaway: true, settings });
const wrong: unknown[] = [];
let done = 0;
let problems: unknown[] = [];
try {
  await using arena = await Arena.on(server.url, callers);
  say(`  ${pairsOf(all)} pairs of transitions in their states, ${all.length} races; ${callers} callers each way`);
  const began = performance.now();
  for (; done < rounds && !stopped; done++) {
    const unexplained = await arena.race(all[done % all.length]!);
    if (unexplained) {
      wrong.push(unexplained);
      say(JSON.stringify(unexplained, null, 2));
    }
    if ((done + 1) % 200 === 0)
      say(
        `  ${done + 1} rounds, ${wrong.length} without an explanation, ${((performance.now() - began) / 1000).toFixed(0)} s`,
      );
  }
  problems = await arena.problems();
  say(`  ${ofCapacity.length} races of capacity`);
  await using capacity = await CapacityArena.on(server.url, callers);
  for (const race of stopped ? [] : ofCapacity) {
    const unexplained = await capacity.race(race);
    if (unexplained) {
      wrong.push(unexplained);
      say(JSON.stringify(unexplained, null, 2));
    }
    if (stopped) break;
  }
} finally {
  await server.stop();
}
const ok = wrong.length === 0 && problems.length === 0 && !stopped;
const report = {
  pairs: pairsOf(all),
  races: all.length,
  ofCapacity: ofCapacity.length,
  callers,
  rounds: done,
  unexplained: wrong,
  problems,
  ok,
};
if (options.json) console.log(JSON.stringify(report));
else
  console.log(
    `  ${done} rounds over ${Math.min(done, all.length)} of ${all.length} races: ${wrong.length} without an explanation, verify ${problems.length === 0 ? 'ok' : JSON.stringify(problems)}`,
  );
process.exit(ok ? 0 : stopped ? 130 : 1);
