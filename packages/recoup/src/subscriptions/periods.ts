// When periods begin and end: from civil dates in the plan's zone, always counted from the anchor, so that a 31st comes back after February.

/** The civil length of `n` periods. */
const length = (
  every: string,
  count: string,
  n: string,
) => `case ${every} when 'day' then make_interval(days => ${count} * ${n})
    when 'week' then make_interval(weeks => ${count} * ${n}) when 'month' then make_interval(months => ${count} * ${n})
    else make_interval(years => ${count} * ${n}) end`;

/** When the `n`th period after the anchor begins. */
const begins = (p: string, n: string) =>
  `((${p}.anchor_at at time zone ${p}.zone + ${length(`${p}.every`, `${p}.every_count`, n)}) at time zone ${p}.zone)`;

/** When period `n` begins, of a row `p` with its anchor. Period n ends where n + 1 begins. */
export const periodStart = (p: string, n: string) => begins(p, `(${n} - ${p}.anchor_period)`);

/** The period that holds the instant `at`, at or behind the anchor: at most one step beside the difference of the civil dates. */
export const periodAt = (p: string, at: string) => `(
  select ${p}.anchor_period + guess.n - (${begins(p, 'guess.n')} > ${at})::int from (
    select case ${p}.every
      when 'day' then ((${at} at time zone ${p}.zone)::date - (${p}.anchor_at at time zone ${p}.zone)::date) / ${p}.every_count
      when 'week' then ((${at} at time zone ${p}.zone)::date - (${p}.anchor_at at time zone ${p}.zone)::date) / (7 * ${p}.every_count)
      when 'month' then ((extract(year from ${at} at time zone ${p}.zone) - extract(year from ${p}.anchor_at at time zone ${p}.zone)) * 12
        + extract(month from ${at} at time zone ${p}.zone) - extract(month from ${p}.anchor_at at time zone ${p}.zone))::int / ${p}.every_count
      else (extract(year from ${at} at time zone ${p}.zone) - extract(year from ${p}.anchor_at at time zone ${p}.zone))::int / ${p}.every_count
    end as n) guess)`;
