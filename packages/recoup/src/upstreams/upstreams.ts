// The upstreams of a handle: register, select, report, give back; block and free by hand; ask why, and since when.
import { randomUUID } from 'node:crypto';
import type { RawAnswer, Runner } from '../db/runner.ts';
import type { InputOf } from '../db/statement.ts';
import { type ErrorCode, Refusal } from '../errors.ts';
import * as check from '../input.ts';
import type { CapacityOutcome } from '../outcomes.ts';
import { closeBlock } from './close.ts';
import * as checked from './inputs.ts';
import { blockProvider, type ProviderRow } from './provider.ts';
import { type Check, type ExplainedRow, explainUpstreams, type HistoryRow, upstreamHistory } from './queries.ts';
import { registerUpstream } from './register.ts';
import { extendUpstream, releaseUpstream } from './release.ts';
import { reportUpstream } from './report.ts';
import { selectUpstream } from './select.ts';

/** One reason why an upstream is not used now, with what a person can do about it. */
export interface Failing extends Omit<Check, 'until'> {
  /** When it is expected to end: an estimate. Null: not by time. */
  until: Date | null;
}
export interface Explained {
  upstream: string;
  provider: string;
  usable: boolean;
  /** Every failing check, not only the first. */
  failing: Failing[];
  /** When it is expected back: an estimate; null where a person has to act first. */
  expectedRecoveryAt: Date | null;
  slotsOut: number;
  maxConcurrency: number | null;
}
export interface Selected {
  outcome: CapacityOutcome<'upstream.select'>;
  upstream: string | null;
  provider: string | null;
  credentialRef: string | null;
  lease: string | null;
  leaseUntil: Date | null;
  /** Of `none`: when to ask again, at most 300 s; and when the pool is expected back: an estimate. */
  retryAfterMs: number | null;
  expectedRecoveryAt: Date | null;
}
export interface Reported {
  outcome: CapacityOutcome<'upstream.report'>;
  /** The block it was about, and until when; the provider's, where the trouble is the provider's. */
  block: number | null;
  until: Date | null;
  step: number | null;
  /** Blocks that it closed. */
  closed: number;
}
export interface BlockEvent extends Omit<HistoryRow, 'at' | 'until' | 'evidenceAt'> {
  at: Date;
  until: Date | null;
  evidenceAt: Date;
}

const MAX_RETRY_MS = 300_000;
const REFUSED: Readonly<Record<string, ErrorCode>> = {
  no_upstream: 'no_upstream',
  no_block: 'no_block',
  conflict: 'conflict',
  retired: 'upstream_retired',
};
const instant = (text: string | null) => (text === null || text === 'infinity' ? null : new Date(text));

function orThrow<A extends RawAnswer>(answer: A, facts: Record<string, unknown>): A {
  const code = REFUSED[answer.outcome];
  if (code) throw new Refusal(code, undefined, facts);
  return answer;
}

/** The functions of one runner: of the handle, or of a transaction. */
export class Upstreams {
  readonly #runner: Runner;

  constructor(runner: Runner) {
    this.#runner = runner;
  }

  /** Makes an upstream known. `registered`; `duplicate`: it is, just so; `changed`: it was with other settings. Refuses `conflict`: in another pool or at another provider. */
  async register(input: checked.Register): Promise<{ outcome: CapacityOutcome<'upstream.register'> }> {
    const row = checked.registerInput(input);
    const answer = orThrow(await this.#runner.call(registerUpstream, row), { upstream: row.upstream_id });
    return { outcome: answer.outcome as 'registered' };
  }

  /** Changes what an operator decides: status, priority, weight, slots, credential. Refuses `no_upstream`, `upstream_retired`. */
  async change(
    upstream: string,
    change: checked.Change,
  ): Promise<{ outcome: Exclude<CapacityOutcome<'upstream.register'>, 'registered'> }> {
    const row = checked.changeInput(upstream, change);
    const answer = orThrow(await this.#runner.call(registerUpstream, row), { upstream });
    return { outcome: answer.outcome as 'changed' };
  }

  /**
   * Leases a slot of the best upstream that is usable now. `none`: with when to ask again. Give the slot back with `report` or
   * `release`; what is not given back lapses.
   */
  async select(input: checked.Select): Promise<Selected> {
    const { lease_id, ...row } = checked.selectInput(input);
    const id = lease_id ?? randomUUID();
    for (let round = 0; ; round++) {
      const [answer] = await this.#runner.read(selectUpstream, [{ ...row, lease_id: id }]);
      if (answer!.outcome === 'selected') {
        this.#runner.observe('upstream.select', 'selected');
        const { upstream, provider, credential_ref, lease_until } = answer!;
        const lease = { lease: id, leaseUntil: instant(lease_until) };
        return {
          outcome: 'selected',
          upstream,
          provider,
          credentialRef: credential_ref,
          ...lease,
          retryAfterMs: null,
          expectedRecoveryAt: null,
        };
      }
      // Passed over is not out: who was being selected or reported in that moment is looked at again.
      const { pool, model, capability } = row;
      const { all, now } = await this.#look({ pool, model, capability, nearest: NEAREST });
      if (round < MAX_ROUNDS && (answer!.outcome === 'again' || all.some((one) => one.usable))) continue;
      this.#runner.observe('upstream.select', 'none');
      return none(all, now);
    }
  }

  /** Keeps a slot. `stale`: it lapsed, and may be another's. */
  async extend(
    lease: string,
    leaseMs = 60_000,
  ): Promise<{ outcome: CapacityOutcome<'upstream.extend'>; leaseUntil: Date | null }> {
    const row = { lease_id: check.id('lease', lease), lease_ms: check.integer('leaseMs', leaseMs, 100, 86_400_000) };
    const answer = await this.#runner.call(extendUpstream, row);
    return { outcome: answer.outcome as 'extended', leaseUntil: instant(answer.lease_until) };
  }

  /** Gives a slot back without saying how it went. */
  async release(lease: string): Promise<{ outcome: CapacityOutcome<'upstream.release'> }> {
    const answer = await this.#runner.call(releaseUpstream, { lease_id: check.id('lease', lease) });
    return { outcome: answer.outcome as 'released' };
  }

  /**
   * Says how a use went, and gives its slot back. A failure with a `block` is `blocked`, `extended`, `reopened`, or `duplicate`: it was under
   * way already when the block came. A success closes what it refutes. `duplicate` too: its lease is gone, so it was heard before. Refuses `no_upstream`.
   */
  async report(input: checked.Report): Promise<Reported> {
    const row = checked.reportInput(input);
    const answer = orThrow(await this.#runner.call(reportUpstream, row), { upstream: row.upstream_id });
    const { provider, closed } = answer;
    const outcome = answer.outcome as Reported['outcome'];
    const opens = ['blocked', 'extended', 'reopened'].includes(outcome) && row.subject_type === 'upstream';
    const wide = opens && row.kind === 'server_error' && row.scope === '' ? await this.#blockProvider(provider) : null;
    const { block, until, step } = wide?.block ? wide : answer;
    return { outcome, block, until: instant(until), step: block === null ? null : step, closed };
  }

  /**
   * Whether the trouble is the provider's. A statement of its own behind the report: it concerns many upstreams, and where a process
   * dies in between, the next failure asks again.
   */
  async #blockProvider(provider: string): Promise<ProviderRow | null> {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const [answer] = await this.#runner.read(blockProvider, [{ provider }]);
      if (answer!.outcome === 'again') continue;
      this.#runner.observe('provider.block', answer!.outcome);
      return answer!;
    }
    return null;
  }

  /** Takes an upstream out by hand, until it is freed by hand. */
  async block(upstream: string, { reason, actor }: { reason: string; actor?: string }): Promise<Reported> {
    const block = { kind: 'operator', policy: 'manual', source: 'operator', reason } as const;
    return this.report({ upstream, success: false, block, ...(actor === undefined ? {} : { actor }) });
  }

  /**
   * Ends a block. `duplicate`: it is closed, has changed since the `generation` that was seen, or is manual and only a probe or a snapshot
   * speaks against it. Refuses `no_block`.
   */
  async free(
    block: number,
    {
      as = 'operator',
      generation,
      reason,
      actor,
    }: {
      as?: 'operator' | 'credential' | 'probe' | 'snapshot';
      generation?: number;
      reason?: string;
      actor?: string;
    } = {},
  ): Promise<{ outcome: CapacityOutcome<'block.close'> }> {
    const answer = await this.#runner.call(closeBlock, {
      block_id: check.integer('block', block, 1, check.MAX_AMOUNT),
      generation: check.optionalInteger('generation', generation, 1, 2_147_483_647),
      closed_as: check.oneOf('as', as, ['operator', 'credential', 'probe', 'snapshot']),
      reason: check.text('reason', reason, 2000, 'cut'),
      actor: check.text('actor', actor, 200),
    });
    return { outcome: orThrow(answer, { block }).outcome as 'closed' };
  }

  /** Every upstream of a pool, or one, in the order of picking: usable now, or every check that fails, and when it is expected back. */
  async explain(of: { pool?: string; upstream?: string; model?: string; capability?: string }): Promise<Explained[]> {
    check.onlyFields('explain', of, ['pool', 'upstream', 'model', 'capability']);
    const row = {
      pool: check.optionalId('pool', of.pool),
      upstream_id: check.optionalId('upstream', of.upstream),
      model: check.optionalId('model', of.model),
      capability: check.optionalId('capability', of.capability),
    };
    return (await this.#look(row)).all;
  }

  async #look(row: InputOf<(typeof explainUpstreams)['columns']>) {
    const rows = await this.#runner.read(explainUpstreams, [row]);
    return { all: rows.map(explained), now: Date.parse(rows[0]?.now ?? '') };
  }

  /** Who blocked an upstream and who freed it, when, on what evidence; oldest first. */
  async history(upstream: string): Promise<BlockEvent[]> {
    const rows = await this.#runner.read(upstreamHistory, [{ upstream_id: check.id('upstream', upstream) }]);
    return rows.map((row) => ({
      ...row,
      at: new Date(row.at),
      until: instant(row.until),
      evidenceAt: new Date(row.evidenceAt),
    }));
  }
}

/** More than any honest crowd needs before it is told to come back. */
const MAX_ROUNDS = 20;
/** So many of each priority are looked at for when to come back: an estimate anyway. */
const NEAREST = 20;

function explained({ upstream, provider, status, slots_out, max_concurrency, checks, now }: ExplainedRow): Explained {
  const failing: Failing[] = checks.map((one) => ({ ...one, until: instant(one.until) }));
  const rest = {
    block: null,
    kind: null,
    source: null,
    policy: null,
    subject: null,
    scope: null,
    until: null,
    reason: null,
  };
  if (status !== 'on')
    failing.unshift({ check: status, ...rest, nextStep: status === 'retired' ? 'register another' : 'switch it on' });
  if (max_concurrency !== null && slots_out >= max_concurrency)
    failing.push({ check: 'slots', ...rest, nextStep: 'wait for a slot' });
  const blocks = failing.filter((one) => one.check === 'blocked');
  const ends = blocks.map((one) => one.until);
  const needsPerson = status !== 'on' || ends.includes(null);
  const at = needsPerson ? null : new Date(Math.max(Date.parse(now), ...ends.map((end) => end!.getTime())));
  return {
    upstream,
    provider,
    usable: failing.length === 0,
    failing,
    expectedRecoveryAt: at,
    slotsOut: slots_out,
    maxConcurrency: max_concurrency,
  };
}

/** `now`: the database's clock when they were looked at. */
function none(all: readonly Explained[], now: number): Selected {
  const ends = all.flatMap((one) => (one.expectedRecoveryAt === null ? [] : [one.expectedRecoveryAt.getTime()]));
  const earliest = ends.length === 0 ? null : Math.min(...ends);
  const wait = earliest === null ? MAX_RETRY_MS : Math.min(Math.max(earliest - now, 1000), MAX_RETRY_MS);
  const nothing = { upstream: null, provider: null, credentialRef: null, lease: null, leaseUntil: null };
  return {
    outcome: 'none',
    ...nothing,
    retryAfterMs: wait,
    expectedRecoveryAt: earliest === null ? null : new Date(earliest),
  };
}
