// The limits of a handle's subjects: set, end, list; their windows, and a reset of one by hand.

import { dateOr } from '../db/instants.ts';
import type { RawAnswer, Runner } from '../db/runner.ts';
import type { Statement } from '../db/statement.ts';
import { InvalidInput, Refusal } from '../errors.ts';
import * as check from '../input.ts';
import type { CapacityOutcome } from '../outcomes.ts';
import type { endOf } from './end.ts';
import { observeRestart } from './held.ts';
import { type LimitSubject, type SetLimit, setInput, subjectOf } from './inputs.ts';
import { knownZone, type LimitRow, windowsOf } from './queries.ts';
import type { resetOf } from './reset.ts';
import type { setOf } from './set.ts';

/** A limit, what is used of it now, and when there is room again. */
export interface Limit extends Omit<LimitRow, 'windowStart' | 'windowEnd' | 'until' | 'endedAt'> {
  /** The window it is in; null: what is over or never began, and what rolls. */
  windowStart: Date | null;
  windowEnd: Date | null;
  /** Of one that is used up: when there is room again. */
  until: Date | null;
  /** Not null: it does not count any more. */
  endedAt: Date | null;
}

/** One window of a limit: what was used in it, and what began it. */
export interface LimitWindow {
  start: Date;
  end: Date;
  used: number;
  /** A use, the sweep (`roll`), or a person (`reset`) with actor and reason. */
  begunBy: 'use' | 'roll' | 'reset';
  actor: string | null;
  reason: string | null;
}

/** What the subjects of an aggregate are, as statements: who has limits brings them. */
export interface LimitStatements {
  readonly set: ReturnType<typeof setOf>;
  readonly end: ReturnType<typeof endOf>;
  readonly reset: ReturnType<typeof resetOf>;
  readonly list: Statement<{ limit_id: 'text'; subject_type: 'text'; subject_id: 'text' }, LimitRow>;
}

const REFUSED = { no_limit: 'no_limit', no_upstream: 'no_upstream', conflict: 'conflict' } as const;

function orThrow(answer: RawAnswer, facts: Record<string, unknown>): string {
  const code = REFUSED[answer.outcome as keyof typeof REFUSED];
  if (code) throw new Refusal(code, undefined, facts);
  return answer.outcome;
}

export class Limits {
  readonly #runner: Runner;
  readonly #of: LimitStatements;
  readonly #zones = new Map<string, Promise<boolean>>();

  constructor(runner: Runner, of: LimitStatements) {
    this.#runner = runner;
    this.#of = of;
  }

  /**
   * Sets how much may be used in a window. `set`; `changed`: a new amount counts at once, a new kind, zone or hour when the window ends that it is
   * in; `duplicate`: it is so. Refuses `invalid` what is not understood, `no_upstream`, and `conflict`: of another subject, scope or unit.
   */
  async set(input: SetLimit): Promise<{ outcome: CapacityOutcome<'limit.set'> }> {
    const row = setInput(input);
    if (row.zone !== null && !(await this.#knows(row.zone)))
      throw new InvalidInput('zone', `must be a time zone that PostgreSQL knows, too; got ${JSON.stringify(row.zone)}`);
    const facts = { limit: row.limit_id, [row.subject_type]: row.subject_id };
    return { outcome: orThrow(await this.#runner.call(this.#of.set, row), facts) as 'set' };
  }

  /** PostgreSQL reads all its zones to say so: once for each name. */
  async #knows(zone: string): Promise<boolean> {
    const asked =
      this.#zones.get(zone) ?? this.#runner.read(knownZone, [{ zone }]).then(([row]) => row?.known === true);
    this.#zones.set(zone, asked);
    const known = await asked.catch((error: unknown) => {
      this.#zones.delete(zone);
      throw error;
    });
    if (!known) this.#zones.delete(zone);
    return known;
  }

  /** It does not count any more, until it is set again. `ended`; `duplicate`: it had. Refuses `no_limit`. */
  async end(limit: string): Promise<{ outcome: CapacityOutcome<'limit.end'> }> {
    const row = { limit_id: check.id('limit', limit) };
    return { outcome: orThrow(await this.#runner.call(this.#of.end, row), { limit }) as 'ended' };
  }

  /**
   * Ends a limit's window now: nothing is used, and the next one begins when it would have. `duplicate`: nothing was, or the window is not the
   * one that was seen, where its start is named. Refuses `no_limit`.
   */
  async reset(
    limit: string,
    input: { window?: Date; actor?: string; reason?: string } = {},
  ): Promise<{ outcome: CapacityOutcome<'window.reset'> }> {
    check.onlyFields('reset', input, ['window', 'actor', 'reason']);
    const { window, actor, reason } = input;
    const row = {
      limit_id: check.id('limit', limit),
      seen_start: check.instant('window', window),
      actor: check.text('actor', actor, 200),
      reason: check.text('reason', reason, 2000, 'cut'),
    };
    const answer = await this.#runner.call(this.#of.reset, row);
    const outcome = orThrow(answer, { limit }) as 'reset';
    observeRestart(this.#runner, answer);
    return { outcome };
  }

  /** The limits of a subject with what is used of them now, those that ended too; of an upstream also those of its group, provider and route. */
  async list(of: LimitSubject & { limit?: string }): Promise<Limit[]> {
    check.onlyFields('list', of, ['limit', 'upstream', 'quotaGroup', 'provider', 'route']);
    const limit = check.optionalId('limit', of.limit);
    const subject = subjectOf(of, limit === null);
    const row = { limit_id: limit, subject_type: subject?.type ?? null, subject_id: subject?.id ?? null };
    return (await this.#runner.read(this.#of.list, [row])).map((one) => ({
      ...one,
      windowStart: dateOr(one.windowStart),
      windowEnd: dateOr(one.windowEnd),
      until: dateOr(one.until),
      endedAt: dateOr(one.endedAt),
    }));
  }

  /** The last windows of a limit (100 unless `count` says how many, up to 1,000), newest first: what was used in each. Empty: none began. */
  async windows(limit: string, options: { count?: number } = {}): Promise<LimitWindow[]> {
    check.onlyFields('windows', options, ['count']);
    const { count = 100 } = options;
    const row = { limit_id: check.id('limit', limit), count: check.integer('count', count, 1, 1000) };
    const rows = await this.#runner.read(windowsOf, [row]);
    return rows.map((one) => ({ ...one, start: new Date(one.start), end: new Date(one.end) }));
  }
}
