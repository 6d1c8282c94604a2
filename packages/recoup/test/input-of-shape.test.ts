// Input of the wrong shape: a misspelt field must not be silently ignored, by any call.
import { expect } from 'vitest';
import { type InTransaction, open } from '../src/index.ts';
import { refuses } from './support/refuses.ts';
import { booksAreRight, newId, staging } from './support/stage.ts';

const { onFirst } = staging();

/** The same input from elsewhere: of a prototype, of a class with getters, of a prototype that somebody polluted. */
const inheriting = (input: object) => {
  class Row {}
  for (const [name, value] of Object.entries(input)) Object.defineProperty(Row.prototype, name, { get: () => value });
  return [Object.create(input) as object, new Row()];
};

onFirst('a misspelt field, or no object at all, is refused by every call', async (s) => {
  const { wallet, job } = await s.running(1);
  const at = { wallet, job, attempt: 1 };
  const key = { wallet, job };
  const calls: Record<string, [object, (r: InTransaction, input: never) => Promise<unknown>]> = {
    open: [{ wallet: 'new', customer: 'c' }, ({ wallets }, input) => wallets.open(input)],
    change: [{ status: 'active' }, ({ wallets }, input) => wallets.change(wallet, input)],
    grant: [{ wallet, key: 'k', amount: 1 }, ({ wallets }, input) => wallets.grant(input)],
    adjust: [{ wallet, key: 'k', amount: 1 }, ({ wallets }, input) => wallets.adjust(input)],
    grantMany: [{ wallet, key: 'k', amount: 1 }, ({ wallets }, input) => wallets.grantMany([input])],
    openMany: [{ wallet: 'new', customer: 'c' }, ({ wallets }, input) => wallets.openMany([input])],
    adjustMany: [{ wallet, key: 'k', amount: 1 }, ({ wallets }, input) => wallets.adjustMany([input])],
    'list wallets': [{ customer: 'c' }, ({ wallets }, input) => wallets.list(input)],
    remainders: [{ wallet }, ({ wallets }, input) => wallets.remainders(input)],
    submit: [{ wallet, job: 'j', queue: 'q', price: 1 }, ({ jobs }, input) => jobs.submit(input)],
    submitMany: [{ wallet, job: 'j', queue: 'q', price: 1 }, ({ jobs }, input) => jobs.submitMany([input])],
    lease: [{ queue: 'q' }, ({ jobs }, input) => jobs.lease(input)],
    extend: [at, ({ jobs }, input) => jobs.extend(input)],
    handOver: [at, ({ jobs }, input) => jobs.handOver(input)],
    release: [at, ({ jobs }, input) => jobs.release(input)],
    fail: [at, ({ jobs }, input) => jobs.fail(input)],
    failMany: [at, ({ jobs }, input) => jobs.failMany([input])],
    succeed: [at, ({ jobs }, input) => jobs.succeed(input)],
    succeedMany: [at, ({ jobs }, input) => jobs.succeedMany([input])],
    settle: [{ ...key, finalPrice: 1 }, ({ jobs }, input) => jobs.settle(input)],
    cancel: [key, ({ jobs }, input) => jobs.cancel(input)],
    get: [key, ({ jobs }, input) => jobs.get(input)],
    list: [{ limit: 1 }, ({ jobs }, input) => jobs.list(wallet, input)],
    attempts: [key, ({ jobs }, input) => jobs.attempts(input)],
    prune: [{ olderThanMs: 0 }, ({ jobs }, input) => jobs.prune(input)],
    redrive: [key, ({ jobs }, input) => jobs.deadLetters.redrive(input)],
    discard: [key, ({ jobs }, input) => jobs.deadLetters.discard(input)],
    preview: [{ queue: 'q' }, ({ jobs }, input) => jobs.deadLetters.preview(input)],
    redriveAll: [{ confirm: 0 }, ({ jobs }, input) => jobs.deadLetters.redriveAll({}, input)],
    configure: [{ paused: false }, ({ queues }, input) => queues.configure('q', input)],
    register: [{ upstream: 'u', pool: 'p', provider: 'x' }, ({ upstreams }, input) => upstreams.register(input)],
    'change an upstream': [{ weight: 2 }, ({ upstreams }, input) => upstreams.change('u', input)],
    replaceCredential: [{ actor: 'ann' }, ({ upstreams }, input) => upstreams.replaceCredential('u', input)],
    select: [{ pool: 'p' }, ({ upstreams }, input) => upstreams.select(input)],
    report: [{ upstream: 'u', success: true }, ({ upstreams }, input) => upstreams.report(input)],
    'report an answer': [{ upstream: 'u', answer: { status: 200 } }, ({ upstreams }, input) => upstreams.report(input)],
    note: [{ upstream: 'u', snapshots: [] }, ({ upstreams }, input) => upstreams.note(input)],
    explain: [{ pool: 'p' }, ({ upstreams }, input) => upstreams.explain(input)],
    inbox: [{ limit: 1 }, ({ inbox }, input) => inbox.list(input)],
    take: [{ actor: 'ann' }, ({ inbox }, input) => inbox.take('block:1', input)],
    snooze: [{ actor: 'ann' }, ({ inbox }, input) => inbox.snooze('block:1', input)],
    'note on an item': [{ actor: 'ann', note: 'n' }, ({ inbox }, input) => inbox.note('block:1', input)],
  };
  for (const [name, [input, call]] of Object.entries(calls)) {
    const misspelt = { ...input, walet: 'x' };
    await refuses(
      s,
      name.endsWith('Many') ? /^\w+Many\[0\]\.walet$/ : /^walet$/,
      (r) => call(r, misspelt as never),
      name,
    );
    for (const other of inheriting(input))
      await refuses(s, new RegExp(`(^|\\.)(${Object.keys(input).join('|')})$`), (r) => call(r, other as never), name);
    for (const none of [null, 5, 'x', [input]]) await refuses(s, /./, (r) => call(r, none as never), [name, none]);
  }
  for (const many of ['submitMany', 'failMany', 'succeedMany'] as const) {
    for (const none of [null, undefined, {}, 'x'])
      await refuses(s, /./, ({ jobs }) => jobs[many](none as never), [many, none]);
  }
});

onFirst(
  'fields that an instance has itself are as good as those of a literal, whatever else its class has',
  async (s) => {
    class Grant {
      wallet = newId('wallet');
      key = 'k';
      amount = 5;
      double() {
        return this.amount * 2;
      }
    }
    const grant = new Grant();
    await s.recoup.wallets.open({ wallet: grant.wallet, customer: 'c' });
    expect(await s.recoup.wallets.grant(grant)).toMatchObject({ outcome: 'granted' });
    expect(await s.recoup.wallets.grant(Object.assign(Object.create(null), grant))).toMatchObject({
      outcome: 'duplicate',
    });
  },
);

onFirst('inside an input, too: an answer, a block, an attempt, units, options of the handle', async (s) => {
  const upstream = 'u';
  const inherited = (input: object) => inheriting(input)[0] as never;
  const { upstreams } = s.recoup;
  await refuses(s, 'status', () => upstreams.report({ upstream, answer: inherited({ status: 429 }) }));
  await refuses(s, 'kind', () => upstreams.report({ upstream, success: false, block: inherited({ kind: 'x' }) }));
  const job = inherited({ wallet: 'w', job: 'j', attempt: 1 });
  await refuses(s, 'wallet', () => upstreams.report({ upstream, success: true, job }));
  await refuses(s, 'connection', () => open(inherited({ connection: s.db.url })));
});

onFirst('the books are right', booksAreRight);
