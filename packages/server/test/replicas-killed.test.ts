// Whole replicas killed with SIGKILL under a mixed load: what was answered stands, and flags, entries, balances and queue agree.

import { open, type Recoup } from 'recoup';
import { testDatabase } from 'recoup/testing';
import { expect, inject, test } from 'vitest';
import { until } from '../../recoup/test/support/waiting.ts';
import type { Json } from './support/api.ts';
import { type ServerProcess, startServer } from './support/server-process.ts';

const CALLERS = 8;
const KILLS = 4;
const PRICE = 10;

/** What became of a job, as its caller was told. */
interface Told {
  wallet: string;
  job: string;
  answers: string[];
}

class Load {
  readonly told: Told[] = [];
  running = true;
  readonly #replicas: ServerProcess[];
  readonly #queue: string;
  #turn = 0;

  constructor(replicas: ServerProcess[], queue: string) {
    this.#replicas = replicas;
    this.#queue = queue;
  }

  /** Asks whichever replica is there until one answers; what a repeat says is as good as the first answer. */
  async heard(method: string, path: string, body: object): Promise<Json> {
    for (;;) {
      const { url } = this.#replicas[this.#turn++ % this.#replicas.length]!;
      try {
        const headers = { 'content-type': 'application/json' };
        const response = await fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) });
        const answer = (await response.json()) as Json;
        if (response.status !== 503) return answer;
      } catch {
        // Killed before, while or after it did it.
      }
    }
  }

  /** A caller: jobs of the queue, which others work on, and jobs of its own that go every way there is. */
  async call(caller: number): Promise<void> {
    const wallet = `wallet ${caller}`;
    for (let i = 0; this.running; i++) {
      const job = `job ${i}`;
      const path = `/v1/wallets/${encodeURIComponent(wallet)}/jobs/${encodeURIComponent(job)}`;
      const told: Told = { wallet, job, answers: [] };
      this.told.push(told);
      const say = async (verb: string, body: object = {}) =>
        told.answers.push(`${verb} ${(await this.heard('POST', `${path}/${verb}`, body)).outcome}`);
      const ofQueue = i % 2 === 0;
      const submitted = await this.heard('PUT', path, { queue: ofQueue ? this.#queue : null, price: PRICE });
      told.answers.push(`submit ${submitted.outcome}`);
      if (ofQueue) continue;
      if (i % 3 !== 0) await say('fail', { reason: 'no answer' });
      if (i % 7 === 0) await say('cancel', { keep: 3 });
      else await say('succeed', { finalPrice: 7 });
      await this.heard('PUT', `/v1/wallets/${encodeURIComponent(wallet)}/grants/${i}`, { amount: 5 });
    }
  }

  /** A worker whose every third job is forgotten: its lease lapses. */
  async work(worker: number): Promise<void> {
    for (let i = 0; this.running; i++) {
      const path = `/v1/queues/${this.#queue}/leases`;
      const { jobs } = await this.heard('POST', path, { count: 2, requestId: `${worker} ${i}`, waitMs: 100 });
      for (const { job } of jobs as Json[]) {
        const way = (i + job.attempt) % 3;
        if (way === 2) continue;
        const of = `/v1/wallets/${encodeURIComponent(job.wallet)}/jobs/${encodeURIComponent(job.id)}`;
        const body = { attempt: job.attempt };
        const verb = way === 0 ? 'succeed' : 'fail';
        const { outcome } = await this.heard('POST', `${of}/${verb}`, body);
        this.told.push({ wallet: job.wallet, job: job.id, answers: [`${verb} ${outcome}`] });
      }
    }
  }
}

/** The entry that each answer of a call promises; a duplicate promises what the first call did. */
const PROMISED: readonly [answer: RegExp, type: string][] = [
  [/^submit (charged|duplicate)$/, 'charge'],
  [/^fail (refunded|retrying)$/, 'refund'],
  [/^succeed reclaimed$/, 'reclaim'],
  [/^cancel (canceled|duplicate)$/, 'settle'],
];

async function stands(recoup: Recoup, told: readonly Told[]): Promise<void> {
  for (const { wallet, job, answers } of told) {
    const entries = await recoup.wallets.entriesOf(wallet, job);
    const types = entries.map(({ type }) => type);
    expect([wallet, job, answers, new Set(types).size]).toEqual([wallet, job, answers, types.length]);
    for (const answer of answers)
      for (const [promise, type] of PROMISED)
        if (promise.test(answer))
          expect([wallet, job, answer, types]).toEqual([wallet, job, answer, expect.arrayContaining([type])]);
    const taken = entries.reduce((sum, { amount }) => sum - amount, 0);
    expect([wallet, job, answers, [0, 3, 7, PRICE].includes(taken)]).toEqual([wallet, job, answers, true]);
  }
}

test('replicas killed one after the other while callers, workers and sweeps use them: nothing is half, nothing is lost', async () => {
  const db = await testDatabase(inject('servers')[0]!.url);
  const recoup = await open({ connection: db.url, sweep: false });
  const queue = 'mixed';
  await recoup.queues.configure(queue, { leaseMs: 300, backoffBaseMs: 0, backoffMaxMs: 0, maxFailures: 4 });
  for (let caller = 0; caller < CALLERS; caller++) {
    const wallet = `wallet ${caller}`;
    await recoup.wallets.open({ wallet, customer: 'c' });
    await recoup.wallets.grant({ wallet, key: 'start', amount: 1_000_000 });
  }
  const start = () => startServer(db.url, { argv: ['--poll-ms', '100', '--log-level', 'silent'] });
  const replicas = await Promise.all([start(), start()]);
  const load = new Load(replicas, queue);
  const callers = Array.from({ length: CALLERS }, (_, caller) => load.call(caller));
  const workers = [0, 1, 2].map((worker) => load.work(worker));
  for (let kill = 0; kill < KILLS; kill++) {
    const wanted = load.told.length + 60;
    await until(() => load.told.length >= wanted);
    const victim = replicas[kill % 2]!;
    victim.signal('SIGKILL');
    expect(await victim.ended).toBe(null);
    replicas[kill % 2] = await start();
  }
  load.running = false;
  await Promise.all([...callers, ...workers]);
  await stands(recoup, load.told);
  // Whatever a dead replica or a forgetful worker had in its hands comes back by itself, through the sweeps that are left.
  await until(async () => (await db.query(`select from recoup.jobs where state = 'running'`)).length === 0);
  const { problems, sumOfEntries, sumOfBalances } = await recoup.verify();
  expect(problems).toEqual([]);
  expect(sumOfEntries).toBe(sumOfBalances);
  for (const replica of replicas) replica.signal('SIGTERM');
  expect(await Promise.all(replicas.map(({ ended }) => ended))).toEqual([0, 0]);
  await recoup.close();
  await db.drop();
});
