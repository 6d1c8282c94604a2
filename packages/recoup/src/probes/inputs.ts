// What callers say of probers and what probers say of upstreams, checked.
import { InvalidInput } from '../errors.ts';
import * as check from '../input.ts';
import type { ProviderAnswer } from '../upstreams/answer.ts';
import type { Used } from '../windows/inputs.ts';
import { type HttpProbe, httpInput } from './http.ts';

/** How the upstreams of a pool are asked whether they work again. */
export interface SetProber {
  pool: string;
  /** The request that asks, for processes that send it; without it, processes that were opened with a function for the pool ask. */
  http?: HttpProbe;
  /** How long a block whose time is up waits for the answer before it lets a trial in by itself; 30,000 unless set, 1,000 to 3,600,000. */
  graceMs?: number;
  /** How often a reset that was announced is asked early; 900,000 unless set, from 1,000 on. */
  everyMs?: number;
  /** How long an answer may take; 10,000 unless set, at most `graceMs`. */
  timeoutMs?: number;
  /** What a probe uses, by unit: booked on the limits of its upstream. One request unless it says how many. */
  cost?: Used;
  actor?: string;
}

/** What a prober is asked. */
export interface ProbeQuestion {
  probe: number;
  block: number;
  upstream: string;
  pool: string;
  provider: string;
  credentialRef: string | null;
  /** Only this model or capability is out; null: everything is. */
  model: string | null;
  capability: string | null;
  kind: 'due' | 'early' | 'asked';
  /** Fires when the time for the answer is over. */
  signal: AbortSignal;
}

/** `yes`: it works. `no`: it does not. `unavailable`: this could not be told. */
export type ProbeResult = 'yes' | 'no' | 'unavailable';

/** What a prober says: a word, or a word with more, or the provider's answer, which is decoded. */
export type ProbeSaid =
  | ProbeResult
  | {
      result: ProbeResult;
      /** Of a no: how long it is still out, as the provider says. */
      forMs?: number;
      /** For people, without secrets. */
      reason?: string;
      /** What it used, where that is not what the pool is set to. */
      cost?: Used;
    }
  | { answer: ProviderAnswer; cost?: Used };

/** Asks whether an upstream works again. What it throws means that it could not tell. */
export type Prober = (question: ProbeQuestion) => ProbeSaid | Promise<ProbeSaid>;

export const RESULTS = ['yes', 'no', 'unavailable'] as const;
const MAX_COST = 1_000_000_000_000;

export function proberInput(input: SetProber) {
  check.onlyFields('prober', input, ['pool', 'http', 'graceMs', 'everyMs', 'timeoutMs', 'cost', 'actor']);
  const grace = check.optionalInteger('graceMs', input.graceMs, 1000, 3_600_000) ?? 30_000;
  return {
    pool: check.id('pool', input.pool),
    http: input.http === undefined ? null : httpInput(input.http),
    grace_ms: grace,
    every_ms: check.optionalInteger('everyMs', input.everyMs, 1000, 604_800_000) ?? 900_000,
    timeout_ms: check.optionalInteger('timeoutMs', input.timeoutMs, 100, grace) ?? Math.min(10_000, grace),
    cost: costInput(input.cost),
    actor: check.text('actor', input.actor, 200),
  };
}

/** What a probe uses: a request, unless it says how many. */
export function costInput(cost: unknown): Record<string, number> {
  if ((cost ?? null) === null) return { requests: 1 };
  if (typeof cost !== 'object' || Array.isArray(cost))
    throw new InvalidInput('cost', 'must be an object of integers by unit, as { requests: 1, tokens: 20 }');
  const units = Object.entries(cost as object);
  if (units.length > 20) throw new InvalidInput('cost', 'must have at most 20 units');
  for (const [unit, amount] of units) {
    check.id('cost key', unit);
    check.integer(`cost.${unit}`, amount, 0, MAX_COST);
  }
  return { requests: 1, ...Object.fromEntries(units) };
}

/** The functions that a process has, by pool. */
export function probersInput(value: unknown): ReadonlyMap<string, Prober> {
  if (value === undefined) return new Map();
  if (typeof value !== 'object' || value === null) throw new InvalidInput('probers', 'must be functions by pool');
  return new Map(
    Object.entries(value).map(([pool, prober]) => {
      if (typeof prober !== 'function') throw new InvalidInput(`probers.${pool}`, 'must be a function');
      return [check.id('probers', pool), prober as Prober];
    }),
  );
}
