// A service on a database of its own and a browser, for a file of tests; both are closed with it.
import { RecoupClient } from '@recoup/client';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { Api } from '../../../server/test/support/api.ts';
import { launch, type Opened, open, type View } from './browser.ts';
import { fill } from './data.ts';

export interface Stand {
  readonly api: Api;
  readonly client: RecoupClient;
  /** A page of a profile of its own; closed with the test that asked for it. */
  page<T>(view: View, use: (opened: Opened) => Promise<T>): Promise<T>;
}

/** With data, unless `empty`; with keys asked for, where `requireKeys`. */
export function standing(options: { empty?: boolean; requireKeys?: boolean } = {}): () => Stand {
  let stand: Stand;
  let browser: Browser;
  beforeAll(async () => {
    const api = await Api.start({ requireKeys: options.requireKeys ?? false });
    browser = await launch();
    const key = options.requireKeys
      ? { key: (await api.service.keys.create({ name: 'root', scopes: ['admin'] })).secret }
      : {};
    const client = new RecoupClient({ url: api.service.url, ...key });
    if (!options.empty) await fill(client);
    stand = {
      api,
      client,
      page: async (view, use) => {
        const opened = await open(browser, api.service.url, view);
        try {
          return await use(opened);
        } finally {
          await opened.context.close();
        }
      },
    };
  });
  afterAll(async () => {
    await browser.close();
    await stand.api.close();
  });
  return () => stand;
}
