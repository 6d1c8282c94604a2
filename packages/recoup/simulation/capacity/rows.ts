// What a database holds of capacity, in the form of the model: all of it, or of blocks only what was written since the last look.
import { isDeepStrictEqual } from 'node:util';
import pg from 'pg';
import {
  type Block,
  type BlockEvent,
  blockedUntil,
  type Capacity,
  type Lease,
  type Upstream,
} from '../../model/capacity/world.ts';

export interface CapacityRows {
  next: string;
  counts: Record<'blocks' | 'events', number>;
  upstreams: Record<string, unknown>;
  leases: Record<string, unknown>;
  blocks: Record<string, unknown>;
  events: Record<string, unknown>;
  /** The names of blocks and their ids. */
  ids: Record<string, number>;
}

const instant = (column: string) =>
  `case when ${column} = 'infinity' then 'Infinity' else round(extract(epoch from ${column}) * 1000 - $1::numeric)::text end`;
const object = (fields: Readonly<Record<string, string>>) =>
  `json_build_object(${Object.entries(fields)
    .map(([name, sql]) => `'${name}', ${sql}`)
    .join(', ')})`;

const UPSTREAM: Record<keyof Upstream | 'blockedUntil', string> = {
  ...{ id: 'id', pool: 'pool', provider: 'provider', quotaGroup: 'quota_group', route: 'route', status: 'status' },
  ...{ credentialRef: 'credential_ref', priority: 'priority', weight: 'weight', maxConcurrency: 'max_concurrency' },
  ...{ usedAt: instant('used_at'), blockedUntil: instant('blocked_until') },
};
const LEASE: Record<keyof Lease, string> = {
  ...{ upstream: 'upstream_id', quotaGroup: 'quota_group', provider: 'provider', route: 'route', holder: 'holder' },
  ...{ scopes: 'to_json(scopes)', leasedAt: instant('leased_at'), leaseUntil: instant('lease_until') },
};
const BLOCK: Record<keyof Block, string> = {
  ...{ subjectType: 'subject_type', subjectId: 'subject_id', scope: 'scope', kind: 'kind', source: 'source' },
  ...{ policy: 'policy', step: 'step', trials: 'trials', generation: 'generation', closedAs: 'closed_as' },
  ...{ openedAt: instant('opened_at'), evidenceAt: instant('evidence_at'), until: instant('until') },
  ...{ reason: 'reason', nextStep: 'next_step', closedAt: instant('closed_at') },
};
const EVENT: Record<keyof BlockEvent, string> = {
  ...{
    block: 'b.name',
    generation: 'e.generation',
    type: 'e.type',
    step: 'e.step',
    actor: 'e.actor',
    reason: 'e.reason',
  },
  ...{ at: instant('e.at'), until: instant('e.until'), evidenceAt: instant('e.evidence_at') },
};

/** A block is named as in the model: what it is about, and the how manieth of that it is. */
const LOOK = `with named as (
  select b.*, b.xmin::text::bigint as tx, concat(subject_type, ':', subject_id, ' ', scope, ' ', kind, ' ', source, ' #',
    row_number() over (partition by subject_type, subject_id, scope, kind, source order by id)) as name
  from recoup.blocks b)
select json_build_object(
  'next', pg_snapshot_xmax(pg_current_snapshot())::text,
  'counts', json_build_object('blocks', (select count(*) from recoup.blocks), 'events', (select count(*) from recoup.block_events)),
  'upstreams', (select coalesce(json_object_agg(id, ${object(UPSTREAM)}), '{}') from recoup.upstreams),
  'leases', (select coalesce(json_object_agg(id, ${object(LEASE)}), '{}') from recoup.upstream_leases),
  'blocks', (select coalesce(json_object_agg(name, ${object(BLOCK)}), '{}') from named where tx >= $2::bigint),
  'ids', (select coalesce(json_object_agg(name, id), '{}') from named where tx >= $2::bigint),
  'events', (select coalesce(json_object_agg(b.name || ' ' || e.generation, ${object(EVENT)}), '{}')
    from recoup.block_events e join named b on b.id = e.block_id where e.xmin::text::bigint >= $2::bigint))::text as rows`;

const INSTANTS = /^(usedAt|blockedUntil|leasedAt|leaseUntil|openedAt|evidenceAt|until|closedAt|at)$/;

/** A connection that only looks. */
export class CapacityLooker {
  readonly #client: pg.Client;

  private constructor(client: pg.Client) {
    this.#client = client;
  }

  static async on(url: string): Promise<CapacityLooker> {
    const client = new pg.Client({
      connectionString: url,
      options: '-c plan_cache_mode=force_generic_plan -c jit=off',
    });
    client.on('error', () => {});
    await client.connect();
    return new CapacityLooker(client);
  }

  /** `from`: 0 for everything. */
  async look(start: number, from: string): Promise<CapacityRows> {
    const { rows } = await this.#client.query({ name: 'look', text: LOOK, values: [start, from] });
    const revive = (key: string, value: unknown) => (INSTANTS.test(key) && value !== null ? Number(value) : value);
    return JSON.parse((rows[0] as { rows: string }).rows, revive) as CapacityRows;
  }

  close(): Promise<void> {
    return this.#client.end();
  }
}

const json = (value: unknown) => JSON.stringify(value) ?? 'nothing';

function difference(is: object | undefined, should: object | undefined): string {
  if (!is || !should) return `${json(is)}, the model ${json(should)}`;
  const [one, other] = [is as Record<string, unknown>, should as Record<string, unknown>];
  const fields = Object.keys({ ...one, ...other }).filter((name) => !isDeepStrictEqual(one[name], other[name]));
  return fields.map((name) => `${name} ${json(one[name])}, the model ${json(other[name])}`).join('; ');
}

function differences(
  what: string,
  found: Readonly<Record<string, unknown>>,
  should: Readonly<Record<string, object>>,
): string[] {
  return [...new Set([...Object.keys(found), ...Object.keys(should)])]
    .filter((key) => !isDeepStrictEqual(found[key], should[key]))
    .map((key) => `${what} ${key}: the database has ${difference(found[key] as object, should[key])}`);
}

/** What the rows say differently from the model. `before`: the world of the last look, or an empty one where all was looked at. */
export function capacityDifferences(rows: CapacityRows, before: Capacity, now: Capacity): string[] {
  const upstreams = Object.entries(now.upstreams).map(([id, of]) => [
    id,
    { ...of, blockedUntil: blockedUntil(now, id) },
  ]);
  // What was written again as it is, a use that a block let in, is no difference.
  const blocks = Object.entries(now.blocks).filter(
    ([name, block]) => block !== before.blocks[name] || name in rows.blocks,
  );
  const events = now.events.slice(before.events.length).map((event) => [`${event.block} ${event.generation}`, event]);
  const counts = { blocks: Object.keys(now.blocks).length, events: now.events.length };
  return [
    ...differences('upstream', rows.upstreams, Object.fromEntries(upstreams)),
    ...differences('lease', rows.leases, now.leases as Readonly<Record<string, Lease>>),
    ...differences('block', rows.blocks, Object.fromEntries(blocks)),
    ...differences('event', rows.events, Object.fromEntries(events)),
    ...(isDeepStrictEqual(rows.counts, counts)
      ? []
      : [`the database has ${json(rows.counts)} rows, the model ${json(counts)}`]),
  ];
}
