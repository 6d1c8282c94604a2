// Rows that break a rule of webhooks or alerts and nothing else, beside rows that are fine.
import { createHash } from 'node:crypto';

const AT = '2030-01-01T00:00:00Z';
const LATER = '2030-01-02T00:00:00Z';
const BIG = '9007199254740992';
const bytes = (count: number) => `\\x${'ab'.repeat(count)}`;
const idOf = (endpoint: string, event: string) =>
  `msg_${createHash('sha256').update(`${endpoint}\u001f${event}`).digest('hex').slice(0, 40)}`;

export const ROWS = {
  alerts: { kind: 'idle', subject: 'upstream:u', number: 1, fired_at: AT, facts: {} },
  alert_events: { kind: 'idle', subject: 'upstream:u', number: 1, type: 'firing', at: AT, tx: '1' },
  webhook_endpoints: {
    ...{ id: 'e', url: 'https://example.com/', kinds: ['job.dead'], status: 'on', position: '1', epoch: 0 },
    ...{ looked_at: AT, registered_at: AT },
  },
  webhook_secrets: { endpoint_id: 'e', number: 1, value: bytes(32), made_at: AT },
  webhook_deliveries: {
    ...{ id: idOf('e', 'x'), endpoint_id: 'e', event: 'x', kind: 'job.dead', happened_at: AT, payload: {} },
    ...{ state: 'pending', due_at: AT, attempt: 1, tries: 1 },
  },
};

const ended = { due_at: null, ended_at: LATER };

export const FINE = {
  alerts: [
    ...['exhausted', 'near_exhausted', 'snapshot_exhausted', 'blocked_long'].map((kind) => ({ kind })),
    { number: 2, recovered_at: AT },
  ],
  alert_events: [{ type: 'recovered' }],
  webhook_endpoints: [
    ...['off', 'gone'].map((status) => ({ status })),
    { kinds: ['wallet.low'], low_balance: -5 },
    { kinds: ['job.succeeded', 'job.reclaimed', 'wallet.debt', 'upstream.blocked', 'upstream.freed'] },
    { kinds: ['inbox.opened', 'inbox.closed', 'alert.firing', 'alert.recovered'] },
  ],
  webhook_secrets: [24, 64].map((count) => ({ value: bytes(count), ends_at: LATER })),
  webhook_deliveries: [
    { state: 'delivered', ...ended },
    { state: 'dead', ...ended, tries: 0 },
  ],
};

export const BROKEN = {
  alerts_kind: [{ kind: 'sad' }],
  alerts_number: [{ number: 0 }],
  alerts_recovered_at: [{ recovered_at: '2029-12-31T00:00:00Z' }],
  alert_events_type: [{ type: 'seen' }],
  webhook_endpoints_kinds: [{ kinds: [] }, { kinds: ['job.lost'] }, { kinds: Array(12).fill('job.dead') }],
  webhook_endpoints_status: [{ status: 'paused' }],
  webhook_endpoints_low_balance: [{ low_balance: BIG }, { low_balance: `-${BIG}` }],
  webhook_endpoints_low: [{ kinds: ['wallet.low'] }],
  webhook_secrets_value: [23, 65].map((count) => ({ value: bytes(count) })),
  webhook_deliveries_id: [{ id: 'msg_1' }, { endpoint_id: 'other' }, { event: 'other' }],
  webhook_deliveries_state: [{ state: 'lost', ...ended }],
  webhook_deliveries_due_at: [{ due_at: null }, { state: 'dead', due_at: AT, ended_at: LATER }],
  webhook_deliveries_ended_at: [{ ended_at: LATER }, { state: 'delivered', due_at: null }],
  webhook_deliveries_tries: [{ tries: -1 }, { tries: 2 }],
};

export const TWICE = {
  alerts_pkey: [{ recovered_at: AT }, { facts: { other: 1 } }],
  alerts_firing: [{}, { number: 2 }],
  alert_events_pkey: [{}, { at: LATER }],
  webhook_endpoints_pkey: [{}, { url: 'https://example.org/' }],
  webhook_secrets_pkey: [{}, { value: bytes(24) }],
  webhook_deliveries_pkey: [{}, { state: 'dead', ...ended }],
} as const;
