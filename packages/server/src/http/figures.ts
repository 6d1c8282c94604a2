// Figures of the database for metrics: each an index look-up or a count that stops early, so that a scrape is cheap.
import { ALERT_KINDS, BLOCK_POLICIES, type Recoup } from 'recoup';

/** Counts stop here: "this many or more". */
export const COUNT_CAP = 1000;
/** So many blocks that end by time, and so many that wait for a person. */
export const BLOCK_CAP = 10_000;
const MAX_QUEUES = 200;

export interface Figures {
  oldestSnapshotSeconds: number;
  deadLetters: number;
  running: number;
  waiting: number;
  /** How long the lease or deadline that passed first has been waiting for a sweep. */
  overdueSeconds: number;
  /** Open blocks by policy. */
  blocks: Record<(typeof BLOCK_POLICIES)[number], number>;
  /** Alerts that fire, by kind. */
  alerts: Record<(typeof ALERT_KINDS)[number], number>;
  webhooks: { pending: number; dead: number; oldestDueSeconds: number };
  queues: { queue: string; ready: number; later: number; oldestDueSeconds: number }[];
}

const capped = (from: string) => `(select count(*)::int from (select ${from} limit ${COUNT_CAP}) capped)`;

export const figuresSql = (schema: string) => `
with recursive names(queue) as (
  (select queue from ${schema}.jobs where state = 'queued' order by queue limit 1)
  union all
  (select (select queue from ${schema}.jobs where state = 'queued' and queue > n.queue order by queue limit 1)
   from names n where n.queue is not null)),
blocks as (
  (select policy from ${schema}.blocks where closed_at is null and until is not null limit ${BLOCK_CAP})
  union all
  (select policy from ${schema}.blocks where closed_at is null and until is null limit ${BLOCK_CAP})),
alerts as (select kind from ${schema}.alerts where recovered_at is null limit ${BLOCK_CAP}),
queues as (
  select n.queue,
    ${capped(`from ${schema}.jobs j where j.state = 'queued' and j.queue = n.queue and j.not_before <= ${schema}.clock()`)} as ready,
    ${capped(`from ${schema}.jobs j where j.state = 'queued' and j.queue = n.queue and j.not_before > ${schema}.clock()`)} as later,
    (select min(j.not_before) from generate_series(0, 9) p cross join lateral (
       select not_before from ${schema}.jobs where state = 'queued' and queue = n.queue and priority = p order by not_before limit 1) j) as due
  from (select queue from names where queue is not null limit ${MAX_QUEUES}) n)
select json_build_object(
  'oldestSnapshotSeconds', coalesce((select max(extract(epoch from clock_timestamp() - xact_start)) from pg_stat_activity
    where xact_start is not null and backend_xmin is not null and datname = current_database() and pid <> pg_backend_pid()), 0),
  'deadLetters', ${capped(`from ${schema}.jobs where dead_at is not null and state = 'dead'`)},
  'running', ${capped(`from ${schema}.jobs where lease_until is not null`)},
  'waiting', ${capped(`from ${schema}.jobs where deadline_at is not null`)},
  'overdueSeconds', greatest(0, extract(epoch from ${schema}.clock() - least(
    (select lease_until from ${schema}.jobs where lease_until is not null order by lease_until limit 1),
    (select deadline_at from ${schema}.jobs where deadline_at is not null order by deadline_at limit 1)))),
  'blocks', (select json_build_object(${BLOCK_POLICIES.map((policy) => `'${policy}', count(*) filter (where policy = '${policy}')`).join(', ')}) from blocks),
  'alerts', (select json_build_object(${ALERT_KINDS.map((kind) => `'${kind}', count(*) filter (where kind = '${kind}')`).join(', ')}) from alerts),
  'webhooks', json_build_object(
    'pending', ${capped(`from ${schema}.webhook_deliveries where due_at is not null`)},
    'dead', ${capped(`from ${schema}.webhook_deliveries where state = 'dead'`)},
    'oldestDueSeconds', coalesce((select max(greatest(extract(epoch from ${schema}.clock() - d.due_at), 0)) from ${schema}.webhook_endpoints e
      cross join lateral (select due_at from ${schema}.webhook_deliveries d
        where d.endpoint_id = e.id and d.due_at is not null order by d.due_at limit 1) d where e.status = 'on'), 0)),
  'queues', coalesce((select json_agg(json_build_object('queue', queue, 'ready', ready, 'later', later,
    'oldestDueSeconds', greatest(extract(epoch from ${schema}.clock() - due), 0)) order by queue) from queues), '[]'))::text as figures`;

/** What the database looks like now. */
export async function readFigures(recoup: Recoup): Promise<Figures> {
  return recoup.transaction(async (_, client) => {
    // Each part has an index; before the first statistics the planner would not know.
    await client.query('set local enable_seqscan = off');
    const { rows } = await client.query<{ figures: string }>(figuresSql(recoup.schema));
    return JSON.parse(rows[0]!.figures) as Figures;
  });
}
