-- Windows: how much may be used in a period, and what was used. A new period is a new row.

-- The first instant at which the clock on the wall of a zone shows a local time or later. Where it is shown twice the first one counts; where the
-- clock jumps over it, the jump. Zones change at whole minutes.
create function recoup.first_instant(shown timestamp, zone text) returns timestamptz
  language sql immutable parallel safe
  as $$
    select coalesce(
      (select c.at from (values (before), (after)) c (at) where c.at at time zone zone = shown order by c.at limit 1),
      (select g.at from generate_series(least(before, after), greatest(before, after), interval '1 minute') g (at)
       where g.at at time zone zone >= shown order by g.at limit 1),
      greatest(before, after))
    -- By the offsets of the day before and the day after: between them lies at most one jump.
    from (select near - ((near - interval '24 hours') at time zone zone - (near - interval '24 hours') at time zone 'UTC') as before,
                 near - ((near + interval '24 hours') at time zone zone - (near + interval '24 hours') at time zone 'UTC') as after
          from (select shown at time zone 'UTC' as near) n) o
  $$;

-- The window that an instant lies in: window_start <= at < window_end. Days, weeks and months are those of the calendar in a zone, from an hour on,
-- from a weekday (0: Sunday), from a day of the month (its last one, where it has no such day). The others begin at the instant itself: `first_use`
-- has a length, `rolling` is counted in seconds.
create function recoup.window_of(kind text, zone text, start_hour int, weekday int, day int, length_ms bigint, at timestamptz,
    out window_start timestamptz, out window_end timestamptz)
  language sql immutable parallel safe
  as $$
    select case kind when 'first_use' then at when 'rolling' then at
             else (select s.at from unnest(starts) s (at) where s.at <= $7 order by s.at desc limit 1) end,
           case kind when 'first_use' then at + length_ms * interval '1 millisecond' when 'rolling' then at + interval '1 second'
             else (select s.at from unnest(starts) s (at) where s.at > $7 order by s.at limit 1) end
    from (select case when kind in ('daily', 'weekly', 'monthly') then array(
      select recoup.first_instant(c.on_day + start_hour * interval '1 hour', zone)
      from (select date_trunc('day', $7 at time zone zone) as today) t
      cross join generate_series(-2, 2) k (n)
      cross join lateral (select case kind
        when 'daily' then today + n * interval '1 day'
        when 'weekly' then today + (n * 7 - (extract(dow from today)::int - weekday + 7) % 7) * interval '1 day'
        else date_trunc('month', today) + n * interval '1 month'
          + (least(day, extract(day from date_trunc('month', today) + (n + 1) * interval '1 month' - interval '1 day')::int) - 1) * interval '1 day'
        end as on_day) c) end as starts) x
  $$;

-- How much of a unit may be used in a window, by a subject: a limit. Beside what it says the window that it is in now, as a wallet holds its
-- balance: used = total - total_before.
create table recoup.limits (
  id text collate "C" constraint limits_pkey primary key,
  subject_type text collate "C" not null,
  subject_id text collate "C" not null,
  -- Empty: everything. Else `model:…` or `capability:…`.
  scope text collate "C" not null default '',
  unit text collate "C" not null,
  kind text not null,
  zone text,
  start_hour int,
  weekday int,
  day int,
  length_ms bigint,
  amount bigint not null,
  -- All that was ever used; and what it was when the window began that it is in, or where what rolls was last reset.
  total bigint not null default 0,
  total_before bigint not null default 0,
  -- Null: not used yet. It may be over: the next one begins with the next use, or with the sweep.
  window_start timestamptz,
  window_end timestamptz,
  -- The instant of what was last booked or reset: none comes before another.
  last_at timestamptz,
  -- When the sweep ends the window; null: nothing is used in it.
  rolls_at timestamptz,
  set_at timestamptz not null,
  ended_at timestamptz,
  constraint limits_subject check (subject_type in ('upstream', 'quota_group', 'provider', 'route')),
  constraint limits_scope check (scope = '' or scope ~ '^(model|capability):.'),
  constraint limits_kind check (kind in ('daily', 'weekly', 'monthly', 'first_use', 'rolling')),
  -- A place's name. Not an offset, not an abbreviation: those know no summer.
  constraint limits_zone check (zone ~ '^(UTC|[A-Za-z]+/[A-Za-z0-9_+/-]+)$'),
  constraint limits_calendar check ((kind in ('daily', 'weekly', 'monthly')) = (zone is not null) and (zone is null) = (start_hour is null)),
  constraint limits_start_hour check (start_hour between 0 and 23),
  constraint limits_weekday check ((kind = 'weekly') = (weekday is not null) and weekday between 0 and 6),
  constraint limits_day check ((kind = 'monthly') = (day is not null) and day between 1 and 31),
  constraint limits_length check ((kind in ('first_use', 'rolling')) = (length_ms is not null) and length_ms between 1000 and 31536000000
    and (kind <> 'first_use' or length_ms >= 60000)),
  constraint limits_amount check (amount between 1 and 9007199254740991),
  constraint limits_total check (total_before between 0 and total),
  constraint limits_window check ((window_start is null) = (window_end is null) and (window_start is null) = (last_at is null) and window_end > window_start),
  constraint limits_untouched check (window_start is not null or total = 0),
  constraint limits_rolls_at check (rolls_at is null or (rolls_at = window_end and ended_at is null))
) with (fillfactor = 70);
create index limits_of on recoup.limits (subject_type, subject_id);
create index limits_roll on recoup.limits (rolls_at, id) where rolls_at is not null;

-- One window of a limit, from its start; the next row ends it. What was used in it is what the next one found, less what it found. Of a limit that
-- rolls each second of use is one.
create table recoup.windows (
  limit_id text collate "C" not null,
  window_start timestamptz not null,
  -- When it is over, unless it is reset before.
  window_end timestamptz not null,
  -- All that was ever used of the limit when it began.
  total_before bigint not null,
  -- What began it: a use, the sweep, a person.
  begun_by text not null,
  actor text,
  reason text,
  -- When what was booked in it is forgotten; null: it is.
  prunes_at timestamptz,
  constraint windows_pkey primary key (limit_id, window_start),
  constraint windows_end check (window_end > window_start),
  constraint windows_total check (total_before >= 0),
  constraint windows_begun_by check (begun_by in ('use', 'roll', 'reset'))
);
-- When what rolls is under its limit again: the last second that has to fall out.
create index windows_total_before on recoup.windows (limit_id, total_before, window_start);
create index windows_prune on recoup.windows (prunes_at) where prunes_at is not null;

-- What was booked on a limit, once per key.
create table recoup.uses (
  limit_id text collate "C" not null,
  key text collate "C" not null,
  window_start timestamptz not null,
  amount bigint not null,
  booked_at timestamptz not null,
  constraint uses_pkey primary key (limit_id, key),
  constraint uses_amount check (amount between 1 and 1000000000000)
);
create index uses_of_window on recoup.uses (limit_id, window_start);

-- An upstream whose own limit of everything is used up stands apart until there is room again, so that no selection walks over thousands of them.
-- For speed: limits decide. Whoever frees a limit early forgets it here.
alter table recoup.upstreams add column quota_until timestamptz;
drop index recoup.upstreams_free;
create index upstreams_free on recoup.upstreams (pool, priority, turn_at) where status = 'on' and blocked_until is null and quota_until is null;
create index upstreams_full on recoup.upstreams (pool, priority, quota_until) where status = 'on' and blocked_until is null and quota_until is not null;
