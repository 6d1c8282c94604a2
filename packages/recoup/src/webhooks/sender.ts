// What a sender needs of the webhooks: find what happened, take what is due, say how it went. The service has one; so may you.

import { dateOr } from '../db/instants.ts';
import type { Runner } from '../db/runner.ts';
import type { EventOutcome } from '../event-outcomes.ts';
import * as check from '../input.ts';
import { dispatchEvents } from './dispatch.ts';
import { asSecret } from './inputs.ts';
import { endpointsOn } from './queries.ts';
import { leaseDeliveries, reportDelivery } from './sending.ts';

/** A delivery in a sender's hands: until `leaseMs` are over nobody else sends it. */
export interface LeasedDelivery {
  /** The `webhook-id`. */
  id: string;
  /** The fencing token: report by it. */
  attempt: number;
  /** Which try it is since the event or its last replay. */
  tries: number;
  kind: string;
  url: string;
  /** The body as it is signed and sent. */
  body: string;
  /** `whsec_…`: one signature each, the newest first. */
  secrets: string[];
}

export interface DeliveryReport {
  id: string;
  attempt: number;
  /** It answered 2xx. */
  delivered: boolean;
  /** It answered 410: the endpoint is switched off. */
  gone?: boolean;
  status?: number;
  /** Why not, for people; cut at 500 characters. */
  error?: string;
  /** When it asks to be tried again; a day at most. */
  retryAfterMs?: number;
}

/** How many rows are looked at in one statement, and in how many of an endpoint's before others have their turn. */
const PAGE = 500;
const PAGES = 20;

export class Sending {
  protected readonly runner: Runner;

  constructor(runner: Runner) {
    this.runner = runner;
  }

  /**
   * Makes the deliveries of what is final and was not looked at yet, for every endpoint that is on; gives how many, and whether there may be
   * `more`. One at a time per endpoint, however many processes do it.
   */
  async dispatch(signal?: AbortSignal): Promise<{ made: number; more: boolean }> {
    const total = { made: 0, more: false };
    for (const { endpoint } of await this.runner.read(endpointsOn, [{}])) {
      let more = true;
      for (let page = 0; more && page < PAGES && !signal?.aborted; page++) {
        const answer = (await this.runner.read(dispatchEvents, [{ endpoint_id: endpoint, count: PAGE }]))[0]!;
        total.made += answer.made;
        more = answer.more;
      }
      total.more ||= more;
    }
    return total;
  }

  /** The endpoints that are on and have a delivery that is due. */
  async due(): Promise<string[]> {
    const rows = await this.runner.read(endpointsOn, [{}]);
    return rows.filter(({ due }) => due).map(({ endpoint }) => endpoint);
  }

  /** Takes up to `count` (1 to 100) due deliveries of an endpoint for `leaseMs`; what is not reported by then is due again. */
  async lease(endpoint: string, count = 10, leaseMs = 60_000): Promise<LeasedDelivery[]> {
    const input = {
      endpoint_id: check.id('endpoint', endpoint),
      count: check.integer('count', count, 1, 100),
      lease_ms: check.integer('leaseMs', leaseMs, 1000, 3_600_000),
    };
    const rows = await this.runner.read(leaseDeliveries, [input]);
    return rows.map((row) => ({ ...row, secrets: row.secrets.map(asSecret) }));
  }

  /**
   * How a try went. `delivered`; `retrying` at `dueAt`; `gone`: the endpoint is off, this waits until it is on; `dead`: that was the last try;
   * `stale`: somebody else has it by now, nothing changed.
   */
  async report(input: DeliveryReport): Promise<{ outcome: EventOutcome<'webhook.report'>; dueAt: Date | null }> {
    const fields = ['id', 'attempt', 'delivered', 'gone', 'status', 'error', 'retryAfterMs'];
    check.onlyFields('report', input, fields);
    const row = {
      id: check.id('id', input.id),
      attempt: check.integer('attempt', input.attempt, 1, 2_147_483_647),
      delivered: check.flag('delivered', input.delivered, false),
      gone: check.flag('gone', input.gone, false),
      status: check.optionalInteger('status', input.status, 100, 999),
      error: check.text('error', input.error, 500, 'cut'),
      retry_after_ms: check.duration('retryAfterMs', input.retryAfterMs),
    };
    const { outcome, dueAt } = (await this.runner.read(reportDelivery, [row]))[0]!;
    this.runner.observe('webhook.report', outcome);
    return { outcome: outcome as 'delivered', dueAt: dateOr(dueAt) };
  }
}
