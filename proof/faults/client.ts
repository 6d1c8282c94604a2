// A client over HTTP that asks until it has an answer, at whichever server, and notes when it was in doubt.
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ErrorCode, errors } from '../../packages/recoup/src/errors.ts';
import type { Random } from './random.ts';
import type { Book, Intent } from './record.ts';
import type { Relay } from './relay.ts';

/** As long as a patient user waits; a stall that is longer leaves a doubt. */
const PATIENCE_MS = 2_000;
const NOT_SENT = new Set(['ECONNREFUSED']);

export interface Asked {
  readonly method: 'PUT' | 'POST';
  readonly path: string;
  readonly body: object;
}

type Heard = { readonly answer: string; readonly code?: ErrorCode } | 'not sent' | 'in doubt';

export class Client {
  readonly #relays: readonly Relay[];
  readonly #book: Book;
  readonly #random: Random;
  readonly #signal: AbortSignal;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(relays: readonly Relay[], book: Book, random: Random, signal: AbortSignal) {
    this.#relays = relays;
    this.#book = book;
    this.#random = random;
    this.#signal = signal;
  }

  /**
   * Asks until it is heard; `ask` is told how often it was in doubt before. Returns the outcome or the code of a refusal,
   * and undefined only if the run was given up.
   */
  async heard(intent: Intent, ask: (doubts: number) => Asked): Promise<string | undefined> {
    for (let failures = 0; !this.#signal.aborted; failures++) {
      const heard = await this.#once(ask(intent.doubts));
      if (heard === 'in doubt') intent.doubts += 1;
      else if (heard !== 'not sent') {
        if (heard.code === undefined || !errors[heard.code].retry || heard.code === 'not_ended') {
          this.#note(intent, heard);
          intent.answer = heard.answer;
          this.#book.heard += 1;
          return heard.answer;
        }
        if (heard.code === 'database_unavailable') intent.doubts += 1;
      }
      await sleep(this.#random.between(5, Math.min(20 * 2 ** failures, 300)));
    }
    return undefined;
  }

  close(): void {
    this.#agent.destroy();
  }

  #note(intent: Intent, heard: Exclude<Heard, string>): void {
    if (heard.code === undefined || heard.code === 'canceled') return;
    this.#book.surprises.push(`${intent.kind} ${intent.wallet} ${intent.id}: ${heard.code}`);
  }

  #once({ method, path, body }: Asked): Promise<Heard> {
    const { port } = this.#random.pick(this.#relays);
    return new Promise((resolve) => {
      const text = JSON.stringify(body);
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
      const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: this.#agent }, (response) => {
        let got = '';
        response.setEncoding('utf8').on('data', (chunk) => {
          got += chunk;
        });
        response.on('end', () => resolve(read(got)));
        response.on('error', () => resolve('in doubt'));
        response.on('aborted', () => resolve('in doubt'));
      });
      sent.setTimeout(PATIENCE_MS, () => sent.destroy(new Error('no answer in time')));
      sent.on('error', (error: NodeJS.ErrnoException) =>
        resolve(NOT_SENT.has(error.code ?? '') ? 'not sent' : 'in doubt'),
      );
      sent.end(text);
    });
  }
}

/** What the answer says; a truncated one says nothing. */
function read(text: string): Heard {
  try {
    const { outcome, code } = JSON.parse(text) as { outcome?: string; code?: ErrorCode };
    if (code !== undefined && code in errors) return { answer: code, code };
    return outcome === undefined ? 'in doubt' : { answer: outcome };
  } catch {
    return 'in doubt';
  }
}
