// Read: blocks that are open, whatever they are on, oldest first, a page at a time.
import type { Runner } from '../db/runner.ts';
import { statement } from '../db/statement.ts';
import * as check from '../input.ts';
import { instant } from './explained.ts';
import { gatedUntil, stillGated } from './gates.ts';
import { POLICIES, SUBJECTS } from './inputs.ts';

/** Which open blocks: all that are given must match. */
export interface ListBlocks {
  policy?: (typeof POLICIES)[number];
  /** The class of trouble: `billing`, `rate_limited` … */
  kind?: string;
  /** What they are on: one of `upstream`, `quota_group`, `provider`, `route`. */
  subject?: (typeof SUBJECTS)[number];
  cursor?: number | null;
  /** 1 to 1,000; 100 unless set. */
  limit?: number;
}

interface BlockRow {
  block: number;
  /** `upstream:…`, `quota_group:…`, `provider:…`, `route:…`. */
  subject: string;
  /** Empty: everything. */
  scope: string;
  kind: string;
  source: string;
  policy: string;
  /** Whether its time is up: it lets trials in. */
  halfOpen: boolean;
  /** Its time is up, or will be, and a probe is to answer before it lets trials in, until then at most; null: none is. */
  gatedUntil: string | null;
  /** When a probe asks early, or it is looked at. */
  nextCheckAt: string | null;
  openedAt: string;
  evidenceAt: string;
  until: string | null;
  step: number;
  trials: number;
  /** Give it to `free`, so that what has changed since stays. */
  generation: number;
  reason: string | null;
  nextStep: string | null;
}
export interface Block extends Omit<BlockRow, 'openedAt' | 'evidenceAt' | 'until' | 'gatedUntil' | 'nextCheckAt'> {
  openedAt: Date;
  evidenceAt: Date;
  /** When it is half open: an estimate. Null: a person has to end it. */
  until: Date | null;
  gatedUntil: Date | null;
  nextCheckAt: Date | null;
}

const columns = { policy: 'text', kind: 'text', subject_type: 'text', after_block: 'bigint', count: 'int' } as const;

/** What is open is found by an index of its own, and sorted then: by their ids all that ever were would be walked. */
export const listBlocks = statement<typeof columns, BlockRow>(
  'block.list',
  columns,
  () => `
open as materialized (
  select b.* from input i
  cross join lateral (
    select * from recoup.blocks b
    where b.closed_at is null and (i.policy is null or b.policy = i.policy) and (i.kind is null or b.kind = i.kind)
      and (i.subject_type is null or b.subject_type = i.subject_type) offset 0) b
  where b.id > coalesce(i.after_block, 0)),
page as (select * from open order by id limit (select count from input))
select coalesce(json_agg(json_build_object('block', id, 'subject', subject_type || ':' || subject_id, 'scope', scope, 'kind', kind, 'source', source,
  'policy', policy, 'halfOpen', until is not null and until <= recoup.clock() and not ${stillGated('page')},
  'gatedUntil', ${gatedUntil('page')}, 'nextCheckAt', next_check_at, 'openedAt', opened_at, 'evidenceAt', evidence_at, 'until', until,
  'step', step, 'trials', trials, 'generation', generation, 'reason', reason, 'nextStep', next_step) order by id), '[]')::text as answer
from page`,
);

export async function readBlocks(runner: Runner, options: ListBlocks) {
  check.onlyFields('blocks', options, ['policy', 'kind', 'subject', 'cursor', 'limit']);
  const count = check.optionalInteger('limit', options.limit, 1, 1000) ?? 100;
  const row = {
    policy: options.policy === undefined ? null : check.oneOf('policy', options.policy, POLICIES),
    kind: check.optionalId('kind', options.kind),
    subject_type: options.subject === undefined ? null : check.oneOf('subject', options.subject, SUBJECTS),
    after_block: check.optionalInteger('cursor', options.cursor, 1, check.MAX_AMOUNT),
    count,
  };
  const rows = await runner.read(listBlocks, [row]);
  const blocks: Block[] = rows.map((block) => ({
    ...block,
    openedAt: new Date(block.openedAt),
    evidenceAt: new Date(block.evidenceAt),
    until: instant(block.until),
    gatedUntil: instant(block.gatedUntil),
    nextCheckAt: instant(block.nextCheckAt),
  }));
  return { blocks, cursor: rows.length === count ? rows.at(-1)!.block : null };
}
