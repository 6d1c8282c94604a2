// Read: what happened to an upstream, whole or a page at a time, as callers see it.
import type { Runner } from '../db/runner.ts';
import { InvalidInput } from '../errors.ts';
import * as check from '../input.ts';
import { instant } from './explained.ts';
import { type HistoryRow, upstreamHistory } from './queries.ts';

export interface BlockEvent extends Omit<HistoryRow, 'at' | 'until' | 'evidenceAt'> {
  at: Date;
  until: Date | null;
  evidenceAt: Date | null;
}
export interface HistoryOptions {
  cursor?: string | null;
  /** 1 to 1,000; 100 unless set. */
  limit?: number;
  /** Newest first unless set. */
  oldestFirst?: boolean;
}

const event = (row: HistoryRow): BlockEvent => ({
  ...row,
  at: new Date(row.at),
  until: instant(row.until),
  evidenceAt: instant(row.evidenceAt),
});

export async function readHistory(runner: Runner, upstream: string): Promise<BlockEvent[]> {
  return (await runner.read(upstreamHistory, [{ upstream_id: check.id('upstream', upstream) }])).map(event);
}

export async function readHistoryPage(runner: Runner, upstream: string, options: HistoryOptions) {
  check.onlyFields('historyPage', options, ['cursor', 'limit', 'oldestFirst']);
  const count = check.optionalInteger('limit', options.limit, 1, 1000) ?? 100;
  const newest_first = !check.flag('oldestFirst', options.oldestFirst, false);
  const upstream_id = check.id('upstream', upstream);
  const row = { upstream_id, count, newest_first, ...after(options.cursor ?? null) };
  const rows = await runner.read(upstreamHistory, [row]);
  if (newest_first) rows.reverse();
  const last = rows.length === count ? rows.at(-1) : undefined;
  return { events: rows.map(event), cursor: last ? `${last.at}~${last.block ?? 0}.${last.generation}` : null };
}

/** A cursor names the event that was given last, and when that was. */
function after(cursor: string | null) {
  if (cursor === null) return {};
  const text = check.text('cursor', cursor, 100) ?? '';
  const [, at, block, generation] = /^([0-9T:.+-]{20,40})~(0|[1-9]\d{0,14})\.(0|[1-9]\d{0,8})$/.exec(text) ?? [];
  if (at === undefined || Number.isNaN(Date.parse(at)))
    throw new InvalidInput('cursor', 'must be a cursor that a page of history gave');
  return { after_at: at, after_block: Number(block), after_generation: Number(generation) };
}
