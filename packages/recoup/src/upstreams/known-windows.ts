// Read: the latest that is known of each window of a provider's own quota, of an upstream and of its group.
import type { Runner } from '../db/runner.ts';
import { statement } from '../db/statement.ts';
import * as check from '../input.ts';
import { instant } from './explained.ts';

const oneUpstream = { upstream_id: 'text' } as const;

export interface SnapshotRow {
  subject: string;
  scope: string;
  name: string;
  kind: string;
  lengthMs: number | null;
  used: number | null;
  exhausted: boolean;
  resetsAt: string | null;
  observedAt: string;
}

/** The latest of each window of an upstream and of its group. */
export const snapshotsOf = statement<typeof oneUpstream, SnapshotRow>(
  'upstream.snapshots',
  oneUpstream,
  () => `
found as materialized (
  select s.* from input i
  cross join lateral (select id, quota_group from recoup.upstreams where id = i.upstream_id) u
  cross join lateral (values ('upstream', u.id), ('quota_group', u.quota_group)) subject (type, id)
  cross join lateral (select * from recoup.snapshots s where s.subject_type = subject.type and s.subject_id = subject.id) s)
select coalesce(json_agg(json_build_object('subject', subject_type || ':' || subject_id, 'scope', scope, 'name', name, 'kind', kind, 'lengthMs', length_ms,
  'used', used, 'exhausted', exhausted, 'resetsAt', resets_at, 'observedAt', observed_at) order by subject_type desc, scope, name), '[]')::text as answer
from found`,
);

/** The latest that was observed of a window of a provider's own quota. */
export interface KnownWindow extends Omit<SnapshotRow, 'resetsAt' | 'observedAt'> {
  resetsAt: Date | null;
  observedAt: Date;
}

export async function readSnapshots(runner: Runner, upstream: string): Promise<KnownWindow[]> {
  const rows = await runner.read(snapshotsOf, [{ upstream_id: check.id('upstream', upstream) }]);
  return rows.map((row) => ({ ...row, resetsAt: instant(row.resetsAt), observedAt: new Date(row.observedAt) }));
}
