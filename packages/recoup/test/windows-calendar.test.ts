// Which window an instant lies in, held to an independent calendar: every kind of window in many zones, at changes of the clock and anywhere.
import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { expect } from 'vitest';
import { type Stage, staging } from './support/stage.ts';

const { onEvery } = staging();

/** Summer time at midnight and in the small hours, half hours, days that were skipped, none at all. */
const ZONES = [
  ...['UTC', 'Europe/Berlin', 'Europe/London', 'America/New_York', 'America/Los_Angeles', 'America/St_Johns'],
  ...['America/Santiago', 'America/Havana', 'America/Asuncion', 'America/Sao_Paulo', 'America/Nuuk', 'Africa/Cairo'],
  ...['Africa/Casablanca', 'Asia/Beirut', 'Asia/Gaza', 'Asia/Tehran', 'Asia/Amman', 'Asia/Shanghai', 'Asia/Kathmandu'],
  ...['Asia/Kolkata', 'Australia/Lord_Howe', 'Australia/Sydney', 'Antarctica/Troll', 'Pacific/Apia', 'Pacific/Chatham'],
  ...['Pacific/Auckland', 'Pacific/Kiritimati', 'Atlantic/Azores', 'Etc/GMT+12'],
];
const FROM = Date.UTC(2005, 0, 1);
const TO = Date.UTC(2037, 0, 1);

interface Calendar {
  kind: 'daily' | 'weekly' | 'monthly';
  zone: string;
  hour: number;
  weekday: number;
  day: number;
}

/** The first instant at which the zone's wall clock shows a local time or later. */
function firstInstant(shown: Temporal.PlainDateTime, zone: string): number {
  const [early, late] = (['earlier', 'later'] as const).map((disambiguation) =>
    shown.toZonedDateTime(zone, { disambiguation }),
  );
  if (early!.toPlainDateTime().equals(shown)) return early!.epochMilliseconds;
  // It is jumped over: at the change itself.
  return (early!.getTimeZoneTransition('next') ?? late!).epochMilliseconds;
}

function oracle({ kind, zone, hour, weekday, day }: Calendar, at: number): [number, number] {
  const today = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).toPlainDate();
  const starts: number[] = [];
  for (let n = -40; n <= 70; n++) {
    const date = today.add({ days: n });
    const begins =
      kind === 'daily' ||
      (kind === 'weekly' && date.dayOfWeek % 7 === weekday) ||
      (kind === 'monthly' && date.day === Math.min(day, date.daysInMonth));
    if (begins) starts.push(firstInstant(date.toPlainDateTime({ hour }), zone));
  }
  return [Math.max(...starts.filter((start) => start <= at)), Math.min(...starts.filter((start) => start > at))];
}

async function windowsOf(s: Stage, cases: readonly (Calendar & { at: number })[]): Promise<[number, number][]> {
  const rows = await s.db.query(
    `select (extract(epoch from w.window_start) * 1000)::float8 as start, (extract(epoch from w.window_end) * 1000)::float8 as "end"
     from rows from (jsonb_to_recordset($1::text::jsonb) as (kind text, zone text, hour int, weekday int, day int, at float8))
       with ordinality as c(kind, zone, hour, weekday, day, at, ord)
     cross join lateral recoup.window_of(c.kind, c.zone, c.hour, c.weekday, c.day, null, to_timestamp(c.at / 1000)) w order by ord`,
    [JSON.stringify(cases)],
  );
  return rows.map(({ start, end }) => [Number(start), Number(end)]);
}

const utc = (text: string) => Date.parse(text);
const daily = (zone: string, hour = 0): Calendar => ({ kind: 'daily', zone, hour, weekday: 0, day: 1 });

onEvery('days that are 23 or 25 hours long, and midnights that do not exist or come twice', async (s) => {
  const table: [Calendar, at: string, start: string, end: string][] = [
    [daily('Asia/Shanghai'), '2026-03-10T15:59:59Z', '2026-03-09T16:00:00Z', '2026-03-10T16:00:00Z'],
    [daily('Asia/Shanghai'), '2026-03-10T16:00:00Z', '2026-03-10T16:00:00Z', '2026-03-11T16:00:00Z'],
    [daily('America/New_York'), '2026-11-01T12:00:00Z', '2026-11-01T04:00:00Z', '2026-11-02T05:00:00Z'],
    [daily('America/New_York'), '2026-03-08T12:00:00Z', '2026-03-08T05:00:00Z', '2026-03-09T04:00:00Z'],
    // 02:00 is jumped over in March, and comes once in November, behind two times 01:00.
    [daily('America/New_York', 2), '2026-03-08T12:00:00Z', '2026-03-08T07:00:00Z', '2026-03-09T06:00:00Z'],
    [daily('America/New_York', 1), '2026-11-01T05:30:00Z', '2026-11-01T05:00:00Z', '2026-11-02T06:00:00Z'],
    [daily('America/New_York', 1), '2026-11-01T06:30:00Z', '2026-11-01T05:00:00Z', '2026-11-02T06:00:00Z'],
    // Midnight is jumped over: the day begins at 01:00.
    [daily('America/Santiago'), '2026-09-06T12:00:00Z', '2026-09-06T04:00:00Z', '2026-09-07T03:00:00Z'],
    [daily('America/Santiago'), '2026-09-06T03:59:59Z', '2026-09-05T04:00:00Z', '2026-09-06T04:00:00Z'],
    [daily('Africa/Cairo'), '2026-04-24T12:00:00Z', '2026-04-23T22:00:00Z', '2026-04-24T21:00:00Z'],
    // Midnight comes twice: the day begins with the first.
    [daily('America/Havana'), '2026-11-01T04:30:00Z', '2026-11-01T04:00:00Z', '2026-11-02T05:00:00Z'],
    [daily('America/Havana'), '2026-11-01T05:30:00Z', '2026-11-01T04:00:00Z', '2026-11-02T05:00:00Z'],
    // Two hours are jumped over at once, and the window begins at the jump.
    [daily('Antarctica/Troll', 2), '2026-03-29T12:00:00Z', '2026-03-29T01:00:00Z', '2026-03-30T00:00:00Z'],
    // A day that never was.
    [daily('Pacific/Apia'), '2011-12-30T09:59:59Z', '2011-12-29T10:00:00Z', '2011-12-30T10:00:00Z'],
    [daily('Pacific/Apia'), '2011-12-30T10:00:00Z', '2011-12-30T10:00:00Z', '2011-12-31T10:00:00Z'],
    [
      { ...daily('UTC'), kind: 'monthly', day: 31 },
      '2026-02-28T12:00:00Z',
      '2026-02-28T00:00:00Z',
      '2026-03-31T00:00:00Z',
    ],
    [
      { ...daily('UTC'), kind: 'monthly', day: 31 },
      '2028-02-28T12:00:00Z',
      '2028-01-31T00:00:00Z',
      '2028-02-29T00:00:00Z',
    ],
  ];
  const got = await windowsOf(
    s,
    table.map(([calendar, at]) => ({ ...calendar, at: utc(at) })),
  );
  const told = (row: (number | undefined)[]) => row.map((at) => new Date(at!).toISOString());
  expect(got.map(told)).toEqual(table.map(([, , start, end]) => told([utc(start), utc(end)])));
  // The oracle says the same.
  expect(table.map(([calendar, at]) => told(oracle(calendar, utc(at))))).toEqual(got.map(told));
});

onEvery(
  'weeks on each weekday in three zones over a change of the clock; the boundary belongs to the new one',
  async (s) => {
    const cases: (Calendar & { at: number })[] = [];
    for (const zone of ['America/New_York', 'Europe/Berlin', 'Australia/Sydney'])
      for (let weekday = 0; weekday < 7; weekday++)
        for (const hour of [0, 2, 9])
          for (let at = utc('2026-03-01T00:00:00Z'); at < utc('2026-04-20T00:00:00Z'); at += 7 * 86_400_000)
            cases.push({ kind: 'weekly', zone, hour, weekday, day: 1, at });
    const got = await windowsOf(s, cases);
    expect(got).toEqual(cases.map((one) => oracle(one, one.at)));
    for (const [i, one] of cases.entries()) {
      const local = Temporal.Instant.fromEpochMilliseconds(got[i]![0]).toZonedDateTimeISO(one.zone);
      expect(local.dayOfWeek % 7).toBe(one.weekday);
    }
    const atEnd = cases.map((one, i) => ({ ...one, at: got[i]![1] }));
    expect((await windowsOf(s, atEnd)).map(([start]) => start)).toEqual(got.map(([, end]) => end));
  },
);

onEvery('any instant in any zone lies in the window that the oracle says', async (s) => {
  const changes = ZONES.flatMap((zone) => {
    const found: { zone: string; at: number }[] = [];
    let at: Temporal.ZonedDateTime | null = Temporal.Instant.fromEpochMilliseconds(FROM).toZonedDateTimeISO(zone);
    while (at && at.epochMilliseconds < TO) {
      at = at.getTimeZoneTransition('next');
      if (at && at.epochMilliseconds < TO) found.push({ zone, at: at.epochMilliseconds });
    }
    return found;
  });
  expect(changes.length).toBeGreaterThan(500);
  const near = fc
    .tuple(fc.constantFrom(...changes), fc.integer({ min: -30 * 3600, max: 30 * 3600 }))
    .map(([change, seconds]) => ({ zone: change.zone, at: change.at + seconds * 1000 }));
  const anywhere = fc.record({
    zone: fc.constantFrom(...ZONES),
    at: fc.integer({ min: FROM / 1000, max: TO / 1000 }).map((at) => at * 1000),
  });
  const one = fc
    .tuple(
      fc.oneof(near, near, anywhere),
      fc.record({
        kind: fc.constantFrom('daily' as const, 'weekly' as const, 'monthly' as const),
        hour: fc.oneof(fc.constantFrom(0, 1, 2, 3, 23), fc.integer({ min: 0, max: 23 })),
        weekday: fc.integer({ min: 0, max: 6 }),
        day: fc.integer({ min: 1, max: 31 }),
      }),
    )
    .map(([where, calendar]) => ({ ...where, ...calendar }));
  await fc.assert(
    fc.asyncProperty(fc.array(one, { minLength: 100, maxLength: 100 }), async (cases) => {
      const got = await windowsOf(s, cases);
      const wanted = cases.map((each) => oracle(each, each.at));
      expect(got.map((row, i) => [JSON.stringify(cases[i]), ...row])).toEqual(
        wanted.map((row, i) => [JSON.stringify(cases[i]), ...row]),
      );
    }),
    { numRuns: 12, endOnFailure: true },
  );
});
