// What would rewrite history, for every table that only grows.
/** A column of tables that have no reason. */
const UNLIKE: Readonly<Record<string, string>> = {
  inbox_notes: 'note',
  alert_events: 'subject',
  grants: 'priority',
  grant_entries: 'of_seq',
};

/** What would rewrite history, by the trigger that refuses it: also where no row would match. */
export const REWRITTEN: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  [
    'entries',
    'grants',
    'grant_entries',
    'epochs',
    'block_events',
    'upstream_events',
    'inbox_notes',
    'alert_events',
    'subscription_events',
  ].map((table) => [
    `${table}_append_only`,
    [
      `update recoup.${table} set ${UNLIKE[table] ?? 'reason'} = null where false`,
      `delete from recoup.${table} where false`,
      `truncate recoup.${table}`,
    ],
  ]),
);
