// How a use went, told by callers or decoded from the provider's answer: one report per hint, then its windows, then the provider as a whole.

import type { RawAnswer, Runner } from '../db/runner.ts';
import type { Dropped } from '../decoders/facts/facts.ts';
import type { Rules } from '../decoders/rules.ts';
import { type ErrorCode, InvalidInput, Refusal } from '../errors.ts';
import type { CapacityOutcome } from '../outcomes.ts';
import {
  type Asked,
  checkAnswer,
  type Decoded,
  type DroppedHint,
  decoded,
  type ProviderAnswer,
  wordsOf,
} from './answer.ts';
import { instant } from './explained.ts';
import * as checked from './inputs.ts';
import { type Note, noteInput, windowRows } from './note-input.ts';
import { blockProvider, type ProviderRow } from './provider.ts';
import { providerOf } from './queries.ts';
import { type ReportRow, reportUpstream } from './report.ts';
import { noteSnapshot } from './snapshot.ts';
import { bookUse, type Standing, standing } from './uses.ts';

/** One block that a report was about. */
export interface ReportedBlock {
  block: number | null;
  outcome: CapacityOutcome<'upstream.report'>;
  source: string;
  until: Date | null;
  step: number | null;
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
  /** What it means: the class of the decoders, or the kind that was given; null for a success, and where the caller did not say. */
  class: string | null;
  /** In the provider's words, without secrets. */
  reason: string | null;
  /** What a person does; null where nobody has to do anything. */
  nextStep: string | null;
  /** The operator's rule that decided. */
  rule: string | null;
  /** One for each time that the answer names, that of `block` first. */
  blocks: ReportedBlock[];
  /** What was implausible in the answer and counts for nothing. */
  dropped: Dropped[];
}

export interface Noted {
  /** `duplicate`: newer is known of every window. */
  outcome: CapacityOutcome<'snapshot.note'>;
  closed: number;
  dropped: Dropped[];
}

/** What the reports of a handle share. */
export interface Decoding {
  rules: Rules | undefined;
  onDropped: (dropped: DroppedHint) => void;
  /** The provider of each upstream that was met: it never changes. */
  providers: Map<string, string>;
  /** This machine's clock: how old an answer is goes by it. */
  now: () => number;
  /** Told of a block that waits for a probe when its time is up: who asks may sleep past that. */
  onGated: () => void;
}

const REFUSED: Readonly<Record<string, ErrorCode>> = {
  no_upstream: 'no_upstream',
  no_block: 'no_block',
  manual_block: 'manual_block',
  conflict: 'conflict',
  retired: 'upstream_retired',
};

/** The answer, or the refusal that it is. */
export function orThrow<A extends RawAnswer>(answer: A, facts: Record<string, unknown>): A {
  const code = REFUSED[answer.outcome];
  if (code) throw new Refusal(code, undefined, facts);
  return answer;
}

/** More than any honest crowd needs. */
const MAX_ROUNDS = 20;
const MAX_PROVIDERS = 10_000;

export class Reporting {
  readonly #runner: Runner;
  readonly #decoding: Decoding;

  constructor(runner: Runner, decoding: Decoding) {
    this.#runner = runner;
    this.#decoding = decoding;
  }

  /** The provider of an upstream is known now. Not from a transaction: what is registered there may never have been. */
  knows(upstream: string, provider: string): void {
    const { providers } = this.#decoding;
    if (this.#runner.db.inTransaction) return;
    if (providers.size >= MAX_PROVIDERS) providers.clear();
    providers.set(upstream, provider);
  }

  async report(input: checked.Report): Promise<Reported> {
    checked.checkReport(input);
    const { answer, ...said } = input;
    if (answer === undefined) {
      const { row, block } = checked.reportInput(said);
      const use = await bookUse(this.#runner, row.upstream_id, row.scopes, input.use, input);
      const one = await standing(this.#runner, { use }, () => this.#one(row));
      const blocks = block === undefined ? [] : [{ ...one.first, source: row.source! }];
      const [kind, reason, nextStep] = [block?.kind, row.reason, row.next_step].map((text) => text ?? null);
      return {
        ...outcomeOf(one),
        use,
        class: kind!,
        reason: reason!,
        nextStep: nextStep!,
        rule: null,
        blocks,
        dropped: [],
      };
    }
    for (const field of ['success', 'block'] as const)
      if (said[field] !== undefined) throw new InvalidInput(field, 'is what the answer says: give one or the other');
    const { row } = checked.reportInput({ ...said, success: true });
    const found = await this.#decode(row, answer, input);
    const use = await bookUse(this.#runner, row.upstream_id, row.scopes, input.use, input);
    return { ...(await this.#answered(row, found, { use })), use };
  }

  async #answered(asked: checked.ReportInput, found: Decoded, done: Standing): Promise<Omit<Reported, 'use'>> {
    const { facts, success } = found;
    const blocks: ReportedBlock[] = [];
    const [first, ...others] = found.blocks;
    const row = { ...asked, success, ...(first && checked.blockInput(first)) };
    const one = await standing(this.#runner, done, () => this.#one(row));
    const said = { started_at: one.began, way: one.way };
    const behind = <T>(work: () => Promise<T>) => standing(this.#runner, { ...done, report: one.first.outcome }, work);
    if (first) blocks.push({ ...one.first, source: row.source! });
    // Each a statement of its own: where a process dies in between, the next answer says it again.
    for (const block of others) {
      const next = { ...row, ...checked.blockInput(block), lease_id: null, elapsed_ms: null, ...said };
      const { first: other } = await behind(() => this.#one(next));
      blocks.push({ ...other, source: next.source });
    }
    const when = { ...said, actor: row.actor };
    const noted = await behind(() => this.#note(row.upstream_id, found, when));
    return {
      ...outcomeOf(one),
      closed: one.closed + noted.closed,
      class: facts.class,
      reason: row.reason ?? wordsOf(facts.reason),
      nextStep: facts.nextStep,
      rule: facts.rule,
      blocks,
      dropped: facts.dropped,
    };
  }

  /** What a provider says of its windows where nothing was used: a usage page, somebody else's read-out. */
  async note(input: Note): Promise<Noted> {
    const row = noteInput(input);
    const found =
      input.answer === undefined
        ? windowRows(input, this.#decoding.now())
        : await this.#decode(row, checkAnswer(input.answer), input);
    const { upstream_id, started_at, elapsed_ms, actor } = row;
    const when = { started_at, elapsed_ms, actor, ...(input.subject && { subject_type: input.subject }) };
    const { outcome, closed } = await this.#note(upstream_id, found, when);
    return { outcome, closed, dropped: found.facts?.dropped ?? [] };
  }

  async #note(
    upstream: string,
    {
      facts,
      windows,
      ageMs,
      speaks,
    }: Pick<Decoded, 'windows' | 'ageMs' | 'speaks'> & { facts?: Decoded['facts'] | undefined },
    when: {
      started_at: string | null;
      elapsed_ms?: number | null;
      way?: ReportRow['way'];
      actor: string | null;
      subject_type?: string;
    },
  ): Promise<{ outcome: Noted['outcome']; closed: number }> {
    if (windows.length === 0) return { outcome: 'duplicate', closed: 0 };
    const subject_type = facts?.subject === 'quota_group' ? 'quota_group' : 'upstream';
    const row = { subject_type, ...when, upstream_id: upstream, age_ms: ageMs, windows, speaks };
    const answer = orThrow(await this.#runner.call(noteSnapshot, row), { upstream });
    return { outcome: answer.outcome as Noted['outcome'], closed: answer.closed };
  }

  async #decode(row: { upstream_id: string }, answer: ProviderAnswer, input: Partial<Asked>): Promise<Decoded> {
    checkAnswer(answer);
    const upstream = row.upstream_id;
    const provider = this.#decoding.providers.get(upstream) ?? (await this.#provider(upstream));
    const { rules, onDropped, now } = this.#decoding;
    const [model, capability] = [input.model ?? null, input.capability ?? null];
    const found = decoded(answer, { provider, model, capability, rules, now: now() });
    for (const one of found.facts.dropped) onDropped({ ...one, upstream, provider });
    return found;
  }

  async #provider(upstream: string): Promise<string> {
    const [row] = await this.#runner.read(providerOf, [{ upstream_id: upstream }]);
    if (!row) throw new Refusal('no_upstream', undefined, { upstream });
    this.knows(upstream, row.provider);
    return row.provider;
  }

  /** One report; where it says that many of a provider fail, the provider's block instead. */
  async #one(row: checked.ReportInput) {
    const answer = orThrow(await this.#runner.call(reportUpstream, row), { upstream: row.upstream_id });
    const { provider, closed, began, way } = answer;
    this.knows(row.upstream_id, provider);
    if (answer.gated && !this.#runner.db.inTransaction) this.#decoding.onGated();
    for (const [policy, how] of answer.recoveries ?? []) this.#runner.observe('block.recover', how, { policy });
    const outcome = answer.outcome as Reported['outcome'];
    // Also of one that changes nothing: it may have held the row when others passed over it.
    const opens = !row.success && outcome !== 'noted' && row.subject_type === 'upstream';
    const wide = opens && row.kind === 'server_error' && row.scope === '' ? await this.#blockProvider(provider) : null;
    const { block, until, step } = wide?.block ? wide : (answer as ReportRow);
    return { first: { outcome, block, until: instant(until), step: block === null ? null : step }, closed, began, way };
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
}

const outcomeOf = ({ first, closed }: { first: Omit<ReportedBlock, 'source'>; closed: number }) => ({
  ...first,
  closed,
});
