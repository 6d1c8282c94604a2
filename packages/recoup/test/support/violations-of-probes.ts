// Rows that break a rule of the schema of probes, beside rows that are fine.
import type { Row } from './violations.ts';

const AT = '2030-01-01T00:00:00Z';
const LATER = '2030-01-01T00:01:00Z';

export const ROWS: Readonly<Record<string, Row>> = {
  probers: { pool: 'p', kind: 'function', grace_ms: 1000, every_ms: 1000, timeout_ms: 1000, cost: '{}', set_at: AT },
  probes: {
    ...{
      id: 1,
      block_id: 1,
      generation: 1,
      upstream_id: 'u',
      pool: 'p',
      source: 'backoff',
      kind: 'due',
      started_at: AT,
    },
    ...{ lease_until: LATER, cost: '{}' },
  },
};

const ended = (outcome: string, result: string | null) => ({ outcome, result, ended_at: LATER });

export const FINE: Readonly<Record<string, readonly Row[]>> = {
  probers: [
    { kind: 'http', http: '{}' },
    { grace_ms: 3_600_000, every_ms: 604_800_000, timeout_ms: 3_600_000 },
    { timeout_ms: 100 },
  ],
  probes: [
    { kind: 'early' },
    { kind: 'asked', asked_at: AT, asked_by: 'ann' },
    ...[ended('confirmed', 'yes'), ended('denied', 'no'), ended('unavailable', 'unavailable')],
    ...[ended('superseded', 'no'), ended('lapsed', null), { ...ended('lapsed', 'yes'), latency_ms: 0 }],
  ],
};

export const BROKEN: Readonly<Record<string, readonly Row[]>> = {
  probers_kind: [{ kind: 'mail' }],
  probers_http: [{ kind: 'http' }, { http: '{}' }],
  probers_grace: [{ grace_ms: 999, timeout_ms: 100 }, { grace_ms: 3_600_001 }],
  probers_every: [{ every_ms: 999 }, { every_ms: 604_800_001 }],
  probers_timeout: [{ timeout_ms: 99 }, { timeout_ms: 1001 }],
  probes_kind: [{ kind: 'late' }],
  probes_asked: [{ kind: 'asked' }, { asked_at: AT, asked_by: 'ann' }, { asked_by: 'ann' }],
  probes_lease: [{ lease_until: AT }],
  probes_ended: [{ ...ended('lapsed', null), ended_at: '2029-12-31T23:59:59Z' }],
  probes_result: [ended('lapsed', 'perhaps')],
  probes_outcome: [{ ...ended('lapsed', null), outcome: 'late' }, { ended_at: LATER }, { outcome: 'lapsed' }],
  probes_answered: [
    ...[ended('confirmed', 'no'), ended('denied', 'yes'), ended('unavailable', 'no'), ended('superseded', null)],
    { result: 'yes' },
  ],
  probes_latency: [{ latency_ms: -1 }],
  blocks_gate: [{ gate_ms: 999 }, { gate_ms: 3_600_001 }],
  blocks_asked: [
    { asked_at: AT, next_check_at: AT },
    { asked_by: 'ann', next_check_at: AT },
    { asked_at: AT, asked_by: 'ann' },
  ],
};

export const TWICE: Readonly<Record<string, readonly [Row, Row]>> = {
  probers_pkey: [{}, { every_ms: 2000 }],
  probes_pkey: [ended('lapsed', null), { block_id: 2 }],
  probes_under_way: [{}, { id: 2, generation: 2 }],
};
