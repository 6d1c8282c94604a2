// The transitions of webhooks and alerts with their guards, effects and answers; as in outcomes.ts, the docs page comes from it.
import type { Transition } from './outcomes.ts';

/** The transitions of webhooks and alerts: who is told of what happens. They read what the others append, and write nothing of theirs. */
export const eventTransitions = {
  'webhook.register': {
    guard: 'no endpoint of that id, or one that is just so',
    effect: 'an endpoint, on unless set, for what is not final yet; a secret that signs',
    outcomes: ['registered', 'duplicate'],
    refusals: ['conflict'],
  },
  'webhook.change': {
    guard: 'the endpoint is there; a line of low balance, where it is told of those',
    effect:
      'another address, other kinds, another line, on or off; what happened while it was off is told when it is on again, or left out',
    outcomes: ['changed', 'duplicate'],
    refusals: ['no_endpoint', 'invalid'],
  },
  'webhook.rotate': {
    guard: 'the endpoint is there',
    effect: 'another secret; the one of before signs too until it ends',
    outcomes: ['rotated'],
    refusals: ['no_endpoint'],
  },
  'webhook.remove': {
    guard: 'the endpoint is there',
    effect: 'it goes, with its secrets and deliveries',
    outcomes: ['removed', 'duplicate'],
    refusals: [],
  },
  'webhook.dispatch': {
    guard:
      'the endpoint is on, nobody else looks for it now; a row of an append-only table above its position and below the oldest transaction that is open; no delivery of this event at this endpoint',
    effect: 'a delivery for each event that it wants, pending and due at once; the position moves behind what was read',
    outcomes: [],
    refusals: [],
  },
  'webhook.lease': {
    guard: 'pending, due_at ≤ clock, the endpoint on; rows that are locked are passed over',
    effect: 'attempt + 1, try + 1; due again when the lease is over',
    outcomes: [],
    refusals: [],
  },
  'webhook.report': {
    guard: 'pending, attempt = n',
    effect:
      '`delivered`; or due again after its back-off, or when the endpoint asks for it; or `dead` after ten tries; after a 410 the endpoint is off (`gone`)',
    outcomes: ['delivered', 'dead', 'gone', 'retrying', 'stale'],
    refusals: [],
  },
  'webhook.replay': {
    guard: 'delivered or dead; one, or those since an instant, or the dead ones',
    effect: 'pending and due at once, its tries counted anew; the same id',
    outcomes: ['replayed'],
    refusals: ['no_endpoint', 'no_delivery'],
  },
  'webhook.test': {
    guard: 'the endpoint is there; no test with this key',
    effect: 'a delivery of the kind `endpoint.test`',
    outcomes: ['sent', 'duplicate'],
    refusals: ['no_endpoint'],
  },
  'alert.look': {
    guard:
      'fires: the condition holds, and its last alert is over; ends: this one fires, and its condition does not hold',
    effect: 'an alert with the next number and the event `firing`; or it is over, and the event `recovered`',
    outcomes: ['fired', 'recovered'],
    refusals: [],
  },
} as const satisfies Record<string, Transition>;

/** What a transition of webhooks and alerts may return. */
export type EventOutcome<T extends keyof typeof eventTransitions> = (typeof eventTransitions)[T]['outcomes'][number];
