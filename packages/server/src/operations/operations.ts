// The one list of everything a caller may do: HTTP routes, the OpenAPI document, the command line and their tests come from it.
import { alerts } from './alerts.ts';
import { capacity } from './capacity/capacity.ts';
import { deadLetters } from './dead-letters.ts';
import { webhookEndpoints } from './endpoints.ts';
import { epochs } from './epochs.ts';
import { feed } from './feed.ts';
import { jobs } from './jobs.ts';
import { keys } from './keys.ts';
import type { Operation } from './operation.ts';
import { payments } from './payments.ts';
import { queues } from './queues.ts';
import { signals } from './signals.ts';
import { subscriptions } from './subscriptions.ts';
import { system } from './system.ts';
import { wallets } from './wallets.ts';
import { webhooks } from './webhooks.ts';
import { workers } from './workers.ts';

export const operations: readonly Operation[] = [
  ...wallets,
  ...subscriptions,
  ...payments,
  ...jobs,
  ...signals,
  ...workers,
  ...deadLetters,
  ...queues,
  ...capacity,
  ...feed,
  ...epochs,
  ...keys,
  ...webhooks,
  ...webhookEndpoints,
  ...alerts,
  ...system,
];
