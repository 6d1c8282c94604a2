// The clients of one side of a run with the book they keep, and what the audit makes of it.
import { type Audit, audit } from './audit.ts';
import { Client } from './client.ts';
import { live } from './load.ts';
import type { Random } from './random.ts';
import { Book, type Doubts } from './record.ts';
import { type Stage, wallets } from './stage.ts';

export interface Side {
  audit: Audit;
  doubts: Doubts;
  /** Answers that no fault explains. */
  surprises: string[];
}

export const clean = ({ audit, doubts, surprises }: Side): boolean =>
  surprises.length === 0 &&
  doubts.unresolved === 0 &&
  [audit.lost, audit.doubled, audit.wrong, audit.foreign, audit.unended, audit.problems].every(
    ({ count }) => count === 0,
  );

export interface Crowd {
  /** Wallets and ids begin with it. */
  readonly name: string;
  readonly on: Stage;
  readonly flows: number;
  readonly keyed: boolean;
  readonly random: Random;
  /** Whether another life is to be begun. */
  readonly running: () => boolean;
  /** Gives up what is still not heard. */
  readonly given: AbortSignal;
}

export class Clients {
  readonly book = new Book();
  readonly #of: Crowd;
  readonly #client: Client;
  #done: Promise<unknown> = Promise.resolve();

  private constructor(of: Crowd) {
    this.#of = of;
    this.#client = new Client(of.on.toServers, this.book, of.random.fork(`${of.name} choices`), of.given);
  }

  /** Opens their wallets and lets them go. */
  static async begin(of: Crowd): Promise<Clients> {
    const clients = new Clients(of);
    const names = await wallets(of.on.postgres, clients.book, of.name, Math.ceil(of.flows / 2));
    const life = (index: number) => {
      const name = `${of.name}-${index}`;
      const parts = { client: clients.#client, book: clients.book, wallets: names };
      return live({ ...parts, name, keyed: of.keyed, running: of.running, random: of.random.fork(name) });
    };
    clients.#done = Promise.all(Array.from({ length: of.flows }, (_, index) => life(index)));
    clients.#done.catch(() => {});
    return clients;
  }

  /** Until every change that was begun has its answer. */
  async end(): Promise<void> {
    await this.#done;
    this.#client.close();
  }

  async judge(): Promise<Side> {
    const { doubts, surprises } = this.book;
    return { audit: await audit(this.#of.on.postgres, this.book, this.#of.name), doubts, surprises };
  }
}
