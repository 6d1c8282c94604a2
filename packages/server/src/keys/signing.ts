// The secrets that the service signs with: one a purpose, made by whichever replica is first, the same for all of them.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Recoup } from 'recoup';

/** Signs texts for one purpose. What one purpose signed is worth nothing for another. */
export class Signing {
  readonly #recoup: Recoup;
  readonly #purpose: string;
  #key: Promise<Buffer> | undefined;

  constructor(recoup: Recoup, purpose: string) {
    this.#recoup = recoup;
    this.#purpose = purpose;
  }

  async sign(text: string): Promise<Buffer> {
    this.#key ??= this.#read().catch((error) => {
      this.#key = undefined;
      throw error;
    });
    return createHmac('sha256', await this.#key)
      .update(text)
      .digest();
  }

  /** `text.signature`, as `open` takes it. */
  async seal(text: string): Promise<string> {
    return `${text}.${(await this.sign(text)).toString('base64url')}`;
  }

  /** The text that was sealed; undefined: it was not sealed here. */
  async open(sealed: string): Promise<string | undefined> {
    const end = sealed.lastIndexOf('.');
    const text = sealed.slice(0, Math.max(end, 0));
    // As texts, so that no other spelling of the same bytes is one of ours.
    const given = Buffer.from(sealed.slice(end + 1));
    const right = Buffer.from((await this.sign(text)).toString('base64url'));
    return given.length === right.length && timingSafeEqual(given, right) ? text : undefined;
  }

  #read(): Promise<Buffer> {
    return this.#recoup.transaction(async (_, client) => {
      const table = `${this.#recoup.schema}.secrets`;
      const read = `select value from ${table} where name = $1`;
      const found = await client.query<{ value: Buffer }>(read, [this.#purpose]);
      if (found.rows[0]) return found.rows[0].value;
      const insert = `insert into ${table} (name, value) values ($1, $2) on conflict (name) do nothing`;
      await client.query(insert, [this.#purpose, randomBytes(32)]);
      return (await client.query<{ value: Buffer }>(read, [this.#purpose])).rows[0]!.value;
    });
  }
}
