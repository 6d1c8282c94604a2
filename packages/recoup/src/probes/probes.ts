// The probes of a handle: how pools are asked, asking, a person's re-check of many, and what it cost and bought.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Runner } from '../db/runner.ts';
import { Refusal } from '../errors.ts';
import * as check from '../input.ts';
import type { ProbeTransition } from '../probe-outcomes.ts';
import { instant } from '../upstreams/explained.ts';
import { POLICIES } from '../upstreams/inputs.ts';
import { proberInput, type SetProber } from './inputs.ts';
import type { Probed, Probing } from './probing.ts';
import { listProbers, listProbes, type ProbeRow, type ProberRow } from './queries.ts';
import { askProbes, readProgress } from './recheck.ts';
import { type ProbeScore, scoreProbes } from './report.ts';
import { removeProber, setProber } from './set.ts';

/** How a pool is asked. */
export interface ProberOf extends Omit<ProberRow, 'setAt'> {
  setAt: Date;
}

/** One probe, as it went. */
export interface Probe extends Omit<ProbeRow, 'startedAt' | 'endedAt'> {
  startedAt: Date;
  endedAt: Date | null;
}

/** Which blocks are asked again: of the upstreams of a pool and of what they share; all that is given must match. */
export interface RecheckFilter {
  pool: string;
  policy?: (typeof POLICIES)[number];
  kind?: string;
}

export interface Recheck extends RecheckFilter {
  /** How many blocks, as `preview` counted them. */
  confirm: number;
  /** Who wants it: a manual block that a yes ends was ended by him. */
  actor: string;
  /** How long to wait for answers; 600,000 unless set. What is not answered by then stays out, and is still asked. */
  withinMs?: number;
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
}

/** How far a re-check is. `open` are not answered yet, `moved` were closed or changed by other news before they were. */
export interface Progress {
  of: number;
  open: number;
  yes: number;
  no: number;
  unavailable: number;
  moved: number;
}

const POLL_MS = 250;

export class Probes {
  readonly #runner: Runner;
  readonly #reports: Runner;
  readonly #probing: Probing;
  readonly #wake: () => void;

  constructor(runner: Runner, reports: Runner, probing: Probing, wake: () => void) {
    this.#runner = runner;
    this.#reports = reports;
    this.#probing = probing;
    this.#wake = wake;
  }

  /** Says how the upstreams of a pool are asked. What blocks them from then on waits for an answer when its time is up. `duplicate`: they are asked so. */
  async set(input: SetProber): Promise<{ outcome: ProbeTransition<'prober.set'> }> {
    const [answer] = await this.#runner.read(setProber, [proberInput(input)]);
    this.#runner.observe('prober.set', answer!.outcome);
    return { outcome: answer!.outcome as 'set' };
  }

  /** Nobody asks any more. What waits for an answer waits until its grace is over. */
  async remove(pool: string): Promise<{ outcome: ProbeTransition<'prober.remove'> }> {
    const [answer] = await this.#runner.read(removeProber, [{ pool: check.id('pool', pool) }]);
    this.#runner.observe('prober.remove', answer!.outcome);
    return { outcome: answer!.outcome as 'removed' };
  }

  /** How each pool that has a prober is asked. */
  async probers(): Promise<ProberOf[]> {
    const rows = await this.#runner.read(listProbers, [{}]);
    return rows.map((row) => ({ ...row, setAt: new Date(row.setAt) }));
  }

  /** Probes, the newest first: of a block, of an upstream, or of all; `cursor` goes on behind the last one. */
  async list(
    options: { block?: number; upstream?: string; cursor?: number | null; limit?: number } = {},
  ): Promise<{ probes: Probe[]; cursor: number | null }> {
    check.onlyFields('probes', options, ['block', 'upstream', 'cursor', 'limit']);
    const count = check.optionalInteger('limit', options.limit, 1, 1000) ?? 100;
    const row = {
      block_id: check.optionalInteger('block', options.block, 1, check.MAX_AMOUNT),
      upstream_id: check.optionalId('upstream', options.upstream),
      before_id: check.optionalInteger('cursor', options.cursor, 1, check.MAX_AMOUNT),
      count,
    };
    const rows = await this.#runner.read(listProbes, [row]);
    const probes = rows.map((one) => ({
      ...one,
      startedAt: new Date(one.startedAt),
      endedAt: instant(one.endedAt),
    }));
    return { probes, cursor: rows.length === count ? rows.at(-1)!.probe : null };
  }

  /** Asks everything that is due now and waits for the answers, beside the loop that does so by itself. */
  ask(): Promise<Probed> {
    return this.#probing.round();
  }

  /** What probes cost and what they bought, by pool and by who said when blocks would end; of the last 90 days, or since an instant. */
  async report(options: { since?: Date; pool?: string } = {}): Promise<ProbeScore[]> {
    check.onlyFields('report', options, ['since', 'pool']);
    const row = { since: check.instant('since', options.since), pool: check.optionalId('pool', options.pool) };
    return this.#reports.read(scoreProbes, [row]);
  }

  /** What `recheck` would ask; changes nothing. `left` are not asked: orders to wait that last, and what a person has decided; all of them, where the pool has no prober. */
  async preview(filter: RecheckFilter): Promise<{ count: number; left: number }> {
    check.onlyFields('preview', filter, ['pool', 'policy', 'kind']);
    const { count, left } = (await this.#runner.read(askProbes, [filterInput(filter)]))[0]!;
    return { count, left };
  }

  /**
   * Has every block of a filter asked now, a few at a time, and waits for the answers. What says yes comes back, everything else stays out: also what
   * could not be asked. Refuses `count_changed` where `confirm` is not what would be asked.
   */
  async recheck(input: Recheck): Promise<Progress> {
    check.onlyFields('recheck', input, [
      ...['pool', 'policy', 'kind', 'confirm', 'actor', 'withinMs', 'signal', 'onProgress'],
    ]);
    const confirm = check.integer('confirm', input.confirm, 0, 10_000);
    const end = performance.now() + (check.duration('withinMs', input.withinMs) ?? 600_000);
    const row = { ...filterInput(input), confirm, actor: check.id('actor', input.actor) };
    const [answer] = await this.#runner.read(askProbes, [row]);
    const { count, asked, asked_at } = answer!;
    if (count !== confirm) throw new Refusal('count_changed', undefined, { confirmed: confirm, count });
    this.#wake();
    for (;;) {
      const progress = await this.#progress(asked, asked_at);
      input.onProgress?.(progress);
      if (progress.open === 0 || input.signal?.aborted || performance.now() >= end) return progress;
      await sleep(POLL_MS, undefined, input.signal ? { signal: input.signal } : {}).catch(() => {});
    }
  }

  async #progress(of: number, asked_at: string | null): Promise<Progress> {
    if (asked_at === null) return { of, open: 0, yes: 0, no: 0, unavailable: 0, moved: 0 };
    const [found] = await this.#runner.read(readProgress, [{ asked_at }]);
    const { open, yes, no, unavailable } = found!;
    return { of, open, yes, no, unavailable, moved: Math.max(of - open - yes - no - unavailable, 0) };
  }
}

const filterInput = (filter: RecheckFilter) => ({
  pool: check.id('pool', filter.pool),
  policy: filter.policy === undefined ? null : check.oneOf('policy', filter.policy, POLICIES),
  kind: check.optionalId('kind', filter.kind),
});
