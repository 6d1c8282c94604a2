// Endpoints of webhooks and what is to be delivered to them, for tests.
import type { EventKind, WebhookDelivery } from '../../src/index.ts';
import { newId, type Running, type Stage } from './stage.ts';
import { until } from './waiting.ts';

export const URL = 'https://receiver.example/hook';

export async function endpointOf(s: Stage, kinds: readonly EventKind[], more: object = {}): Promise<string> {
  const endpoint = newId('endpoint');
  await s.recoup.webhooks.register({ endpoint, url: URL, kinds, ...more });
  return endpoint;
}

/** Dispatches until so many deliveries are there: other tests may hold the horizon back for a while. */
export async function told(s: Stage, endpoint: string, count: number): Promise<WebhookDelivery[]> {
  await until(async () => {
    await s.recoup.webhooks.dispatch();
    return (await s.recoup.webhooks.deliveries(endpoint, { limit: 1000 })).length >= count;
  });
  // What is final stays final: another look finds nothing more.
  await s.recoup.webhooks.dispatch();
  return s.recoup.webhooks.deliveries(endpoint, { limit: 1000 });
}

export const kindsOf = (deliveries: WebhookDelivery[]): string[] => deliveries.map(({ kind }) => kind).sort();

/** When it returns, what happened until now is final: an endpoint that is registered, or begins anew, is not told of it. */
export async function settled(s: Stage): Promise<void> {
  const witness = await endpointOf(s, ['job.dead']);
  await dead(s);
  await told(s, witness, 1);
  await s.recoup.webhooks.remove(witness);
}

/** A dead letter. */
export async function dead(s: Stage): Promise<Running> {
  const { queue, ...job } = await s.running(1);
  await s.recoup.jobs.fail({ ...job, retryable: false, reason: 'secret words' });
  return job;
}
