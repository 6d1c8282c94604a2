// The load: clients that grant, adjust, submit, report, settle and cancel, and write down what each job must come to.
import type { Asked, Client } from './client.ts';
import type { Random } from './random.ts';
import type { Book, Submitted } from './record.ts';

export const QUEUE = 'work';

/** What a worker is to do with a job: its payload. */
export interface Work {
  readonly as: (typeof ENDS)[number];
  readonly ms: number;
  readonly final?: number;
}
const ENDS = [
  'succeeds',
  'succeeds',
  'succeeds',
  'fails first',
  'fails',
  'refused',
  'released',
  'handed over',
  'hangs first',
] as const;

export interface Lives {
  readonly client: Client;
  readonly book: Book;
  readonly random: Random;
  readonly wallets: readonly string[];
  /** Tells this flow's ids from those of the others. */
  readonly name: string;
  /** False: a repeat after a doubt is another change to the server, as without idempotency keys. */
  readonly keyed: boolean;
  readonly running: () => boolean;
}

export const url = (...parts: string[]) => `/v1/${parts.map(encodeURIComponent).join('/')}`;

/** One client after the other's answer, until it is told to stop; what it has begun it ends. */
export async function live(lives: Lives): Promise<void> {
  const flow = new Flow(lives);
  for (let n = 0; lives.running(); n++) await flow.step(`${lives.name}-${n}`);
}

class Flow {
  readonly #of: Lives;

  constructor(of: Lives) {
    this.#of = of;
  }

  async step(id: string): Promise<void> {
    const { random, wallets } = this.#of;
    const wallet = random.pick(wallets);
    const kind = random.next();
    if (kind < 0.2) await this.#entry('grant', wallet, id, random.between(1, 50));
    else if (kind < 0.3) await this.#entry('adjust', wallet, id, random.pick([-7, -1, 3, 12]));
    else if (kind < 0.6) await this.#queued(wallet, id);
    else await this.#own(wallet, id);
  }

  #named(id: string, doubts: number): string {
    return this.#of.keyed || doubts === 0 ? id : `${id}#${doubts}`;
  }

  #entry(kind: 'grant' | 'adjust', wallet: string, id: string, amount: number): Promise<string | undefined> {
    const intent = this.#of.book.intend(kind, wallet, id, amount);
    return this.#of.client.heard(intent, (doubts) => ({
      method: 'PUT',
      path: url('wallets', wallet, `${kind}s`, this.#named(id, doubts)),
      body: { amount },
    }));
  }

  async #submit(wallet: string, id: string, body: object): Promise<Submitted | undefined> {
    const price = this.#of.random.between(1, 40);
    const intent = this.#of.book.intend('submit', wallet, id, price);
    const answer = await this.#of.client.heard(intent, (doubts) => ({
      method: 'PUT',
      path: url('wallets', wallet, 'jobs', this.#named(id, doubts)),
      body: { price, ...body },
    }));
    if (answer !== 'charged' && answer !== 'duplicate') return undefined;
    const job: Submitted = { wallet, id: this.#named(id, intent.doubts), price, takes: 'as it ended' };
    this.#of.book.jobs.push(job);
    return job;
  }

  #signal(
    kind: 'fail' | 'succeed' | 'settle' | 'cancel',
    job: Submitted,
    body: object = {},
    amount?: number,
  ): Promise<string | undefined> {
    const intent = this.#of.book.intend(kind, job.wallet, job.id, amount);
    const asked: Asked = { method: 'POST', path: url('wallets', job.wallet, 'jobs', job.id, kind), body };
    return this.#of.client.heard(intent, () => asked);
  }

  /** A job for the workers; some are given up, some succeed behind their back. */
  async #queued(wallet: string, id: string): Promise<void> {
    const { random } = this.#of;
    const final = random.next() < 0.2 ? { final: random.between(0, 60) } : {};
    const payload: Work = { as: random.pick(ENDS), ms: random.between(0, 15), ...final };
    const job = await this.#submit(wallet, id, { queue: QUEUE, payload });
    if (!job) return;
    const then = random.next();
    if (then < 0.15) await this.#signal('cancel', job);
    else if (then < 0.3) await this.#signal('succeed', job);
  }

  /** A job that the client delivers itself. Nobody else reports it, so what it comes to is known. */
  async #own(wallet: string, id: string): Promise<void> {
    const { random } = this.#of;
    const then = random.between(0, 6);
    // The last kind is heard of no more: its deadline must end it. No other deadline is met.
    const job = await this.#submit(wallet, id, { queue: null, deadlineMs: then === 6 ? 1_000 : 3_600_000 });
    if (!job) return;
    const amount = random.between(0, job.price + 10);
    if (then === 0) await this.#takes(job, 0, () => this.#signal('fail', job));
    if (then === 1) {
      await this.#takes(job, 0, () => this.#signal('fail', job));
      await this.#takes(job, job.price, () => this.#signal('succeed', job));
    }
    if (then === 2) await this.#takes(job, amount, () => this.#signal('succeed', job, { finalPrice: amount }, amount));
    if (then === 3) {
      await this.#takes(job, job.price, () => this.#signal('succeed', job));
      await this.#takes(job, amount, () => this.#signal('settle', job, { finalPrice: amount }, amount));
    }
    if (then === 4) await this.#takes(job, 0, () => this.#signal('cancel', job));
    if (then === 5) await this.#takes(job, amount, () => this.#signal('cancel', job, { keep: amount }, amount));
    if (then === 6) job.takes = 0;
  }

  /** Once it was heard, this is what the job has taken. */
  async #takes(job: Submitted, amount: number, signal: () => Promise<string | undefined>): Promise<void> {
    job.takes = (await signal()) === undefined ? 'as it ended' : amount;
  }
}
