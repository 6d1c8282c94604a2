// Every operation once through HTTP, on a real server and database; answers held to their schemas, repeats to the first.
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { operations } from '../src/operations/operations.ts';
import { Api, newId } from './support/api.ts';

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

  test('wallets: open, change, grant, adjust; balances, entries, replay', async () => {
    const wallet = newId('w');
    const open = { wallet, customer: 'c', overdraftLimit: 5 };
    expect((await api.ask('wallets.open', open)).status).toBe(201);
    expect(await api.call('wallets.open', open)).toEqual({ outcome: 'duplicate' });
    await api.refused('wallets.open', 'conflict', { ...open, customer: 'other' });
    expect(await api.call('wallets.change', { wallet, overdraftLimit: 10 })).toEqual({ outcome: 'changed' });
    const granted = await api.call('wallets.grant', {
      wallet,
      key: 'k',
      amount: 100,
      reason: 'top_up',
      note: 'thanks',
    });
    expect(granted).toMatchObject({ outcome: 'granted', seq: 1, balance: 100 });
    expect(await api.call('wallets.grant', { wallet, key: 'k', amount: 100 })).toEqual({
      ...granted,
      outcome: 'duplicate',
    });
    const batch = [
      { wallet, key: 'k', amount: 100 },
      { wallet, key: 'k2', amount: 7 },
      { wallet: 'nobody', key: 'k', amount: 1 },
    ];
    const { items } = await api.call('wallets.grantMany', { items: batch });
    expect(items).toMatchObject([
      { outcome: 'duplicate' },
      { outcome: 'granted' },
      { code: 'no_wallet', wallet: 'nobody' },
    ]);
    const adjusted = await api.call('wallets.adjust', { wallet, key: 'a', amount: -3, actor: 'ann' });
    expect(adjusted).toMatchObject({ outcome: 'adjusted', balance: 104 });
    const now = await api.call('wallets.balance', { wallet });
    expect(now).toMatchObject({ booked: 104, overdraftLimit: 10, spendable: 114, customer: 'c' });
    expect(await api.call('wallets.balance', { wallet, at: '2001-01-01T00:00:00Z' })).toMatchObject({
      seq: 0,
      booked: 0,
    });
    const first = await api.call('wallets.entries', { wallet, limit: 2 });
    const second = await api.call('wallets.entries', { wallet, limit: 2, cursor: first.cursor });
    expect([...first.entries, ...second.entries].map((entry) => entry.seq)).toEqual([1, 2, 3]);
    expect(second.cursor).toBeNull();
    const back = await api.call('wallets.entries', { wallet, limit: 2, newestFirst: true });
    expect(back.entries.map((entry: { seq: number }) => entry.seq)).toEqual([3, 2]);
    const replayed = await api.call('wallets.replay', { wallet, afterSeq: 1 });
    expect(replayed).toEqual([first.entries[1], ...second.entries]);
  });

  test('for other books: openings and adjusts in batches, balances of many, remainders, the ledger, prune', async () => {
    const [a, b] = [newId('w'), newId('w')];
    const open = [a, b, a].map((wallet) => ({ wallet, customer: 'books' }));
    const opened = await api.call('wallets.openMany', { items: [...open, { wallet: a, customer: 'other' }] });
    expect(opened.items).toMatchObject([
      { outcome: 'opened' },
      { outcome: 'opened' },
      { outcome: 'duplicate' },
      { code: 'conflict', there: { customer: 'books' } },
    ]);
    const adjusts = [
      { wallet: a, key: 'k', amount: 9 },
      { wallet: b, key: 'k', amount: -2 },
      { wallet: 'nobody', key: 'k', amount: 1 },
    ];
    const adjusted = await api.call('wallets.adjustMany', { items: adjusts });
    expect(adjusted.items).toMatchObject([{ balance: 9 }, { balance: -2 }, { code: 'no_wallet' }]);
    const { items } = await api.call('wallets.balances', { wallets: [b, 'nobody', a] });
    expect(items).toMatchObject([{ booked: -2 }, { code: 'no_wallet', wallet: 'nobody' }, { booked: 9 }]);
    const [low, high] = [a, b].sort();
    const page = await api.call('wallets.list', { customer: 'books', limit: 1 });
    expect(page).toMatchObject({ wallets: [{ wallet: low, unit: 'credit', status: 'active' }], cursor: low });
    expect(await api.call('wallets.list', { customer: 'books', cursor: low })).toMatchObject({
      wallets: [{ wallet: high, customer: 'books', booked: high === a ? 9 : -2, overdraftLimit: 0 }],
      cursor: null,
    });
    const left = await api.call('wallets.remainders', { customer: 'books' });
    expect(left).toMatchObject({ remainders: [{ wallet: a, remaining: 9 }], cursor: null });
    const first = await api.call('feed.entries', { customer: 'books', limit: 1 });
    expect(first).toMatchObject({ entries: [{ wallet: a, amount: 9 }], ended: false });
    const second = await api.call('feed.entries', { customer: 'books', limit: 5, cursor: first.cursor });
    expect(second).toMatchObject({ entries: [{ wallet: b, amount: -2 }], ended: true });
    const past = { customer: 'books', from: '2001-01-01T00:00:00Z', to: '2002-01-01T00:00:00Z' };
    expect((await api.call('feed.entries', past)).entries).toEqual([]);
    await api.refused('feed.entries', 'invalid', { cursor: first.cursor });
    await api.call('jobs.submit', { wallet: a, job: 'old', queue: null, price: 1 });
    await api.call('jobs.succeed', { wallet: a, job: 'old' });
    const { prunable } = await api.call('jobs.prune', { olderThanMs: 0, state: 'succeeded', dryRun: true });
    expect(prunable).toBeGreaterThan(0);
    expect(await api.call('jobs.prune', { olderThanMs: 0, state: 'canceled', dryRun: true })).toMatchObject({
      pruned: 0,
    });
    expect(await api.call('jobs.prune', { olderThanMs: 86_400_000 })).toEqual({ pruned: 0 });
  });

  test('jobs: submit, batch, reads; a repeat gives the same answer', async () => {
    const wallet = await api.wallet();
    const submit = { wallet, job: 'j', queue: newId('q'), price: 40, payload: { a: [1, 'ä'] }, labels: { x: 'y' } };
    const first = await api.call('jobs.submit', { ...submit, notBefore: '2030-01-01T00:00:00.5Z' });
    expect(first).toMatchObject({ outcome: 'charged', balance: 60, job: { notBefore: '2030-01-01T00:00:00.500Z' } });
    const again = await api.ask('jobs.submit', { ...submit, notBefore: '2030-01-01T00:00:00.5Z' });
    expect(again).toMatchObject({ status: 200, body: { ...first, outcome: 'duplicate' } });
    const conflict = await api.refused('jobs.submit', 'conflict', { ...submit, price: 41 });
    expect(conflict.differs).toEqual(['price']);
    const dear = await api.refused('jobs.submit', 'insufficient_credits', {
      wallet,
      job: 'dear',
      queue: null,
      price: 61,
    });
    expect(dear).toMatchObject({ status: 402, balance: 60, price: 61, held: 40 });
    const { items } = await api.call('jobs.submitMany', {
      items: [
        { wallet, job: 'b1', queue: null, price: 60, upstreamRef: `${wallet}-ref` },
        { wallet, job: 'b2', queue: null, price: 1 },
        { wallet: 'nobody', job: 'b3', queue: null, price: 1 },
      ],
    });
    expect(items).toMatchObject([{ outcome: 'charged' }, { code: 'insufficient_credits' }, { code: 'no_wallet' }]);
    const got = await api.call('jobs.get', { wallet, job: 'j' });
    expect(got).toMatchObject({ job: first.job, payload: submit.payload, result: null });
    expect(await api.call('jobs.attempts', { wallet, job: 'j' })).toEqual({ attempts: [] });
    await api.refused('jobs.attempts', 'no_job', { wallet, job: 'nope' });
    const { entries } = await api.call('jobs.entries', { wallet, job: 'j' });
    expect(entries).toMatchObject([{ type: 'charge', amount: -40 }]);
    const { jobs } = await api.call('jobs.byUpstreamRef', { upstreamRef: `${wallet}-ref` });
    expect(jobs).toMatchObject([{ job: { id: 'b1' }, attempt: 1 }]);
  });

  test('signals: fail, succeed, settle, cancel, batches; late success reclaims', async () => {
    const { wallet, job, attempt } = await api.running(40);
    const key = { wallet, job, attempt };
    expect(await api.call('jobs.fail', key)).toMatchObject({ outcome: 'retrying', refunded: true });
    expect(await api.call('jobs.fail', key)).toMatchObject({ outcome: 'duplicate', refunded: false });
    const success = await api.call('jobs.succeed', { ...key, result: { url: 'x' } });
    expect(success).toMatchObject({ outcome: 'reclaimed', succeededAttempt: 1, reclaimed: true });
    expect(await api.call('jobs.succeed', key)).toEqual({ ...success, outcome: 'duplicate' });
    expect(await api.call('jobs.settle', { wallet, job, finalPrice: 25 })).toMatchObject({
      outcome: 'settled',
      amount: 15,
    });
    expect(await api.call('jobs.settle', { wallet, job, finalPrice: 25 })).toMatchObject({ outcome: 'duplicate' });
    await api.refused('jobs.settle', 'conflict', { wallet, job, finalPrice: 26 });
    expect(await api.call('jobs.cancel', { wallet, job })).toMatchObject({ outcome: 'succeeded' });
    expect((await api.call('wallets.balance', { wallet })).booked).toBe(75);

    const other = await api.running(30);
    expect(await api.call('jobs.cancel', { wallet: other.wallet, job: other.job, keep: 12 })).toMatchObject({
      outcome: 'canceled',
      kept: 12,
    });
    await api.refused('jobs.succeed', 'canceled', { wallet: other.wallet, job: other.job });
    const failures = await api.call('jobs.failMany', { items: [key, { wallet, job: 'nope', attempt: 1 }] });
    expect(failures.items).toMatchObject([{ outcome: 'succeeded' }, { code: 'no_job' }]);
    const successes = await api.call('jobs.succeedMany', { items: [key, { wallet: other.wallet, job: other.job }] });
    expect(successes.items).toMatchObject([{ outcome: 'duplicate' }, { code: 'canceled' }]);
  });

  test('workers: lease with a request id, extend, hand over, release; signals by upstream_ref', async () => {
    const { wallet, job, queue, attempt } = await api.running();
    const key = { wallet, job, attempt };
    const ref = `${wallet}-up`;
    expect(await api.call('jobs.extend', { ...key, leaseMs: 60_000 })).toMatchObject({ outcome: 'extended' });
    expect(await api.call('jobs.release', { ...key, delayMs: 0 })).toMatchObject({ outcome: 'released' });
    expect(await api.call('jobs.extend', key)).toMatchObject({ outcome: 'stale', leaseUntil: null });
    const lease = { queue, requestId: newId('r'), worker: 'ann' };
    const first = await api.call('queues.lease', lease);
    expect(first.jobs).toMatchObject([{ job: { id: job, attempt: 2 }, payload: null }]);
    expect(await api.call('queues.lease', lease)).toEqual(first);
    const handOver = { wallet, job, attempt: 2, upstreamRef: ref, deadlineMs: 60_000 };
    expect(await api.call('jobs.handOver', handOver)).toMatchObject({ outcome: 'handed_over' });
    expect(await api.call('jobs.handOver', handOver)).toMatchObject({ outcome: 'duplicate' });
    expect(await api.call('upstreamRefs.fail', { upstreamRef: ref, reason: 'busy' })).toMatchObject({
      outcome: 'retrying',
      attempt: 2,
    });
    expect(await api.call('upstreamRefs.succeed', { upstreamRef: ref, result: 1 })).toMatchObject({
      outcome: 'reclaimed',
      succeededAttempt: 2,
    });
    await api.refused('upstreamRefs.succeed', 'no_job', { upstreamRef: 'unheard-of' });
    const { attempts } = await api.call('jobs.attempts', { wallet, job });
    expect(attempts.map((one: { endedAs: string }) => one.endedAs)).toEqual(['released', 'failed', 'succeeded']);
  });

  test('dead letters: list, preview, redrive one, redrive a filter with progress, discard', async () => {
    const queue = newId('q');
    const wallet = await api.wallet();
    await api.call('queues.configure', { queue, maxFailures: 1 });
    for (const job of ['a', 'b', 'c', 'd']) await api.call('jobs.submit', { wallet, job, queue, price: 10 });
    const leased = await api.call('queues.lease', { queue, count: 4 });
    for (const { job } of leased.jobs)
      await api.call('jobs.fail', { wallet, job: job.id, attempt: 1, reason: 'broken' });
    const one = await api.call('deadLetters.list', { wallet, limit: 3 });
    const two = await api.call('deadLetters.list', { wallet, limit: 3, cursor: one.cursor });
    expect([...one.jobs, ...two.jobs].map((job) => job.id).sort()).toEqual(['a', 'b', 'c', 'd']);
    expect(two.cursor).toBeNull();
    expect(await api.call('deadLetters.discard', { wallet, job: 'a' })).toEqual({ outcome: 'discarded' });
    expect(await api.call('deadLetters.redrive', { wallet, job: 'b' })).toEqual({ outcome: 'redriven' });
    await api.refused('deadLetters.discard', 'not_dead', { wallet, job: 'b' });
    const preview = await api.call('deadLetters.preview', { wallet, reason: 'broken' });
    expect(preview).toMatchObject({ count: 2, mayReclaim: 20, walletsIntoDebt: 0 });
    const filter = { wallet, reason: 'broken', asOf: preview.asOf };
    const changed = await api.refused('deadLetters.redriveAll', 'count_changed', { ...filter, confirm: 3 });
    expect(changed).toMatchObject({ count: 2, confirm: 3 });
    const lines = await api.call('deadLetters.redriveAll', { ...filter, confirm: 2 });
    expect(lines.at(-1)).toEqual({ done: 2, of: 2, ended: true, redriven: 2, skipped: 0 });
    await api.refused('deadLetters.redriveAll', 'count_changed', { ...filter, confirm: 2 });
  });

  test('queues: configure, get, list', async () => {
    const queue = newId('q');
    expect(await api.call('queues.configure', { queue, leaseMs: 1000, paused: true })).toMatchObject({
      leaseMs: 1000,
      paused: true,
    });
    expect(await api.call('queues.get', { queue })).toMatchObject({ leaseMs: 1000, maxFailures: 5 });
    await api.call('jobs.submit', { wallet: await api.wallet(), job: 'j', queue, price: 1 });
    const { queues } = await api.call('queues.list');
    expect(queues.find((one: { queue: string }) => one.queue === queue)).toMatchObject({ ready: 1, running: 0 });
    const together = await api.refused('queues.configure', 'invalid', { queue, backoffBaseMs: 900_000 });
    expect(together.field).toBe('backoffBaseMs');
  });

  test('feed: pulled from cursor to cursor', async () => {
    const wallet = await api.wallet(5);
    const seen: string[] = [];
    let cursor: string | undefined;
    // Final is what lies below the oldest write anywhere on the server: other tests may hold it back for a while.
    while (!seen.includes(`entry ${wallet} 1`)) {
      const page = await api.call('feed.read', { cursor, limit: 3 });
      if (page.events.length === 0) await new Promise((done) => setTimeout(done, 20));
      expect(page.events.length).toBeLessThanOrEqual(3);
      for (const event of page.events) seen.push(`${event.kind} ${event.wallet} ${event.seq ?? event.job}`);
      cursor = page.cursor;
    }
    expect(new Set(seen.filter((line) => line.startsWith('entry'))).size).toBe(
      seen.filter((line) => line.startsWith('entry')).length,
    );
    await api.refused('feed.read', 'invalid', { cursor: 'x' });
  });

  test('jobs of a wallet: newest first, page by page, by state and queue', async () => {
    const wallet = await api.wallet();
    const queue = newId('q');
    for (const job of ['a', 'b', 'c']) await api.call('jobs.submit', { wallet, job, queue, price: 1 });
    await api.call('jobs.cancel', { wallet, job: 'b' });
    const ids = ({ jobs }: { jobs: { id: string }[] }) => jobs.map(({ id }) => id);
    const first = await api.call('jobs.list', { wallet, limit: 2 });
    expect(ids(first)).toEqual(['c', 'b']);
    expect(ids(await api.call('jobs.list', { wallet, limit: 2, cursor: first.cursor }))).toEqual(['a']);
    expect(ids(await api.call('jobs.list', { wallet, queue, state: 'queued' }))).toEqual(['c', 'a']);
    await api.refused('jobs.list', 'no_wallet', { wallet: 'nobody' });
  });

  test('keys, a callback URL, verify', async () => {
    const made = await api.call('keys.create', { name: 'test', scopes: ['app'] });
    expect(made.secret.startsWith(`${made.key.prefix}_`)).toBe(true);
    expect((await api.call('keys.list')).keys).toContainEqual(made.key);
    expect(await api.call('keys.revoke', { key: made.key.prefix })).toMatchObject({ outcome: 'revoked' });
    expect(await api.call('keys.revoke', { key: made.key.id })).toMatchObject({ outcome: 'duplicate' });
    await api.refused('keys.revoke', 'no_key', { key: 'unknown' });
    const { wallet, job, attempt } = await api.running();
    const { path, url } = await api.call('callbacks.sign', { wallet, job, attempt, provider: 'runpod' });
    expect(url).toBe(`https://recoup.example${path}`);
    expect(await api.call('system.verify', { limit: 5 })).toMatchObject({ ok: true, problems: [] });
  });

  test('every operation of the list was called', () => {
    // Capacity, subscriptions, payments, endpoints and alerts have files of their own.
    const elsewhere =
      /^(upstreams|blocks|pools|limits|inbox|estimates|probes|plans|subscriptions|payments|webhook\w*|alerts|epochs)\.|^(feed\.stream|system\.info|jobs\.report)$/;
    const missing = operations.map(({ name }) => name).filter((name) => !api.called.has(name) && !elsewhere.test(name));
    expect(missing).toEqual([]);
  });
});
