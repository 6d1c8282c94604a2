// The upstreams of a handle: register, select, report, give back; block and free by hand; ask why, and since when.
import type { Runner } from '../db/runner.ts';
import { Refusal } from '../errors.ts';
import * as check from '../input.ts';
import type { CapacityOutcome } from '../outcomes.ts';
import { Limits } from '../windows/windows.ts';
import { type Block, type ListBlocks, readBlocks } from './blocks.ts';
import { closeBlock } from './close.ts';
import { replaceCredential } from './credential.ts';
import type { EstimateScore, Estimates } from './estimates.ts';
import { type Explained, explained, instant } from './explained.ts';
import { type BlockEvent, type HistoryOptions, readHistory, readHistoryPage } from './history.ts';
import * as checked from './inputs.ts';
import { type KnownWindow, readSnapshots } from './known-windows.ts';
import { ofUpstreams } from './limits.ts';
import { type ListUpstreams, readUpstreams } from './list.ts';
import type { Note } from './note-input.ts';
import { type Pool, type PoolState, readPool, readPools } from './pools.ts';
import { explainUpstreams } from './queries.ts';
import { registerUpstream } from './register.ts';
import { extendUpstream, releaseUpstream } from './release.ts';
import { type Decoding, type Noted, orThrow, type Reported, Reporting } from './reporting.ts';
import { type Selected, Selecting } from './selecting.ts';
import { bookUse, standing } from './uses.ts';

/** The functions of one runner: of the handle, or of a transaction. */
export class Upstreams {
  readonly limits: Limits;
  readonly #runner: Runner;
  readonly #estimates: Estimates;
  readonly #selecting: Selecting;
  readonly #reporting: Reporting;

  constructor(runner: Runner, decoding: Decoding, estimates: Estimates) {
    this.limits = new Limits(runner, ofUpstreams);
    this.#runner = runner;
    this.#estimates = estimates;
    this.#selecting = new Selecting(runner, estimates);
    this.#reporting = new Reporting(runner, decoding);
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
   * Another credential, or another secret behind the same reference: what was blocked because of the old one is open again, and failures of
   * requests with the old one change nothing any more. `duplicate`: that reference, and nothing was blocked. Refuses `no_upstream`,
   * `upstream_retired`.
   */
  async replaceCredential(
    upstream: string,
    input: checked.ReplaceCredential,
  ): Promise<{ outcome: CapacityOutcome<'upstream.replaceCredential'>; closed: number }> {
    const row = checked.replaceCredentialInput(upstream, input);
    const { outcome, closed } = orThrow(await this.#runner.call(replaceCredential, row), { upstream });
    return { outcome: outcome as 'replaced', closed };
  }

  /**
   * Leases a slot of the best upstream that is usable now. `none`: with when to ask again. Give the slot back with `report` or
   * `release`; what is not given back lapses.
   */
  async select(input: checked.Select): Promise<Selected> {
    const selected = await this.#selecting.select(checked.selectInput(input));
    if (selected.upstream !== null) this.#reporting.knows(selected.upstream, selected.provider!);
    return selected;
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
    const scopes = checked.scopesInput(used);
    const use = used.use ? await bookUse(this.#runner, null, scopes, used.use, { ...used, lease }) : null;
    const answer = await standing(this.#runner, { use }, () => this.#runner.call(releaseUpstream, row));
    return { outcome: answer.outcome as 'released' };
  }

  /**
   * Says how a use went, what it used, and gives its slot back: by what the provider answered (`answer`), or in your words. A failure with a `block` is
   * `blocked`, `extended`, `reopened`, or `duplicate`: it was under way already when the block came. A success closes what it refutes.
   * Refuses `no_upstream`.
   */
  report(input: checked.Report): Promise<Reported> {
    return this.#reporting.report(input);
  }

  /**
   * What a provider says of its windows apart from a use: a usage page, a read-out of somebody else's. A window under 100 % ends a `snapshot`
   * block of its scope; nothing goes back in time. `duplicate`: newer is known. Refuses `no_upstream`.
   */
  note(input: Note): Promise<Noted> {
    return this.#reporting.note(input);
  }

  /** The latest that is known of each window of an upstream and its group, by scope and name. */
  snapshots(upstream: string): Promise<KnownWindow[]> {
    return readSnapshots(this.#runner, upstream);
  }

  /** Takes an upstream out by hand, until it is freed by hand. */
  async block(upstream: string, input: { reason: string; actor?: string }): Promise<Reported> {
    check.onlyFields('block', input, ['reason', 'actor']);
    const { reason, actor } = input;
    const block = { kind: 'operator', policy: 'manual', source: 'operator', reason } as const;
    return this.report({ upstream, success: false, block, ...(actor === undefined ? {} : { actor }) });
  }

  /**
   * Ends a block, whatever its kind. `duplicate`: it is closed, or has changed since the `generation` that was seen. Refuses `no_block`,
   * and `manual_block` for one that only a person or a new credential ends.
   */
  async free(
    block: number,
    input: {
      as?: 'operator' | 'credential' | 'probe' | 'snapshot';
      generation?: number;
      reason?: string;
      actor?: string;
    } = {},
  ): Promise<{ outcome: CapacityOutcome<'block.close'> }> {
    check.onlyFields('free', input, ['as', 'generation', 'reason', 'actor']);
    const { as = 'operator', generation, reason, actor } = input;
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
    return readUpstreams(this.#runner, this.#estimates, options);
  }

  /** Blocks that are open, oldest first. */
  blocks(options: ListBlocks = {}): Promise<{ blocks: Block[]; cursor: number | null }> {
    return readBlocks(this.#runner, options);
  }

  /** Pools by their names, each in figures. Looks at every upstream that may be usable: for people, not for loops. */
  pools(options: { cursor?: string | null; limit?: number } = {}): Promise<{ pools: Pool[]; cursor: string | null }> {
    return readPools(this.#runner, this.#estimates, options);
  }

  /** Whether a pool can be used now, for a model or a capability; and when it is back. */
  pool(pool: string, use: { model?: string; capability?: string } = {}): Promise<PoolState> {
    return readPool(this.#runner, this.#estimates, pool, use);
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
    const spreadOf = await this.#estimates.spreads();
    return (await this.#runner.read(explainUpstreams, [row])).map((one) => explained(one, spreadOf));
  }

  /**
   * How good the estimates of each source were, by provider and class of trouble: of the newest 10,000 blocks that ended, or of those since an
   * instant. A provider's order to wait is scored as a guess of ours is.
   */
  estimates(options: { since?: Date } = {}): Promise<EstimateScore[]> {
    return this.#estimates.score(options);
  }

  /** Who changed an upstream, who blocked and who freed it, when, on what evidence; oldest first. */
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
