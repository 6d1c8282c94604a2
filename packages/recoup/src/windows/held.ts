// What a reset, a roll and the end of a limit share: the limit held at the start, the answer at the end.

import type { RawAnswer, Runner } from '../db/runner.ts';
import { answerEach } from '../db/statement.ts';
import { bookedAt, ROW } from './rules.ts';

/** CTE `held`: each input beside the newest version of its limit, which is locked; `at` is where something would be booked now. */
export const held = (lock: string) => `
held as materialized (
  select i.*, l.*, row_number() over (partition by i.limit_id order by i.ord) as twin, ${bookedAt('l')} as at, recoup.clock() as now,
    (select true from recoup.limits l where l.id = i.limit_id) as there
  from (select * from input order by limit_id, ord) i
  left join lateral (
    select ctid as tid, tableoid as part, ${ROW} from recoup.limits where id = i.limit_id for no key update ${lock}) l on true)`;

/** Where the row that was locked is newer than the snapshot, the write found none: once more. */
export const decided = (outcome: string) =>
  answerEach(
    'seen s',
    `case when verdict = '${outcome}' and not exists (select from won w where w.ord = s.ord) then 'again' else verdict end`,
    { subject: 'subject_type', subject_id: 'subject_id' },
  );

/** Of what the limit is, for the metrics; null: there is none. */
export interface DecidedRow extends RawAnswer {
  subject: string | null;
  /** Whose it is. */
  subject_id: string | null;
}

/** A window began without a use: told to the metrics with what it is of; limits have too many names and scopes for that. */
export const observeRestart = (runner: Runner, { outcome, subject }: DecidedRow): void => {
  if (subject !== null) runner.observe('window.restart', outcome, { scope: subject });
};
