// The alerts of a handle: conditions that somebody should know of, since when, and until when.

import { dateOr } from '../db/instants.ts';
import type { Runner } from '../db/runner.ts';
import { type Columns, statement } from '../db/statement.ts';
import * as check from '../input.ts';
import { ALERT_KINDS, type AlertKind } from './conditions.ts';
import { lookAtAlerts } from './look.ts';

interface AlertRow {
  kind: AlertKind;
  subject: string;
  number: number;
  firedAt: string;
  recoveredAt: string | null;
  facts: Record<string, unknown>;
}

/** A condition that holds, or held: of what, since when. `number`: which time it is. */
export interface Alert extends Omit<AlertRow, 'firedAt' | 'recoveredAt'> {
  firedAt: Date;
  recoveredAt: Date | null;
}

export interface AlertFilter {
  kind?: AlertKind;
  /** Those that are over too; only those that fire unless set. */
  recovered?: boolean;
  /** At most so many, 1 to 1,000; 100 unless set. */
  limit?: number;
}

/** After how long something is an alert. The same in every process: each looks by its own. */
export interface AlertAges {
  /** An upstream that is on and was not used for so long; null: none is. */
  idleMs: number | null;
  /** A block that has been open for so long. */
  blockedMs: number;
}

const columns = { kind: 'text', recovered: 'boolean', count: 'int' } as const satisfies Columns;

const listAlerts = statement<typeof columns, AlertRow>(
  'alert.list',
  columns,
  () => `
found as materialized (
  select a.* from input i cross join lateral (
    select a.* from recoup.alerts a
    where (i.kind is null or a.kind = i.kind) and (coalesce(i.recovered, false) or a.recovered_at is null)
    order by a.fired_at desc, a.kind, a.subject, a.number limit i.count) a)
select coalesce(json_agg(json_build_object('kind', kind, 'subject', subject, 'number', number, 'firedAt', fired_at, 'recoveredAt', recovered_at,
  'facts', facts) order by fired_at desc, kind, subject, number), '[]')::text as answer from found`,
);

export class Alerts {
  readonly #runner: Runner;
  readonly #ages: AlertAges;

  constructor(runner: Runner, ages: AlertAges) {
    this.#runner = runner;
    this.#ages = ages;
  }

  /** What fires now, the newest first; with `recovered` what is over too. */
  async list(filter: AlertFilter = {}): Promise<Alert[]> {
    check.onlyFields('alerts', filter, ['kind', 'recovered', 'limit']);
    const row = {
      kind: filter.kind === undefined ? null : check.oneOf('kind', filter.kind, ALERT_KINDS),
      recovered: check.flag('recovered', filter.recovered, false),
      count: check.optionalInteger('limit', filter.limit, 1, 1000) ?? 100,
    };
    return (await this.#runner.read(listAlerts, [row])).map(({ firedAt, recoveredAt, ...alert }) => ({
      ...alert,
      firedAt: new Date(firedAt),
      recoveredAt: dateOr(recoveredAt),
    }));
  }

  /** Looks at every condition now, as the sweeps do each quarter of a minute: what it fired and what it ended. */
  async look(): Promise<{ fired: number; recovered: number }> {
    const { idleMs: idle_ms, blockedMs: blocked_ms } = this.#ages;
    const looked = (await this.#runner.read(lookAtAlerts, [{ idle_ms, blocked_ms }]))[0]!;
    if (looked.fired > 0) this.#runner.observe('alert.look', 'fired');
    if (looked.recovered > 0) this.#runner.observe('alert.look', 'recovered');
    return looked;
  }
}
