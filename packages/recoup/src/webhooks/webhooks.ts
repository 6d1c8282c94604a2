// The webhooks of a handle: who is told of what happens, what was delivered to whom, and what a sender needs to deliver.

import { dateOr } from '../db/instants.ts';
import type { Columns, InputOf, Statement } from '../db/statement.ts';
import { InvalidInput, Refusal } from '../errors.ts';
import type { EventOutcome } from '../event-outcomes.ts';
import * as check from '../input.ts';
import { changeEndpoint, registerEndpoint, removeEndpoint, rotateSecret } from './endpoints.ts';
import { asSecret, kinds as kindsIn, secret as secretIn, url as urlIn } from './inputs.ts';
import type { EventKind, TEST_KIND } from './kinds.ts';
import { type DeliveryRow, type EndpointRow, getDelivery, listDeliveries, listEndpoints } from './queries.ts';
import { type ReplayedRow, replayDeliveries, sendTest } from './replay.ts';
import { Sending } from './sender.ts';

export interface WebhookEndpoint extends Omit<EndpointRow, 'registeredAt' | 'lookedAt' | 'kinds'> {
  kinds: EventKind[];
  registeredAt: Date;
  /** When events were last looked for; to the minute where nothing happens. */
  lookedAt: Date;
}

/** One event at one endpoint; `delivery` is its `webhook-id`. */
export interface WebhookDelivery
  extends Omit<DeliveryRow, 'kind' | 'happenedAt' | 'dueAt' | 'lastAt' | 'endedAt' | 'payload'> {
  kind: EventKind | typeof TEST_KIND;
  happenedAt: Date;
  dueAt: Date | null;
  lastAt: Date | null;
  endedAt: Date | null;
  payload: { type: string; timestamp: string; data: Record<string, unknown> };
}

export interface RegisterEndpoint {
  endpoint: string;
  /** https or http. Where it leads is looked at by the sender, each time. */
  url: string;
  kinds: readonly EventKind[];
  /** `wallet.low` is a balance that falls below it. */
  lowBalance?: number;
  /** `whsec_` and the base64 of 24 to 64 bytes; made unless given. */
  secret?: string;
  /** Off: nothing is sent until it is switched on. */
  status?: 'on' | 'off';
}

export interface ChangeEndpoint {
  endpoint: string;
  url?: string;
  kinds?: readonly EventKind[];
  lowBalance?: number | null;
  status?: 'on' | 'off';
  /** Leave out what happened until now and was not delivered yet. */
  skip?: boolean;
}

export interface RotateSecret {
  endpoint: string;
  secret?: string;
  /** How long the secret of before signs too; a day unless set. */
  keepMs?: number;
}

export interface DeliveryFilter {
  state?: 'pending' | 'delivered' | 'dead';
  /** At most so many, 1 to 1,000; 100 unless set. */
  limit?: number;
  /** The last delivery of the page before. */
  after?: string;
}

/** Which deliveries: one; all of events since an instant; all dead ones, of all or since it. */
export interface Replay {
  endpoint: string;
  delivery?: string;
  since?: Date;
  dead?: boolean;
}

const DAY_MS = 86_400_000;
const PAGE = 1000;
const STATES = ['pending', 'delivered', 'dead'] as const;

export class Webhooks extends Sending {
  /**
   * An endpoint for what happens from now on. `registered` with its `secret`, shown this once where it was made; `duplicate` where it is there just so.
   * Refuses `conflict`.
   */
  async register(
    input: RegisterEndpoint,
  ): Promise<{ outcome: EventOutcome<'webhook.register'>; secret: string | null }> {
    check.onlyFields('register', input, ['endpoint', 'url', 'kinds', 'lowBalance', 'secret', 'status']);
    const endpoint_id = check.id('endpoint', input.endpoint);
    const kinds = kindsIn('kinds', input.kinds);
    const low_balance = lowBalanceIn(input.lowBalance);
    if (kinds.includes('wallet.low') && low_balance === null) throw lowNeeded();
    const status = check.oneOf('status', input.status ?? 'on', ['on', 'off']);
    const secret = secretIn('secret', input.secret);
    const row = { endpoint_id, url: urlIn('url', input.url), kinds, low_balance, status, secret };
    const { outcome } = await this.decide(registerEndpoint, row);
    if (outcome === 'conflict') throw new Refusal('conflict', undefined, { endpoint: endpoint_id });
    return { outcome: outcome as 'registered', secret: outcome === 'registered' ? asSecret(secret) : null };
  }

  /**
   * What is given changes. What happened while it was off is told when it is on again, unless `skip`. One that answered 410 (`gone`) is switched on
   * like one that is off. Refuses `no_endpoint`.
   */
  async change(input: ChangeEndpoint): Promise<{ outcome: EventOutcome<'webhook.change'> }> {
    check.onlyFields('change', input, ['endpoint', 'url', 'kinds', 'lowBalance', 'status', 'skip']);
    const { outcome } = await this.decide(changeEndpoint, {
      endpoint_id: check.id('endpoint', input.endpoint),
      url: input.url === undefined ? null : urlIn('url', input.url),
      kinds: input.kinds === undefined ? null : kindsIn('kinds', input.kinds),
      low_balance: lowBalanceIn(input.lowBalance),
      low_given: input.lowBalance !== undefined,
      status: input.status === undefined ? null : check.oneOf('status', input.status, ['on', 'off']),
      skip: check.flag('skip', input.skip, false),
    });
    if (outcome === 'low_needed') throw lowNeeded();
    return { outcome: this.there(outcome, input.endpoint) as 'changed' };
  }

  /** Another secret, shown this once; the one of before signs too for `keepMs` (a day unless set). Refuses `no_endpoint`. */
  async rotate(input: RotateSecret): Promise<{ outcome: EventOutcome<'webhook.rotate'>; secret: string }> {
    check.onlyFields('rotate', input, ['endpoint', 'secret', 'keepMs']);
    const secret = secretIn('secret', input.secret);
    const keep_ms = check.duration('keepMs', input.keepMs) ?? DAY_MS;
    const { outcome } = await this.decide(rotateSecret, {
      endpoint_id: check.id('endpoint', input.endpoint),
      secret,
      keep_ms,
    });
    return { outcome: this.there(outcome, input.endpoint) as 'rotated', secret: asSecret(secret) };
  }

  /** The endpoint goes, with its secrets and deliveries. `removed`, `duplicate`. */
  async remove(endpoint: string): Promise<{ outcome: EventOutcome<'webhook.remove'> }> {
    const { outcome } = await this.decide(removeEndpoint, { endpoint_id: check.id('endpoint', endpoint) });
    return { outcome: outcome as 'removed' };
  }

  /** All endpoints by id, with how many deliveries are pending and dead, counted up to 10,000. Never a secret. */
  async list(): Promise<WebhookEndpoint[]> {
    return (await this.runner.read(listEndpoints, [{}])).map(endpointOf);
  }

  /** Refuses `no_endpoint`. */
  async get(endpoint: string): Promise<WebhookEndpoint> {
    const [row] = await this.runner.read(listEndpoints, [{ endpoint_id: check.id('endpoint', endpoint) }]);
    if (!row) throw new Refusal('no_endpoint', undefined, { endpoint });
    return endpointOf(row);
  }

  /** Something to send, for a try: `delivery` tells how it went. With a key of yours it is there once. Refuses `no_endpoint`. */
  async test(input: {
    endpoint: string;
    key?: string;
  }): Promise<{ outcome: EventOutcome<'webhook.test'>; delivery: string }> {
    check.onlyFields('test', input, ['endpoint', 'key']);
    const key = check.optionalId('key', input.key) ?? crypto.randomUUID();
    const row = await this.decide(sendTest, { endpoint_id: check.id('endpoint', input.endpoint), key });
    return { outcome: this.there(row.outcome, input.endpoint) as 'sent', delivery: row.id! };
  }

  /** What was and is to be delivered to an endpoint, the newest events first. Refuses `no_endpoint`, `no_delivery` (`after`). */
  async deliveries(endpoint: string, filter: DeliveryFilter = {}): Promise<WebhookDelivery[]> {
    check.onlyFields('deliveries', filter, ['state', 'limit', 'after']);
    const count = check.optionalInteger('limit', filter.limit, 1, 1000) ?? 100;
    const state = filter.state === undefined ? null : check.oneOf('state', filter.state, STATES);
    await this.get(endpoint);
    const after = filter.after === undefined ? null : await this.#row(filter.after);
    const row = { endpoint_id: endpoint, state, after_at: after?.happenedAt, after_id: after?.delivery, count };
    return (await this.runner.read(listDeliveries, [row])).map(deliveryOf);
  }

  /** Refuses `no_delivery`. */
  async delivery(id: string): Promise<WebhookDelivery> {
    return deliveryOf(await this.#row(id));
  }

  /**
   * Sends again what was delivered or is dead, with the same ids: one delivery, or all of events since an instant, or all dead ones. What is pending
   * stays as it is. Gives how many. Refuses `no_endpoint`, `no_delivery`.
   */
  async replay(input: Replay): Promise<{ replayed: number }> {
    check.onlyFields('replay', input, ['endpoint', 'delivery', 'since', 'dead']);
    const endpoint_id = check.id('endpoint', input.endpoint);
    const [id, since] = [check.optionalId('delivery', input.delivery), check.instant('since', input.since)];
    const dead = check.flag('dead', input.dead, false);
    if (id === null && since === null && !dead) throw new InvalidInput('replay', 'give delivery, since or dead');
    if (id !== null && (since !== null || dead))
      throw new InvalidInput('delivery', 'give it alone, without since and dead');
    await this.get(endpoint_id);
    if (id !== null && (await this.#row(id)).endpoint !== endpoint_id)
      throw new Refusal('no_delivery', undefined, { delivery: id, endpoint: endpoint_id });
    let replayed = 0;
    for (let last: ReplayedRow['last'] = null; ; ) {
      const row = { endpoint_id, id, since, dead, after_at: last?.at, after_id: last?.id, count: PAGE };
      const page: ReplayedRow = (await this.runner.read(replayDeliveries, [row]))[0]!;
      replayed += page.replayed;
      last = page.last;
      if (page.seen < PAGE) break;
    }
    this.runner.observe('webhook.replay', 'replayed');
    return { replayed };
  }

  async #row(id: string): Promise<DeliveryRow> {
    const [row] = await this.runner.read(getDelivery, [{ id: check.id('delivery', id) }]);
    if (!row) throw new Refusal('no_delivery', undefined, { delivery: id });
    return row;
  }

  /** The answer of a statement that takes one input; who stood behind another looks again. */
  private async decide<C extends Columns, A extends { outcome: string }>(
    statement: Statement<C, A>,
    row: InputOf<C>,
  ): Promise<A> {
    for (;;) {
      const answer = (await this.runner.read(statement, [row]))[0]!;
      if (answer.outcome === 'again') continue;
      this.runner.observe(statement.name, answer.outcome);
      return answer;
    }
  }

  private there(outcome: string, endpoint: string): string {
    if (outcome === 'no_endpoint') throw new Refusal('no_endpoint', undefined, { endpoint });
    return outcome;
  }
}

const lowBalanceIn = (value: unknown) =>
  check.optionalInteger('lowBalance', value, -check.MAX_AMOUNT, check.MAX_AMOUNT);
const lowNeeded = () => new InvalidInput('lowBalance', 'must be given for wallet.low: below which balance');

const endpointOf = ({ registeredAt, lookedAt, kinds, ...row }: EndpointRow): WebhookEndpoint => ({
  ...row,
  kinds: kinds as EventKind[],
  registeredAt: new Date(registeredAt),
  lookedAt: new Date(lookedAt),
});

const deliveryOf = ({ kind, happenedAt, dueAt, lastAt, endedAt, payload, ...row }: DeliveryRow): WebhookDelivery => ({
  ...row,
  kind: kind as EventKind,
  happenedAt: new Date(happenedAt),
  dueAt: dateOr(dueAt),
  lastAt: dateOr(lastAt),
  endedAt: dateOr(endedAt),
  payload: payload as WebhookDelivery['payload'],
});

export { EVENT_KINDS, type EventKind } from './kinds.ts';
