// History over HTTP: a balance at an instant, and cursors of before an epoch.
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { Api } from './support/api.ts';

describe.each(inject('servers'))('$name', ({ url }) => {
  let api: Api;
  beforeAll(async () => {
    api = await Api.start({ publicUrl: 'https://recoup.example/' }, url);
  });
  afterAll(async () => {
    const { problems } = await api.service.recoup.verify();
    expect(problems).toEqual([]);
    await api.close();
  });

  test('a balance at an instant with its parts', async () => {
    const { wallet, job, attempt } = await api.running(40);
    await api.call('jobs.fail', { wallet, job, attempt });
    // An instant of JSON has milliseconds: the next entry falls into another one.
    await new Promise((done) => setTimeout(done, 5));
    await api.call('jobs.succeed', { wallet, job });
    const now = await api.call('wallets.balance', { wallet, at: '2999-01-01T00:00:00Z', parts: true });
    expect(now).toMatchObject({ seq: 4, booked: 60, spendable: 60, atRisk: 0 });
    const third = (await api.call('wallets.entries', { wallet })).entries[2].createdAt;
    expect(await api.call('wallets.balance', { wallet, at: third, parts: true })).toMatchObject({
      booked: 100,
      atRisk: 40,
    });
    expect(await api.call('wallets.balance', { wallet, at: third })).not.toHaveProperty('atRisk');
  });

  test('an epoch: a cursor of before is told where to go on, also in a stream', async () => {
    const wallet = await api.wallet(5);
    const { epoch, notices, version } = await api.call('system.info');
    expect({ notices, version }).toEqual({ notices: [], version: expect.stringMatching(/^\d+\.\d+\.\d+/) });
    let page = await api.call('feed.read', { limit: 1 });
    while (page.cursor === null) page = await api.call('feed.read', { limit: 1 });
    const opened = await api.call('epochs.open', { reason: 'backup', actor: 'ann' });
    expect(opened).toMatchObject({ number: epoch.number + 1, reason: 'backup', actor: 'ann' });
    expect((await api.call('epochs.list')).epochs.at(-1)).toEqual(opened);
    expect((await api.call('system.info')).epoch).toEqual(opened);
    expect((await api.send('GET', '/readyz')).body).toEqual({ status: 'ready', notices: [] });
    const problem = await api.refused('feed.read', 'epoch_changed', { cursor: page.cursor });
    expect(problem).toMatchObject({ epoch: opened.number, reason: 'backup' });
    await api.refused('feed.stream', 'epoch_changed', { cursor: page.cursor });
    const seen: string[] = [];
    let { cursor } = problem;
    while (!seen.includes(`${wallet} 1`)) {
      const next = await api.call('feed.read', { cursor });
      seen.push(...next.events.map((event: { wallet: string; seq: number }) => `${event.wallet} ${event.seq}`));
      cursor = next.cursor;
    }
    await api.refused('epochs.open', 'invalid', { reason: '' });
  });
});
