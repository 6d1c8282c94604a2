// Rows that break a rule of limits, their windows or uses and nothing else, beside rows that are fine.

const AT = '2030-01-01T00:00:00Z';
const LATER = '2030-01-02T00:00:00Z';

export const ROWS = {
  limits: {
    ...{ id: 'l', subject_type: 'upstream', subject_id: 'u', scope: '', unit: 'requests', kind: 'daily', zone: 'UTC' },
    ...{ start_hour: 0, amount: 10, total: 5, total_before: 3, window_start: AT, window_end: LATER, last_at: AT },
    ...{ rolls_at: LATER, set_at: AT },
  },
  windows: { limit_id: 'l', window_start: AT, window_end: LATER, total_before: 3, begun_by: 'use', prunes_at: LATER },
  uses: { limit_id: 'l', key: 'k', window_start: AT, amount: 2, booked_at: AT },
};

const calendar = { zone: null, start_hour: null };
const weekly = { kind: 'weekly', weekday: 0 };
const monthly = { kind: 'monthly', day: 1 };
const first = { ...calendar, kind: 'first_use', length_ms: 60_000 };
const rolling = { ...calendar, kind: 'rolling', length_ms: 1000 };
const untouched = { total: 0, total_before: 0, window_start: null, window_end: null, last_at: null, rolls_at: null };

export const FINE = {
  limits: [
    ...[weekly, { ...weekly, weekday: 6 }, monthly, { ...monthly, day: 31 }, first, rolling, untouched],
    ...['quota_group', 'provider', 'route'].map((subject_type) => ({ subject_type })),
    ...['model:m', 'capability:c'].map((scope) => ({ scope })),
    ...['America/Argentina/Buenos_Aires', 'America/Port-au-Prince', 'Etc/GMT+5'].map((zone) => ({ zone })),
    ...[{ start_hour: 23 }, { amount: 1 }, { amount: '9007199254740991' }, { total_before: 5, rolls_at: null }],
    ...[
      { ended_at: LATER, rolls_at: null },
      { ...rolling, length_ms: 31_536_000_000 },
    ],
  ],
  windows: [{ begun_by: 'roll' }, { begun_by: 'reset', actor: 'a', reason: 'r' }, { total_before: 0, prunes_at: null }],
  uses: [{ amount: 1 }, { amount: 1_000_000_000_000 }],
};

export const BROKEN = {
  limits_subject: [{ subject_type: 'wallet' }],
  limits_scope: [{ scope: 'all' }, { scope: 'model:' }],
  limits_kind: [{ ...first, kind: 'hourly', length_ms: null }],
  limits_zone: ['CET', 'EST5EDT', '+02:00', 'UTC+2', '<+02>-02', '/Berlin'].map((zone) => ({ zone })),
  limits_calendar: [
    { zone: null, start_hour: null },
    { start_hour: null },
    { ...first, ...{ zone: 'UTC', start_hour: 0 } },
  ],
  limits_start_hour: [{ start_hour: -1 }, { start_hour: 24 }],
  limits_weekday: [{ kind: 'weekly' }, { weekday: 1 }, { ...weekly, weekday: 7 }, { ...weekly, weekday: -1 }],
  limits_day: [{ kind: 'monthly' }, { day: 1 }, { ...monthly, day: 0 }, { ...monthly, day: 32 }],
  limits_length: [
    ...[{ ...first, length_ms: null }, { ...rolling, length_ms: null }, { length_ms: 60_000 }],
    ...[
      { ...rolling, length_ms: 999 },
      { ...first, length_ms: 59_999 },
      { ...rolling, length_ms: '31536000001' },
    ],
  ],
  limits_amount: [{ amount: 0 }, { amount: '9007199254740992' }],
  limits_total: [{ total_before: 6 }, { total_before: -1 }],
  limits_window: [
    ...[{ window_end: null, rolls_at: null }, { window_start: null, total: 0, total_before: 0 }, { last_at: null }],
    ...[{ window_start: LATER }],
  ],
  limits_untouched: [{ ...untouched, total: 1 }],
  limits_rolls_at: [{ rolls_at: AT }, { ended_at: LATER }],
  windows_end: [{ window_end: AT }],
  windows_total: [{ total_before: -1 }],
  windows_begun_by: [{ begun_by: 'luck' }],
  uses_amount: [{ amount: 0 }, { amount: 1_000_000_000_001 }],
};

export const TWICE = {
  limits_pkey: [{}, { subject_id: 'other' }],
  windows_pkey: [{}, { begun_by: 'roll' }],
  uses_pkey: [{}, { amount: 1 }],
} as const;
