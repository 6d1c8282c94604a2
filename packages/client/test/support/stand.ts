// A service on a database of its own with a client before it, directly and through a proxy that cuts connections.
import { inject } from 'vitest';
import { byHttp, CuttingProxy } from '../../../recoup/test/support/proxy.ts';
import { Api, newId } from '../../../server/test/support/api.ts';
import { type ClientOptions, OPERATIONS, RecoupClient } from '../../src/index.ts';

export { newId };

export class Stand {
  readonly api: Api;
  readonly proxy: CuttingProxy;
  /** Straight to the service. */
  readonly client: RecoupClient;
  /** Through the proxy. */
  readonly far: RecoupClient;
  /** Which operations of `client` were answered. */
  readonly called = new Set<string>();

  private constructor(api: Api, proxy: CuttingProxy) {
    this.api = api;
    this.proxy = proxy;
    this.client = recorded(new RecoupClient({ url: api.service.url }), this.called);
    this.far = new RecoupClient({ url: proxy.url });
  }

  static async start(options: Parameters<typeof Api.start>[0] = {}, url = inject('servers')[0]!.url): Promise<Stand> {
    const api = await Api.start(options, url);
    return new Stand(api, await CuttingProxy.before(api.service.url, byHttp));
  }

  /** Another client of the service. */
  with(options: Partial<ClientOptions>): RecoupClient {
    return new RecoupClient({ url: this.api.service.url, ...options });
  }

  /** A wallet with 100 credits. */
  async wallet(customer = 'ann'): Promise<string> {
    const wallet = newId('wallet');
    await this.client.wallets.open({ wallet, customer });
    await this.client.wallets.grant({ wallet, key: 'start', amount: 100 });
    return wallet;
  }

  /** A queued job of 40 credits, in a wallet and a queue of its own. */
  async queued(more: { payload?: unknown } = {}): Promise<{ wallet: string; job: string; queue: string }> {
    const job = { wallet: await this.wallet(), job: newId('job'), queue: newId('queue') };
    await this.client.jobs.submit({ ...job, price: 40, ...more });
    return job;
  }

  async running(): Promise<{ wallet: string; job: string; queue: string; attempt: number }> {
    const job = await this.queued();
    const { jobs } = await this.client.queues.lease({ queue: job.queue });
    return { ...job, attempt: jobs[0]!.job.attempt };
  }

  async ledger(wallet: string): Promise<string[]> {
    const { entries } = await this.client.wallets.entries({ wallet });
    return entries.filter(({ type }) => type !== 'grant').map(({ type, amount }) => `${type} ${amount}`);
  }

  /** Closes it; the books have to be right. Returns what is wrong with them. */
  async close(): Promise<unknown[]> {
    const { problems } = await this.api.service.recoup.verify();
    await this.proxy.close();
    await this.api.close();
    return problems;
  }
}

/** The client, noting which of its operations were answered or streamed to their end. */
function recorded(client: RecoupClient, called: Set<string>): RecoupClient {
  for (const name of Object.keys(OPERATIONS)) {
    const [group, verb] = name.split('.') as [keyof RecoupClient, string];
    const calls = client[group] as unknown as Record<string, (...given: unknown[]) => unknown>;
    const call = calls[verb]!;
    const noting = (...given: unknown[]) => {
      const answer = call(...given);
      if (answer instanceof Promise)
        answer.then(
          () => called.add(name),
          () => {},
        );
      else called.add(name);
      return answer;
    };
    calls[verb] = Object.assign(noting, call);
  }
  return client;
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}
