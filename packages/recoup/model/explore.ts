// Walks every scenario and prints what it saw: `npm run explore [-- --json]`. Exits 1 on a violation.
import { capacityTransitions, transitions } from '../src/outcomes.ts';
import { forgotten, oneProvider, oneUpstream, operators, source, twoReasons } from './capacity/scenarios.ts';
import { type CapacityWalk, walkCapacity } from './capacity/walk.ts';
import { oneJob, queueRims, threeJobs, walletRims } from './scenarios.ts';
import { type Walk, walk } from './walk.ts';

/** Answers of the table that no walk can reach, and why. */
const UNREACHABLE: Readonly<Record<string, string>> = {
  wallet_busy: 'locks are not in the model: each step is taken alone and whole',
  upstream_busy: 'locks are not in the model: each step is taken alone and whole',
};

interface Unreached {
  readonly transition: string;
  readonly answer: string;
  readonly reason: string;
}

type Walked = Walk | CapacityWalk;

function merge(walks: readonly Walked[]): Record<string, Record<string, number>> {
  const counts: Record<string, Record<string, number>> = {};
  for (const { counts: more } of walks) {
    for (const [transition, answers] of Object.entries(more)) {
      const all = counts[transition] ?? {};
      for (const [answer, count] of Object.entries(answers)) all[answer] = (all[answer] ?? 0) + count;
      counts[transition] = all;
    }
  }
  return counts;
}

function unreached(counts: Record<string, Record<string, number>>): Unreached[] {
  const missing: Unreached[] = [];
  for (const [transition, { outcomes, refusals }] of Object.entries({ ...transitions, ...capacityTransitions })) {
    for (const answer of [...outcomes, ...refusals]) {
      if (counts[transition]?.[answer]) continue;
      missing.push({ transition, answer, reason: UNREACHABLE[answer] ?? 'wider bounds may reach it' });
    }
  }
  return missing;
}

function print(walks: readonly Walked[], seconds: number): void {
  for (const walked of walks) {
    const { scenario, states, steps, answers, depth } = walked;
    const crashes = 'crashPoints' in walked ? `, ${walked.crashPoints} crash points` : '';
    console.log(`${scenario}: ${states} states, ${steps} steps, ${answers} answers${crashes}, depth ${depth}`);
  }
  const counts = merge(walks);
  for (const [transition, answers] of Object.entries(counts)) {
    console.log(
      `${transition}: ${Object.entries(answers)
        .map(([answer, count]) => `${answer} ${count}`)
        .join(', ')}`,
    );
  }
  for (const { transition, answer, reason } of unreached(counts))
    console.log(`never: ${transition} ${answer} (${reason})`);
  const violation = walks.find((one) => one.violation)?.violation;
  console.log(violation ? `VIOLATED: ${violation.problems.join('; ')}` : `No violation, ${seconds.toFixed(1)} s.`);
  for (const [index, line] of (violation?.history ?? []).entries()) console.log(`  ${index + 1}. ${line}`);
}

const started = performance.now();
const walks: Walked[] = [];
for (const scenario of [walletRims(), queueRims(), oneJob('failure', 3), oneJob('final', 3), threeJobs(2)]) {
  const progress = (states: number, depth: number) =>
    process.stderr.write(`${scenario.name}: ${states} states, depth ${depth}\n`);
  walks.push(walk(scenario, { progress }));
  if (walks.at(-1)?.violation) break;
}
const ofCapacity = [
  ...[forgotten(), source('retry_after'), source('reset_announced'), source('backoff')],
  ...[twoReasons(), operators(), oneUpstream(1), oneUpstream(2), oneProvider(2)],
];
for (const scenario of ofCapacity) {
  if (walks.at(-1)?.violation) break;
  walks.push(walkCapacity(scenario));
  process.stderr.write(`${scenario.name}: ${walks.at(-1)?.states} states\n`);
}
const seconds = (performance.now() - started) / 1000;
const violated = walks.some((one) => one.violation);
if (process.argv.includes('--json')) {
  const counts = merge(walks);
  console.log(JSON.stringify({ holds: !violated, seconds, walks, counts, unreached: unreached(counts) }));
} else print(walks, seconds);
process.exitCode = violated ? 1 : 0;
