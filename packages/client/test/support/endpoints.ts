// The operations on webhook endpoints, deliveries and alerts, each once through the client.
import { expect } from 'vitest';
import type { RecoupClient } from '../../src/index.ts';
import { collect, newId } from './stand.ts';

export async function endpointsAndAlerts(client: RecoupClient): Promise<void> {
  const endpoint = newId('an/endpoint ä');
  const url = 'https://receiver.invalid/hook';
  const made = await client.webhookEndpoints.register({ endpoint, url, kinds: ['job.dead'] });
  expect(made).toMatchObject({ outcome: 'registered', secret: expect.stringMatching(/^whsec_/) });
  expect(await client.webhookEndpoints.change({ endpoint, status: 'off' })).toEqual({ outcome: 'changed' });
  expect((await client.webhookEndpoints.rotate({ endpoint })).secret).not.toBe(made.secret);
  for (const key of ['a', 'b']) await client.webhookEndpoints.test({ endpoint, key });
  const deliveries = await collect(client.webhookDeliveries.list.each({ endpoint, limit: 1 }));
  expect(deliveries.map(({ kind, state }) => [kind, state])).toEqual(Array(2).fill(['endpoint.test', 'pending']));
  expect((await client.webhookDeliveries.list({ endpoint })).deliveries).toEqual(deliveries);
  const { delivery } = deliveries[0]!;
  expect(await client.webhookDeliveries.get({ delivery })).toEqual(deliveries[0]);
  expect(await client.webhookEndpoints.replay({ endpoint, delivery })).toEqual({ replayed: 0 });
  expect(await client.webhookEndpoints.get({ endpoint })).toMatchObject({ status: 'off', pending: 2, dead: 0 });
  expect((await client.webhookEndpoints.list()).endpoints).toHaveLength(1);
  expect(await client.webhookEndpoints.remove({ endpoint })).toEqual({ outcome: 'removed' });
  await expect(client.webhookEndpoints.get({ endpoint })).rejects.toMatchObject({ code: 'no_endpoint', status: 404 });
  expect(await client.alerts.list({ kind: 'exhausted' })).toEqual({ alerts: [] });
}
