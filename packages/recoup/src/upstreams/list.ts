// Read: upstreams by their ids, a page at a time, each with every check that fails.
import type { Runner } from '../db/runner.ts';
import { statement } from '../db/statement.ts';
import * as check from '../input.ts';
import type { Estimates } from './estimates.ts';
import { type Explained, explained } from './explained.ts';
import { STATUSES, type UpstreamStatus } from './inputs.ts';
import { type ExplainedRow, explainedRow, lookedAt } from './queries.ts';

/** Which upstreams: all that are given must match. */
export interface ListUpstreams {
  pool?: string;
  provider?: string;
  quotaGroup?: string;
  status?: UpstreamStatus;
  /** Only those that may be used now, or only those that may not. */
  usable?: boolean;
  cursor?: string | null;
  /** 1 to 1,000; 100 unless set. */
  limit?: number;
}

const columns = {
  pool: 'text',
  provider: 'text',
  quota_group: 'text',
  status: 'text',
  after_upstream: 'text',
  count: 'int',
} as const;

export const listUpstreams = statement<typeof columns, ExplainedRow>(
  'upstream.list',
  columns,
  () => `
found as materialized (
  select u.*, ${lookedAt('u', `array['']`)}
  from input i
  cross join lateral (
    select * from recoup.upstreams u
    where u.id > coalesce(i.after_upstream, '') and (i.pool is null or u.pool = i.pool) and (i.provider is null or u.provider = i.provider)
      and (i.quota_group is null or u.quota_group = i.quota_group) and (i.status is null or u.status = i.status)
    order by u.id limit i.count) u)
select coalesce(json_agg(${explainedRow} order by id), '[]')::text as answer
from found`,
);

/** A page by usability looks at no more than so many: most of them may be the other way. */
const LOOKED_AT = 2000;

export async function readUpstreams(runner: Runner, estimates: Estimates, options: ListUpstreams) {
  check.onlyFields('list', options, ['pool', 'provider', 'quotaGroup', 'status', 'usable', 'cursor', 'limit']);
  const limit = check.optionalInteger('limit', options.limit, 1, 1000) ?? 100;
  const usable = options.usable === undefined ? undefined : check.flag('usable', options.usable, true);
  const count = usable === undefined ? limit : LOOKED_AT;
  const row = {
    pool: check.optionalId('pool', options.pool),
    provider: check.optionalId('provider', options.provider),
    quota_group: check.optionalId('quotaGroup', options.quotaGroup),
    status: options.status === undefined ? null : check.oneOf('status', options.status, STATUSES),
    after_upstream: check.optionalId('cursor', options.cursor),
    count,
  };
  const spreadOf = await estimates.spreads();
  const looked = (await runner.read(listUpstreams, [row])).map((one) => explained(one, spreadOf));
  const wanted = looked.filter((one) => usable === undefined || one.usable === usable);
  const upstreams: Explained[] = wanted.slice(0, limit);
  // Behind the last one that is given, where more were found; else behind what was looked at, where there may be more.
  const last = wanted.length > limit ? upstreams.at(-1) : looked.length === count ? looked.at(-1) : undefined;
  return { upstreams, cursor: last?.upstream ?? null };
}
