// What endpoints may be told of, and which append-only table says it.

/** Where the events of a kind come from. */
export const SOURCES = {
  attempts: ['job.succeeded', 'job.dead'],
  entries: ['job.reclaimed', 'wallet.low', 'wallet.debt'],
  block_events: ['upstream.blocked', 'upstream.freed', 'inbox.opened', 'inbox.closed'],
  alert_events: ['alert.firing', 'alert.recovered'],
} as const;

export type EventKind = (typeof SOURCES)[keyof typeof SOURCES][number];

/** The kinds of events. */
export const EVENT_KINDS: readonly EventKind[] = Object.values(SOURCES).flat();

/** What a test sends. */
export const TEST_KIND = 'endpoint.test';
