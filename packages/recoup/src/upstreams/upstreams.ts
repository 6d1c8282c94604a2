// The upstreams of a handle: register, select, report, give back; block and free by hand; ask why, and since when.
import { randomUUID } from 'node:crypto';
import type { RawAnswer, Runner } from '../db/runner.ts';
import type { InputOf } from '../db/statement.ts';
import { type ErrorCode, Refusal } from '../errors.ts';
import * as check from '../input.ts';
import type { CapacityOutcome } from '../outcomes.ts';
import { type Used, type UseKey, useInput } from '../windows/inputs.ts';
import { Limits } from '../windows/windows.ts';
import { type Block, type ListBlocks, readBlocks } from './blocks.ts';
import { closeBlock } from './close.ts';
import { type Explained, explained, instant, whenBack } from './explained.ts';
import { type BlockEvent, type HistoryOptions, readHistory, readHistoryPage } from './history.ts';
import * as checked from './inputs.ts';
import { ofUpstreams, useUpstream } from './limits.ts';
import { type ListUpstreams, readUpstreams } from './list.ts';
import { type Pool, type PoolState, readPool, readPools } from './pools.ts';
import { blockProvider, type ProviderRow } from './provider.ts';
import { explainUpstreams } from './queries.ts';
import { setApart } from './quota.ts';
import { registerUpstream } from './register.ts';
import { extendUpstream, releaseUpstream } from './release.ts';
import { reportUpstream } from './report.ts';
import { selectUpstream } from './select.ts';

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
  /** What became of its use; null: nothing was to be booked. */
  use: CapacityOutcome<'window.use'> | null;
}
const REFUSED: Readonly<Record<string, ErrorCode>> = {
  no_upstream: 'no_upstream',
  no_block: 'no_block',
  conflict: 'conflict',
  retired: 'upstream_retired',
  needs_person: 'needs_person',
};

function orThrow<A extends RawAnswer>(answer: A, facts: Record<string, unknown>): A {
  const code = REFUSED[answer.outcome];
  if (code) throw new Refusal(code, undefined, facts);
  return answer;
}

/** The functions of one runner: of the handle, or of a transaction. */
export class Upstreams {
  readonly limits: Limits;
  readonly #runner: Runner;

  constructor(runner: Runner) {
    this.limits = new Limits(runner, ofUpstreams);
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
      return { ...NONE, ...whenBack(all, now) };
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

  /** Gives a slot back without saying how it went. With `use`, that is booked as by a report; else nothing was used. */
  async release(
    lease: string,
    used: Pick<checked.Report, 'use' | 'key' | 'model' | 'capability'> = {},
  ): Promise<{ outcome: CapacityOutcome<'upstream.release'> }> {
    check.onlyFields('release', used, ['use', 'key', 'model', 'capability']);
    const row = { lease_id: check.id('lease', lease) };
    if (used.use) await this.#book(null, checked.scopesInput(used), used.use, { ...used, lease });
    const answer = await this.#runner.call(releaseUpstream, row);
    return { outcome: answer.outcome as 'released' };
  }

  /** Of an upstream, or of the one that the lease is of. A statement of its own: it applies whatever becomes of the report. */
  async #book(upstream: string | null, scopes: string[], use: Used | undefined, by: UseKey): Promise<Reported['use']> {
    const row = useInput(use, by);
    if (row === null) return null;
    const of = { upstream_id: upstream, lease_id: by.lease ?? null };
    const { outcome, full } = await this.#runner.call(useUpstream, { ...of, ...row, scopes });
    for (let round = 0; full !== null && round < MAX_APART; round++) {
      if ((await this.#runner.read(setApart, [{ upstream_id: full }]))[0]!.outcome !== 'again') break;
    }
    return outcome as 'booked';
  }

  /**
   * Says how a use went, what it used, and gives its slot back. A failure with a `block` is `blocked`, `extended`, `reopened`, or `duplicate`: it was under
   * way already when the block came. A success closes what it refutes. Refuses `no_upstream`.
   */
  async report(input: checked.Report): Promise<Reported> {
    const row = checked.reportInput(input);
    const use = await this.#book(row.upstream_id, row.scopes, input.use, input);
    const answer = orThrow(await this.#runner.call(reportUpstream, row), { upstream: row.upstream_id });
    const { provider, closed } = answer;
    for (const [policy, how] of answer.recoveries ?? []) this.#runner.observe('block.recover', how, { policy });
    const outcome = answer.outcome as Reported['outcome'];
    const opens = ['blocked', 'extended', 'reopened'].includes(outcome) && row.subject_type === 'upstream';
    const wide = opens && row.kind === 'server_error' && row.scope === '' ? await this.#blockProvider(provider) : null;
    const { block, until, step } = wide?.block ? wide : answer;
    return { outcome, block, until: instant(until), step: block === null ? null : step, closed, use };
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

  /** Ends a block. `duplicate`: it is closed, or has changed since the `generation` that was seen. Refuses `no_block`; `needs_person`: a manual one, as `probe` or `snapshot`. */
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
    const outcome = orThrow(answer, { block }).outcome as CapacityOutcome<'block.close'>;
    const how = outcome === 'duplicate' ? outcome : as === 'probe' ? 'probe_confirmed' : as;
    this.#runner.observe('block.recover', how, { policy: answer.policy });
    return { outcome };
  }

  /** Upstreams of a filter by their ids, each with every check that fails. With `usable` a page may be short and go on: only a `cursor` of null is the end. */
  list(options: ListUpstreams = {}): Promise<{ upstreams: Explained[]; cursor: string | null }> {
    return readUpstreams(this.#runner, options);
  }

  /** Blocks that are open, oldest first. */
  blocks(options: ListBlocks = {}): Promise<{ blocks: Block[]; cursor: number | null }> {
    return readBlocks(this.#runner, options);
  }

  /** Pools by their names, each in figures. Looks at every upstream that may be usable: for people, not for loops. */
  pools(options: { cursor?: string | null; limit?: number } = {}): Promise<{ pools: Pool[]; cursor: string | null }> {
    return readPools(this.#runner, options);
  }

  /** Whether a pool can be used now, for a model or a capability; and when it is back. */
  pool(pool: string, use: { model?: string; capability?: string } = {}): Promise<PoolState> {
    return readPool(this.#runner, pool, use);
  }

  /** Every upstream of a pool (or its first `limit`), or one, in the order of picking: usable now, or every check that fails, and when it is expected back. */
  async explain(of: {
    pool?: string;
    upstream?: string;
    model?: string;
    capability?: string;
    limit?: number;
  }): Promise<Explained[]> {
    check.onlyFields('explain', of, ['pool', 'upstream', 'model', 'capability', 'limit']);
    const row = {
      pool: check.optionalId('pool', of.pool),
      upstream_id: check.optionalId('upstream', of.upstream),
      model: check.optionalId('model', of.model),
      capability: check.optionalId('capability', of.capability),
      count: check.optionalInteger('limit', of.limit, 1, 1000),
    };
    return (await this.#look(row)).all;
  }

  async #look(row: InputOf<(typeof explainUpstreams)['columns']>) {
    const rows = await this.#runner.read(explainUpstreams, [row]);
    return { all: rows.map(explained), now: Date.parse(rows[0]?.now ?? '') };
  }

  /** Who blocked an upstream and who freed it, when, on what evidence; oldest first. */
  async history(upstream: string): Promise<BlockEvent[]> {
    return readHistory(this.#runner, upstream);
  }

  /** One page of its history, newest first: `cursor` goes on behind the last event (null: that was all). Refuses `no_upstream`. */
  async historyPage(
    upstream: string,
    options: HistoryOptions = {},
  ): Promise<{ events: BlockEvent[]; cursor: string | null }> {
    const page = await readHistoryPage(this.#runner, upstream, options);
    if (page.events.length === 0 && (await this.explain({ upstream })).length === 0)
      throw new Refusal('no_upstream', undefined, { upstream });
    return page;
  }
}

const NONE = {
  outcome: 'none',
  upstream: null,
  provider: null,
  credentialRef: null,
  lease: null,
  leaseUntil: null,
} as const;

/** More than any honest crowd needs before it is told to come back. */
const MAX_ROUNDS = 20;
/** Where others change the limit so often, one of them says it. */
const MAX_APART = 3;
/** So many of each priority are looked at for when to come back: an estimate anyway. */
const NEAREST = 20;
