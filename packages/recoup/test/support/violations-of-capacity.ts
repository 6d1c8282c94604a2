// Rows that break a rule of upstreams, blocks, their events, leases, snapshots or the inbox and nothing else, beside rows that are fine.

const AT = '2030-01-01T00:00:00Z';
const LATER = '2030-01-02T00:00:00Z';

export const ROWS = {
  upstreams: {
    ...{ id: 'u', pool: 'p', provider: 'x', route: 'direct', status: 'on', priority: 5, weight: 1, generation: 0 },
    ...{ turn_at: AT, registered_at: AT, events: 1 },
  },
  blocks: {
    ...{ id: 1, subject_type: 'upstream', subject_id: 'u', scope: '', kind: 'rate_limited', source: 'backoff' },
    ...{ policy: 'auto', opened_at: AT, evidence_at: AT, until: LATER, step: 1, trials: 1, uses: 0, generation: 1 },
  },
  block_events: { block_id: 1, generation: 1, type: 'opened', at: AT, step: 1, evidence_at: AT, tx: '1' },
  upstream_leases: {
    ...{ id: 'l', upstream_id: 'u', provider: 'x', route: 'direct', scopes: [''], leased_at: AT, lease_until: LATER },
  },
  upstream_events: { upstream_id: 'u', number: 1, type: 'registered', at: AT, settings: {} },
  snapshots: {
    ...{ subject_type: 'upstream', subject_id: 'u', scope: '', name: 'primary', kind: 'short', exhausted: false },
    ...{ observed_at: AT, length_ms: 1, used: 0 },
  },
  affinities: { pool: 'p', key: 'k', upstream_id: 'u', until: LATER },
  inbox_notes: { item: 'block:1', number: 1, type: 'taken', at: AT, actor: 'ann' },
};

const manual = { policy: 'manual', until: null };
const closed = (closed_as: string) => ({ closed_at: LATER, closed_as });

export const FINE = {
  upstreams: [
    ...['off', 'draining', 'retired'].map((status) => ({ status })),
    ...[
      { priority: 0, weight: 1000, max_concurrency: 1 },
      { priority: 9, max_concurrency: 1_000_000, blocked_until: 'infinity' },
    ],
  ],
  blocks: [
    ...['quota_group', 'provider', 'route'].map((subject_type) => ({ subject_type })),
    ...['model:m', 'capability:c'].map((scope) => ({ scope })),
    ...['retry_after', 'reset_announced', 'operator'].map((source) => ({ source })),
    ...['snapshot', 'rolling'].map((policy) => ({ policy })),
    ...[2, 4, 8].map((trials) => ({ trials })),
    ...['success', 'snapshot', 'operator', 'credential', 'probe', 'time', 'superseded', 'retired'].map(closed),
    ...['operator', 'credential', 'superseded', 'retired'].map((as) => ({ ...manual, ...closed(as) })),
    ...[manual, { step: 12 }, { ...manual, contradicted_at: LATER }],
  ],
  block_events: ['extended', 'reopened', 'trial', 'closed'].map((type) => ({ type })),
  upstream_events: ['changed', 'credential'].map((type) => ({ type })),
  snapshots: [
    ...['daily', 'weekly', 'monthly', 'other', 'unknown'].map((kind) => ({ kind })),
    ...['model:m', 'capability:c'].map((scope) => ({ scope })),
    ...[
      { subject_type: 'quota_group' },
      { used: 1.5, exhausted: true, resets_at: LATER },
      { used: null, length_ms: null },
    ],
  ],
  inbox_notes: [
    ...[{ type: 'snoozed', until: LATER }, { type: 'snoozed' }, { type: 'noted', note: 'paid', key: 'k' }],
    { note: 'mine', number: 2 },
  ],
};

export const BROKEN = {
  upstreams_status: [{ status: 'asleep' }],
  upstreams_priority: [{ priority: -1 }, { priority: 10 }],
  upstreams_weight: [{ weight: 0 }, { weight: 1001 }],
  upstreams_max_concurrency: [{ max_concurrency: 0 }, { max_concurrency: 1_000_001 }],
  blocks_subject: [{ subject_type: 'wallet' }],
  blocks_scope: [{ scope: 'all' }, { scope: 'model:' }, { scope: 'capability:' }],
  blocks_source: [{ source: 'rumour' }],
  blocks_policy: [{ policy: 'never' }],
  blocks_until: [{ until: null }, { policy: 'manual' }],
  blocks_step: [{ step: 0 }],
  blocks_trials: [0, 3, 16].map((trials) => ({ trials })),
  blocks_closed: [{ closed_at: LATER }, { closed_as: 'success' }],
  blocks_closed_as: [closed('luck')],
  blocks_manual: ['success', 'snapshot', 'probe', 'time'].map((as) => ({ ...manual, ...closed(as) })),
  blocks_contradicted: [{ contradicted_at: LATER }],
  block_events_type: [{ type: 'forgotten' }],
  upstream_events_type: [{ type: 'renamed' }],
  snapshots_subject: [{ subject_type: 'provider' }],
  snapshots_scope: [{ scope: 'all' }, { scope: 'model:' }, { scope: 'capability:' }],
  snapshots_kind: [{ kind: 'hourly' }],
  snapshots_length: [{ length_ms: 0 }],
  snapshots_used: [{ used: -0.1 }],
  inbox_notes_number: [{ number: 0 }],
  inbox_notes_type: [{ type: 'done' }],
  inbox_notes_until: [{ until: LATER }, { type: 'noted', note: 'n', until: LATER }],
  inbox_notes_said: [{ type: 'noted' }],
  upstream_leases_until: [{ lease_until: AT }],
};

export const TWICE = {
  upstreams_pkey: [{}, { pool: 'other' }],
  blocks_pkey: [{}, { subject_id: 'other' }],
  blocks_open: [{}, { id: 2, policy: 'rolling', until: AT }],
  block_events_pkey: [{}, { type: 'closed' }],
  upstream_leases_pkey: [{}, { upstream_id: 'other' }],
  upstream_events_pkey: [{}, { type: 'changed' }],
  snapshots_pkey: [{}, { used: 1 }],
  affinities_pkey: [{}, { upstream_id: 'other' }],
  inbox_notes_pkey: [{}, { actor: 'bob' }],
  inbox_notes_key: [
    { type: 'noted', note: 'n', key: 'k' },
    { number: 2, type: 'noted', note: 'm', key: 'k' },
  ],
} as const;
