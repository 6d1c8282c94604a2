// The model of capacity keeps every promise in every state of small worlds, and its walk finds what a broken one does.
import { describe, expect, test } from 'vitest';
import { capacityModel } from '../model/capacity/model.ts';
import { capacityMutants } from '../model/capacity/mutants.ts';
import { forgotten, oneProvider, oneUpstream, operators, source, twoReasons } from '../model/capacity/scenarios.ts';
import { type CapacityWalk, walkCapacity } from '../model/capacity/walk.ts';
import { capacityTransitions } from '../src/outcomes.ts';

const SMALL = [
  ...[forgotten(), source('retry_after'), source('reset_announced'), source('backoff')],
  ...[twoReasons(), oneUpstream(1), oneProvider(1), operators()],
];

/**
 * Transitions that the model does not have: limits and windows are held to an independent calendar and to sums (windows-*.test.ts), what
 * providers say of their windows and what people note are one row each, written by one statement.
 */
const NOT_MODELED: readonly string[] = [
  ...['upstream.replaceCredential', 'snapshot.note', 'inbox.take', 'inbox.snooze', 'inbox.note'],
  ...['limit.set', 'limit.end', 'window.use', 'window.reset', 'window.roll'],
  // Of one statement what two in the models do.
  'job.claim',
];

test('every transition of the table is in the model', () => {
  const missing = Object.keys(capacityTransitions).filter((name) => !(name in capacityModel));
  expect(missing.sort()).toEqual([...NOT_MODELED].sort());
});

/** Answers that no walk can reach: locks are not in the model, each step is taken alone and whole. */
const UNREACHABLE = ['upstream_busy'];
const counts: Record<string, Record<string, number>> = {};

describe('every state of a small world of capacity', () => {
  test.each(SMALL)('$name', (scenario) => {
    const walked = walkCapacity(scenario);
    expect(walked.violation).toBeUndefined();
    expect(walked.states).toBeGreaterThan(100);
    for (const [name, answers] of Object.entries(walked.counts)) counts[name] = { ...counts[name], ...answers };
  });

  test('together they meet every answer of the table', () => {
    const missed = Object.keys(capacityModel).flatMap((name) => {
      const { outcomes, refusals } = capacityTransitions[name as keyof typeof capacityModel];
      return [...outcomes, ...refusals]
        .filter((answer) => !UNREACHABLE.includes(answer) && !counts[name]?.[answer])
        .map((answer) => `${name} ${answer}`);
    });
    expect(missed).toEqual([]);
  });
});

describe('a broken model of capacity is caught', () => {
  test.each(Object.entries(capacityMutants))('%s', (_name, mutant) => {
    const by = { ...capacityModel, ...mutant };
    let found: CapacityWalk['violation'];
    for (const scenario of SMALL) {
      found = walkCapacity(scenario, by).violation;
      if (found) break;
    }
    expect(found?.problems.length).toBeGreaterThan(0);
    expect(found?.history.length).toBeGreaterThan(0);
  });
});
