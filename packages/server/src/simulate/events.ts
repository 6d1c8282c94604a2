// What happened to every block of a simulation, read from its own database: histories of the library stop at the newest thousand.
import type { TestDatabase } from 'recoup/testing';

export interface Event {
  block: number;
  subject: string;
  scope: string;
  kind: string;
  source: string;
  policy: string;
  reason: string | null;
  nextStep: string | null;
  closedAs: string | null;
  type: 'opened' | 'extended' | 'reopened' | 'trial' | 'closed';
  at: Date;
  /** When its time is up, from this event on; null: a person ends it. */
  until: Date | null;
  step: number;
}

const EVENTS = `
select b.id::text as block, b.subject_type || ':' || b.subject_id as subject, b.scope, b.kind, b.source, b.policy, b.reason,
  b.next_step as "nextStep", b.closed_as as "closedAs", e.type, e.step,
  (extract(epoch from e.at) * 1000)::float8 as at, (extract(epoch from e.until) * 1000)::float8 as until
from recoup.blocks b join recoup.block_events e on e.block_id = b.id
order by b.id, e.generation`;

type Row = Omit<Event, 'block' | 'at' | 'until'> & { block: string; at: number; until: number | null };

export async function readEvents(database: TestDatabase): Promise<Event[]> {
  const rows = (await database.query(EVENTS)) as unknown as Row[];
  return rows.map((row) => ({
    ...row,
    block: Number(row.block),
    at: new Date(Math.round(row.at)),
    until: row.until === null ? null : new Date(Math.round(row.until)),
  }));
}
