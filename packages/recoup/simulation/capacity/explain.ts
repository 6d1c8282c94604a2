// Finds an order of calls in which the model gives the answers that were given, and ends in the rows that are there.
import { applyCapacity, type CapacityAction } from '../../model/capacity/model.ts';
import { capacityPromises } from '../../model/capacity/promises.ts';
import { asksProvider, troubleOf } from '../../model/capacity/reports.ts';
import { type Capacity, type CapacityStep, usableIn } from '../../model/capacity/world.ts';
import { nameOf } from '../../model/promises.ts';
import { Refusal } from '../../src/index.ts';
import { named } from '../../test/support/look.ts';
import type { CapacityCall } from './commands.ts';

/** What became of a call, as far as is known. */
export interface Heard {
  readonly call: CapacityCall;
  /** What its caller was answered; undefined where nobody heard. */
  readonly got: unknown;
  /** How many of its transitions were done: all, some, or as many as explain it. */
  readonly done: 'all' | 'any' | number;
  /** Whether rows may have been held by others, so that a selection passed over them. */
  readonly passedOver: boolean;
}

export interface Told {
  readonly action: CapacityAction;
  readonly answer: CapacityStep['answer'];
}

export interface Found {
  readonly world: Capacity;
  readonly told: readonly Told[];
}

interface State extends Found {
  /** Of each call what it has still to do: its own transition, then its question about the provider. */
  readonly left: readonly Next[];
}

type Next =
  | { readonly at: 'call' }
  | { readonly at: 'provider'; readonly provider: string; readonly answer: CapacityStep['answer'] }
  | { readonly at: 'end' };

export interface Around {
  readonly leaseOf: (lease: string) => string | undefined;
  readonly nameOfBlock: (id: number) => string | undefined;
  readonly at: (ms: number) => Date;
  /** What is wrong where all calls are done. */
  readonly differences: (world: Capacity) => string[];
}

/** Calls in an order of their own; `inOrder`: of each list one after the other, the lists among themselves in any order. */
export function explain(start: Capacity, heard: readonly Heard[], inOrder: boolean, around: Around): Found | string[] {
  let problems: string[] = ['no order of the calls explains their answers'];
  const visit = (state: State): Found | undefined => {
    const open = state.left.flatMap(({ at }, i) => (at === 'end' ? [] : [i]));
    const may = inOrder ? open.slice(0, 1) : open;
    for (const i of may) {
      for (const next of steps(state, heard[i]!, i, around)) {
        if (typeof next === 'string') {
          problems = [next];
          continue;
        }
        const found = visit(next);
        if (found) return found;
      }
    }
    if (open.length > 0) return undefined;
    const wrong = around.differences(state.world);
    if (wrong.length === 0) return state;
    problems = wrong;
    return undefined;
  };
  const left = heard.map((): Next => ({ at: 'call' }));
  return visit({ world: start, told: [], left }) ?? problems;
}

/** How a call can go on: states, or why not. */
function steps(state: State, heard: Heard, i: number, around: Around): (State | string)[] {
  const { got, done, call } = heard;
  const next = state.left[i]!;
  const unheard = got === undefined;
  const doneBefore = next.at === 'call' ? 0 : 1;
  const stops = unheard && (done === 'any' || done === doneBefore);
  const end = (of: State): State => ({ ...of, left: of.left.with(i, { at: 'end' }) });
  const ways: (State | string)[] = [];
  const goes = done === 'any' || done === 'all' || done > doneBefore;
  if (goes && next.at === 'call') ways.push(...called(state, heard, i, around));
  if (goes && next.at === 'provider') {
    for (const held of heldBeside(state.world, next.provider, heard.passedOver)) {
      const action: CapacityAction = { transition: 'provider.block', input: { provider: next.provider, held } };
      const { state: after, answer, wrong } = take(state, action);
      const final = answer.block ? answer : next.answer;
      const said = { ...final, outcome: nameOf(next.answer), closed: next.answer.closed ?? 0 };
      const differs = wrong ?? (unheard ? undefined : otherwise(call, got, said, around));
      ways.push(differs ?? end(after));
    }
  }
  if (stops) ways.push(end(state));
  return ways;
}

/** Which of the upstreams in trouble somebody may hold: none where nobody is there, else any of them. */
function heldBeside(world: Capacity, provider: string, passedOver: boolean): string[][] {
  if (!passedOver) return [[]];
  const failing = [...new Set(troubleOf(world, provider).map(([, { subjectId }]) => subjectId))];
  const sets: string[][] = [[]];
  for (const id of failing) sets.push(...sets.map((set) => [...set, id]));
  return sets;
}

function take(state: State, action: CapacityAction) {
  const { world, answer } = applyCapacity(state.world, action);
  const problems = capacityPromises({ before: state.world, action, after: world, answer });
  const wrong = problems.length > 0 ? `${action.transition} ${problems.join('; ')}` : undefined;
  return { state: { ...state, world, told: [...state.told, { action, answer }] }, answer, wrong };
}

function called(state: State, heard: Heard, i: number, around: Around): (State | string)[] {
  const { call, got } = heard;
  if (call.transition !== 'upstream.select') return answered(state, heard, call, i, around);
  const action = picked(call, got, around);
  if (got !== undefined) return answered(state, heard, action, i, around);
  // Of a lost answer the lease says which it was; unless it was given in another call of the same transaction, or given back there.
  const usable = usableIn(state.world, call.input.pool, call.input);
  const ids = new Set([action.input.upstream, null, ...usable.map(({ id }) => id)]);
  const picks = [...ids].map((upstream) => ({ ...action, input: { ...action.input, upstream } }));
  return picks.flatMap((pick) => answered(state, heard, pick, i, around));
}

function answered(
  state: State,
  { call, got, passedOver }: Heard,
  action: CapacityAction,
  i: number,
  around: Around,
): (State | string)[] {
  if (action.transition === 'upstream.select' && !passedOver) {
    const wrong = notBest(state.world, action.input);
    if (wrong) return [wrong];
  }
  const { state: after, answer, wrong } = take(state, action);
  if (wrong) return [wrong];
  const asks = call.transition === 'upstream.report' && asksProvider(call.input, nameOf(answer));
  if (asks && call.transition === 'upstream.report') {
    const { provider } = after.world.upstreams[call.input.upstream]!;
    return [{ ...after, left: after.left.with(i, { at: 'provider', provider, answer }) }];
  }
  const differs = got === undefined ? undefined : otherwise(call, got, answer, around);
  return [differs ?? { ...after, left: after.left.with(i, { at: 'end' }) }];
}

/** The selection with what it was given. */
function picked(call: Extract<CapacityCall, { transition: 'upstream.select' }>, got: unknown, { leaseOf }: Around) {
  const upstream = got === undefined ? leaseOf(call.input.lease) : (got as { upstream?: string | null }).upstream;
  return { ...call, input: { ...call.input, upstream: upstream ?? null } };
}

/** Where nobody held anything, none means that none is usable, and what is given has the best priority. */
function notBest(world: Capacity, input: Extract<CapacityCall, { transition: 'upstream.select' }>['input']) {
  const prior = world.leases[input.lease];
  if (prior && prior.leaseUntil > world.clock) return undefined;
  const usable = usableIn(world, input.pool, input);
  if (input.upstream === null)
    return usable.length > 0
      ? `upstream.select was answered none, ${usable.map(({ id }) => id)} could be given`
      : undefined;
  const best = Math.min(...usable.map(({ priority }) => priority));
  const given = world.upstreams[input.upstream]?.priority;
  return given !== best
    ? `upstream.select gave ${input.upstream} of priority ${given}, there was one of ${best}`
    : undefined;
}

/** What an answer says that the model does not. */
function otherwise(
  { transition }: CapacityCall,
  got: unknown,
  answer: CapacityStep['answer'],
  { nameOfBlock, at }: Around,
): string | undefined {
  const name = named(got);
  if (name !== nameOf(answer)) return `${transition} was answered ${name}, the model says ${nameOf(answer)}`;
  if (got instanceof Refusal) return undefined;
  const said = got as Record<string, unknown>;
  const { outcome: _outcome, ...facts } = answer as unknown as Record<string, unknown>;
  for (const [field, should] of Object.entries(facts)) {
    if (!(field in said)) continue;
    const is = said[field];
    const same =
      is instanceof Date
        ? typeof should === 'number' && is.getTime() === at(should).getTime()
        : field === 'block' && typeof is === 'number'
          ? nameOfBlock(is) === should
          : is === (should ?? null);
    if (!same)
      return `${transition} was answered ${field} ${JSON.stringify(is)}, the model says ${JSON.stringify(should)}`;
  }
  return undefined;
}
