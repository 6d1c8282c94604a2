// A pg client that loses its connection where it is told to: before a statement, before its commit, or before its answer.
import type { Duplex } from 'node:stream';
import pg from 'pg';
import { capacityModel } from '../model/capacity/model.ts';
import { decodeAnswer } from '../src/db/database.ts';
import type { RawAnswer } from '../src/db/runner.ts';
import { transitions } from '../src/outcomes.ts';
import type { Fault } from './commands.ts';

/** A transition that was sent, with what the server answered: known here also where the caller never hears of it. */
export interface Sent {
  readonly name: string;
  readonly inputs: readonly Record<string, unknown>[];
  readonly answers: readonly RawAnswer[];
  /** False where the server's work was rolled back, or never began. */
  readonly committed: boolean;
}

type Rewrite = (text: string) => string;
type Query = string | { text: string; values?: unknown[] };
type Send = (query: Query, values?: unknown[]) => Promise<pg.QueryResult>;
type Done = (error: unknown, result?: pg.QueryResult) => void;

const NAMED = /^\/\* (\S+) \*\//;

/** What the models do not have, such as what a report books of its use, goes through whole. */
const isModeled = (name: string) => name in transitions || name in capacityModel;

/** The connections of one replica, and what is to befall them. */
export class Faults {
  readonly #rewrite: Rewrite;
  readonly #clients = new Set<pg.Client>();
  #armed: Fault | undefined;
  #meanwhile: (() => Promise<void>) | undefined;
  #count = 0;
  #fired = false;
  #sent: Sent[] = [];
  #cut: number[] = [];

  constructor(rewrite: Rewrite = (text) => text) {
    this.#rewrite = rewrite;
  }

  /**
   * From here on transitions are counted and noted; the fault, if there is one, comes once. `meanwhile`: what others do
   * right before the first of them is sent.
   */
  arm(fault: Fault | undefined, meanwhile?: () => Promise<void>): void {
    this.#armed = fault;
    this.#meanwhile = meanwhile;
    this.#count = 0;
    this.#fired = false;
    this.#sent = [];
  }

  /** What was sent since `arm`, and whether the fault came. */
  disarm(): { fired: boolean; sent: readonly Sent[] } {
    this.#armed = undefined;
    this.#meanwhile = undefined;
    return { fired: this.#fired, sent: this.#sent };
  }

  /** The process is gone: every connection with it. */
  crash(): void {
    for (const client of this.#clients) this.#destroy(client);
  }

  /** Server processes whose connections were cut, since the last time this was asked. */
  takeCut(): number[] {
    return this.#cut.splice(0);
  }

  /** The class for a pool whose connections these are. */
  clientClass(): new (config?: string | pg.ClientConfig) => pg.Client {
    const join = (client: pg.Client) => this.#join(client);
    return class extends pg.Client {
      constructor(config?: string | pg.ClientConfig) {
        super(config);
        join(this);
      }
    };
  }

  #join(client: pg.Client): void {
    this.#clients.add(client);
    client.once('end', () => this.#clients.delete(client));
    const send = client.query.bind(client) as unknown as Send;
    const query = (query: Query, values?: unknown[] | Done, done?: Done) => {
      const callback = typeof values === 'function' ? values : done;
      const result = this.#through(client, send, query, Array.isArray(values) ? values : undefined);
      if (!callback) return result;
      result.then(
        (got) => callback(undefined, got),
        (error) => callback(error),
      );
      return undefined;
    };
    client.query = query as typeof client.query;
  }

  async #through(client: pg.Client, send: Send, given: Query, values?: unknown[]): Promise<pg.QueryResult> {
    const text = typeof given === 'string' ? given : given.text;
    const broken = this.#rewrite(text);
    const query = typeof given === 'string' ? broken : { ...given, text: broken };
    const name = text === 'commit' ? text : NAMED.exec(text)?.[1];
    if (name !== 'commit' && (name === undefined || !isModeled(name))) return send(query, values);
    const meanwhile = this.#meanwhile;
    this.#meanwhile = undefined;
    await meanwhile?.();
    const fault = this.#due(name);
    const inputs = String((values ?? (given as { values?: unknown[] }).values)?.[0] ?? '[]');
    if (!fault) return this.#note(name, inputs, true, await send(query, values));
    // Before the COMMIT itself there is nothing more to do.
    const cut = name === 'commit' && fault.cut === 'commit' ? 'request' : fault.cut;
    if (cut === 'commit') await send('begin');
    if (cut !== 'request') this.#note(name, inputs, cut === 'answer', await send(query, values));
    this.#fired = true;
    if (fault.crash) this.crash();
    else this.#destroy(client);
    throw new Error('Connection terminated unexpectedly');
  }

  #due(name: string): Fault | undefined {
    const fault = this.#armed;
    if (name !== 'commit') this.#count += 1;
    if (!fault || fault.at !== (name === 'commit' ? name : this.#count)) return undefined;
    this.#armed = undefined;
    return fault;
  }

  #note(name: string, inputs: string, committed: boolean, result: pg.QueryResult): pg.QueryResult {
    if (name !== 'commit') {
      const answers = decodeAnswer<RawAnswer>(result, name);
      this.#sent.push({ name, inputs: JSON.parse(inputs) as Record<string, unknown>[], answers, committed });
    }
    return result;
  }

  #destroy(client: pg.Client): void {
    const { processID, connection } = client as unknown as { processID?: number; connection: { stream: Duplex } };
    if (processID) this.#cut.push(processID);
    this.#clients.delete(client);
    connection.stream.destroy();
  }
}
