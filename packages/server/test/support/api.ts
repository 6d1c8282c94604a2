// A service on a database of its own, and calls of its operations by name: answers are held to the output schema.
import { request as httpRequest } from 'node:http';
import { type TestDatabase, testDatabase } from 'recoup/testing';
import Value from 'typebox/value';
import { expect, inject } from 'vitest';
import type { Operation } from '../../src/operations/operation.ts';
import { operations } from '../../src/operations/operations.ts';
import { requestOf } from '../../src/operations/request.ts';
import { type Service, type ServiceOptions, startService } from '../../src/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
export type Json = any;

export interface Answer {
  status: number;
  headers: Headers;
  body: Json;
}

export type Input = Record<string, unknown>;

export const operationOf = (name: string): Operation => {
  const found = operations.find((operation) => operation.name === name);
  if (!found) throw new Error(`no operation ${name}`);
  return found;
};

let counter = 0;
export const newId = (kind: string): string => `${kind}-${++counter}`;

export class Api {
  readonly db: Pick<TestDatabase, 'url' | 'query' | 'drop'>;
  readonly service: Service;
  /** Which operations were answered with success. */
  readonly called = new Set<string>();
  #key: string | undefined;

  private constructor(db: Pick<TestDatabase, 'url' | 'query' | 'drop'>, service: Service) {
    this.db = db;
    this.service = service;
  }

  static async start(options: Partial<ServiceOptions> = {}, url = inject('servers')[0]!.url): Promise<Api> {
    const db = await testDatabase(url);
    return new Api(db, await Api.replica(db, options));
  }

  /** Another service on the same database. */
  static replica(db: Pick<TestDatabase, 'url'>, options: Partial<ServiceOptions> = {}): Promise<Service> {
    const open = { connection: db.url, sweep: false, onError: () => {}, ...options.open };
    return startService({ port: 0, ...options, open });
  }

  /** Calls of a service that somebody else started, and closes. */
  static over(service: Service): Api {
    const none = () => Promise.reject(new Error('the database of this service is not known here'));
    return new Api({ url: '', query: none, drop: async () => {} }, service);
  }

  /** What calls send to say who asks. */
  headers(): Record<string, string> {
    return this.#key ? { authorization: `Bearer ${this.#key}` } : {};
  }

  /** The key that further calls send; undefined: none. */
  use(key: string | undefined): void {
    this.#key = key;
  }

  async send(
    method: string,
    path: string,
    body?: string | Uint8Array,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const all: Record<string, string> = { ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
    if (this.#key) all.authorization = `Bearer ${this.#key}`;
    const response = await fetch(`${this.service.url}${path}`, {
      method,
      headers: { ...all, ...headers },
      ...(body === undefined ? {} : { body: body as string }),
    });
    const text = await response.text();
    const isJson = /[/+]json$/.test((response.headers.get('content-type') ?? '').split(';')[0]!);
    return {
      status: response.status,
      headers: response.headers,
      body: isJson && text !== '' ? JSON.parse(text) : text,
    };
  }

  /** An operation by its name, whatever the answer. */
  async ask(name: string, input: Input = {}, headers: Record<string, string> = {}): Promise<Answer> {
    const operation = operationOf(name);
    const { method, path, body } = requestOf(operation, input);
    return this.send(method, path, body, headers);
  }

  /** An operation that must succeed: its answer, held to its schema. Lines of a stream come as a list. */
  async call(name: string, input: Input = {}, headers: Record<string, string> = {}): Promise<Json> {
    const operation = operationOf(name);
    const { status, body } = await this.ask(name, input, headers);
    expect(status, `${name}: ${JSON.stringify(body)}`).toBeLessThan(300);
    const lines = () => (body as string).trim().split('\n').filter(Boolean);
    const answers = operation.stream === 'ndjson' ? lines().map((line) => JSON.parse(line)) : [body];
    for (const answer of answers) expect([...Value.Errors(operation.output, answer)], name).toEqual([]);
    this.called.add(name);
    return operation.stream === 'ndjson' ? answers : body;
  }

  /** An operation that must be refused, with that code; returns the problem. */
  async refused(name: string, code: string, input: Input = {}, headers: Record<string, string> = {}): Promise<Json> {
    const { status, body, headers: got } = await this.ask(name, input, headers);
    expect(body, name).toMatchObject({ code, status });
    expect(got.get('content-type')).toBe('application/problem+json');
    return body;
  }

  /** A request whose path is sent as it is: `fetch` would tidy it up. */
  raw(method: string, path: string, headers: Record<string, string> = {}, body = ''): Promise<Answer> {
    const { hostname, port } = new URL(this.service.url);
    return new Promise((resolve, reject) => {
      const all = body === '' ? headers : { 'content-type': 'application/json', ...headers };
      const request = httpRequest({ hostname, port, method, path, headers: all }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => {
          const got = new Headers(response.headers as Record<string, string>);
          resolve({ status: response.statusCode!, headers: got, body: text === '' ? '' : JSON.parse(text) });
        });
      });
      request.on('error', reject);
      request.end(body);
    });
  }

  /** A wallet with credits. */
  async wallet(amount = 100, customer = 'c'): Promise<string> {
    const wallet = newId('w');
    await this.call('wallets.open', { wallet, customer });
    if (amount > 0) await this.call('wallets.grant', { wallet, key: 'start', amount });
    return wallet;
  }

  /** A job in a worker's hands. */
  async running(
    price = 10,
    more: Input = {},
  ): Promise<{ wallet: string; job: string; attempt: number; queue: string }> {
    const wallet = await this.wallet();
    const queue = newId('q');
    const job = newId('j');
    await this.call('jobs.submit', { wallet, job, queue, price, ...more });
    const { jobs } = await this.call('queues.lease', { queue });
    return { wallet, job, attempt: jobs[0].job.attempt, queue };
  }

  /** A dead letter. */
  async dead(price = 10, more: Input = {}): Promise<{ wallet: string; job: string; queue: string }> {
    const { wallet, job, attempt, queue } = await this.running(price, more);
    await this.call('jobs.fail', { wallet, job, attempt, verdict: 'definitive', retryable: false, reason: 'no' });
    return { wallet, job, queue };
  }

  async close(): Promise<void> {
    await this.service.close();
    await this.db.drop();
  }
}
