// The replicas of a simulation: handles on one database, each of which can die at any statement and come back.
import { open, type Recoup } from '../src/index.ts';
import type { TestDatabase } from '../src/testing.ts';
import { Faults } from './faults.ts';

export interface Replica {
  readonly name: string;
  readonly recoup: Recoup;
  readonly faults: Faults;
}

export class Fleet {
  readonly #db: TestDatabase;
  readonly #rewrite: ((text: string) => string) | undefined;
  readonly #replicas: Replica[] = [];
  #count = 0;

  private constructor(db: TestDatabase, rewrite: ((text: string) => string) | undefined) {
    this.#db = db;
    this.#rewrite = rewrite;
  }

  /** `rewrite`: what becomes of the texts of transitions, to see whether a broken one is noticed. */
  static async open(db: TestDatabase, size: number, rewrite?: (text: string) => string): Promise<Fleet> {
    const fleet = new Fleet(db, rewrite);
    for (let i = 0; i < size; i++) fleet.#replicas.push(await fleet.#start());
    return fleet;
  }

  get size(): number {
    return this.#replicas.length;
  }

  at(index: number): Replica {
    return this.#replicas[index % this.#replicas.length]!;
  }

  /** The replica's process is gone, with all it knew; another one takes its place. */
  async crash(index: number): Promise<void> {
    const { faults, recoup } = this.at(index);
    faults.crash();
    await recoup.close();
    await this.settle(index);
    this.#replicas[index % this.#replicas.length] = await this.#start();
  }

  /** Until the server has noticed every cut: what was open there is rolled back, and holds nothing any more. */
  async settle(index: number): Promise<void> {
    const cut = this.at(index).faults.takeCut();
    const sql = 'select from pg_stat_activity where pid = any($1::int[]) limit 1';
    while (cut.length > 0 && (await this.#db.query(sql, [cut])).length > 0);
  }

  async close(): Promise<void> {
    for (const { recoup } of this.#replicas) await recoup.close();
  }

  async #start(): Promise<Replica> {
    const faults = new Faults(this.#rewrite);
    const name = `replica-${this.#count++}`;
    const connection = { connectionString: this.#db.url, Client: faults.clientClass() };
    const recoup = await open({ connection, sweep: false, applicationName: name, onError: () => {} });
    return { name, recoup, faults };
  }
}
