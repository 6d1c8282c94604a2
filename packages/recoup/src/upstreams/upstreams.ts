// The upstreams of a handle: register, select, report, give back; block and free by hand; ask why, and since when.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Runner } from '../db/runner.ts';
import type { InputOf } from '../db/statement.ts';
import * as check from '../input.ts';
import type { CapacityOutcome } from '../outcomes.ts';
import { closeBlock } from './close.ts';
import { replaceCredential } from './credential.ts';
import {
  type BlockEvent,
  type Explained,
  explained,
  happened,
  type KnownWindow,
  known,
  none,
  type Selected,
} from './explaining.ts';
import * as checked from './inputs.ts';
import type { Note } from './note-input.ts';
import { explainUpstreams, snapshotsOf, upstreamHistory } from './queries.ts';
import { registerUpstream } from './register.ts';
import { extendUpstream, releaseUpstream } from './release.ts';
import { type Decoding, instant, type Noted, orThrow, type Reported, Reporting } from './reporting.ts';
import { selectUpstream } from './select.ts';
import { Turns } from './turns.ts';

/** More than any honest crowd needs before it is told to come back. */
const MAX_ROUNDS = 20;
/** So many rounds longer a sticky key waits for its own, before it takes another for once. */
const STICKY_ROUNDS = 30;
/** So many of each priority are looked at for when to come back: an estimate anyway. */
const NEAREST = 20;

/** The functions of one runner: of the handle, or of a transaction. */
export class Upstreams {
  readonly #runner: Runner;
  readonly #reporting: Reporting;
  readonly #turns = new Turns();

  constructor(runner: Runner, decoding: Decoding) {
    this.#runner = runner;
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
    const row = checked.selectInput(input);
    return this.#turns.take(row.pool, () => this.#select(row));
  }

  async #select({ lease_id, sticky, ...row }: ReturnType<typeof checked.selectInput>): Promise<Selected> {
    const id = lease_id ?? randomUUID();
    for (let round = 0; ; round++) {
      // Where the key's own is in others' hands all the time, any is better than none; the key stays where it was.
      const key = round < STICKY_ROUNDS ? sticky : null;
      const [answer] = await this.#runner.read(selectUpstream, [{ ...row, sticky: key, lease_id: id }]);
      if (answer!.outcome === 'selected') {
        this.#runner.observe('upstream.select', 'selected');
        const { upstream, provider, credential_ref, lease_until } = answer!;
        this.#reporting.knows(upstream!, provider!);
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
      if (key !== null && answer!.outcome === 'again') {
        await sleep(Math.random() * round);
        continue;
      }
      // Passed over is not out: who was being selected or reported in that moment is looked at again.
      const { pool, model, capability } = row;
      const { all, now } = await this.#look({ pool, model, capability, nearest: NEAREST });
      if (
        round < (sticky === null ? 0 : STICKY_ROUNDS) + MAX_ROUNDS &&
        (answer!.outcome === 'again' || all.some((one) => one.usable))
      )
        continue;
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
   * Says how a use went, and gives its slot back: by what the provider answered (`answer`), or in your words. A failure with a `block` is
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
  async snapshots(upstream: string): Promise<KnownWindow[]> {
    const rows = await this.#runner.read(snapshotsOf, [{ upstream_id: check.id('upstream', upstream) }]);
    return rows.map(known);
  }

  /** Takes an upstream out by hand, until it is freed by hand. */
  async block(upstream: string, { reason, actor }: { reason: string; actor?: string }): Promise<Reported> {
    const block = { kind: 'operator', policy: 'manual', source: 'operator', reason } as const;
    return this.report({ upstream, success: false, block, ...(actor === undefined ? {} : { actor }) });
  }

  /**
   * Ends a block, whatever its kind. `duplicate`: it is closed, or has changed since the `generation` that was seen. Refuses `no_block`,
   * and `manual_block` for one that only a person or a new credential ends.
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

  /** Who changed an upstream, who blocked and who freed it, when, on what evidence; oldest first. */
  async history(upstream: string): Promise<BlockEvent[]> {
    const rows = await this.#runner.read(upstreamHistory, [{ upstream_id: check.id('upstream', upstream) }]);
    return rows.map(happened);
  }
}
