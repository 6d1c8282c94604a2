// Bodies: read up to the limit of their address, and all of them together up to a limit of the server.
import { isUtf8 } from 'node:buffer';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { InvalidInput, Refusal } from 'recoup';

/** What may be in memory at once of bodies that arrive or are being handled, in bytes. */
export const MAX_HELD_BYTES = 256 * 1_048_576;
/** Of that for senders who have proven nothing yet: a webhook is read before its signature can be verified. */
const UNPROVEN_SHARE = 1 / 4;

type Done = (error: Error | null, bytes?: Buffer) => void;

export class Bodies {
  readonly #max: number;
  #held = 0;
  #unproven = 0;

  constructor(max = MAX_HELD_BYTES) {
    this.#max = max;
  }

  /**
   * Gives the bytes of a request's body, and has them counted until its answer is over. Refuses `too_large`, `rate_limited`,
   * and what is not UTF-8 or not as long as it said.
   */
  read(request: FastifyRequest, proven: boolean, answer: FastifyReply['raw'], done: Done): void {
    const { raw } = request;
    const limit = request.routeOptions.bodyLimit;
    const declared = request.headers['content-length'];
    if (Number(declared ?? 0) > limit) {
      done(new Refusal('too_large'));
      return;
    }
    const parts: Buffer[] = [];
    let length = 0;
    answer.once('close', () => this.#move(-length, proven));
    let over = false;
    const end = (error: Error | null, bytes?: Buffer) => {
      if (over) return;
      over = true;
      // Read on, so that the answer arrives before the connection is closed.
      if (error) raw.off('data', onData).resume();
      done(error, bytes);
    };
    const onData = (part: Buffer) => {
      if (length + part.length > limit) return end(new Refusal('too_large'));
      if (!this.#fits(part.length, proven)) {
        return end(new Refusal('rate_limited', 'Too many bodies arrive here at once.'));
      }
      length += part.length;
      this.#move(part.length, proven);
      parts.push(part);
    };
    const onError = (cause: Error) => end(new InvalidInput('body', `did not arrive whole: ${cause.message}`));
    const onEnd = () => {
      if (declared !== undefined && Number(declared) !== length) {
        return end(new InvalidInput('body', 'must be as long as its Content-Length'));
      }
      // Most bodies arrive in one part: nothing to copy.
      const bytes = parts.length === 1 ? parts[0]! : Buffer.concat(parts, length);
      // Other bytes would all become the same replacement character.
      end(isUtf8(bytes) ? null : new InvalidInput('body', 'must be UTF-8'), bytes);
    };
    raw.on('data', onData).on('end', onEnd).on('error', onError);
  }

  #fits(bytes: number, proven: boolean): boolean {
    return this.#held + bytes <= this.#max && (proven || this.#unproven + bytes <= this.#max * UNPROVEN_SHARE);
  }

  #move(bytes: number, proven: boolean): void {
    this.#held += bytes;
    if (!proven) this.#unproven += bytes;
  }
}
