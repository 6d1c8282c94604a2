// Sessions of the console: an API key, or a one-time link on loopback, exchanged for a signed cookie that any replica reads.
import { createHash, randomBytes } from 'node:crypto';
import type { Recoup } from 'recoup';
import type { Keys } from '../keys/keys.ts';
import { Signing } from '../keys/signing.ts';
import type { Caller } from '../operations/operation.ts';

/** After this long somebody signs in again, however much was done meanwhile. */
export const SESSION_MS = 12 * 3_600_000;
const LINK_MS = 10 * 60_000;
/** What a link opens: it was printed to whoever runs the server. */
const OF_LINK: Caller = { key: null, scopes: ['admin'], customer: null };

interface Claim {
  /** The key it was opened with; null: a link. */
  key: string | null;
  expiresAt: number;
}

export class Sessions {
  readonly #keys: Keys;
  readonly #signing: Signing;
  /** Sessions without a key are good where whoever runs the server is alone with it. */
  readonly #links: boolean;
  readonly #open = new Map<string, number>();
  #name: string | undefined;

  constructor(recoup: Recoup, keys: Keys, options: { links: boolean }) {
    this.#keys = keys;
    this.#signing = new Signing(recoup, 'console');
    this.#links = options.links;
  }

  /** Makes the signing key where there is none. */
  async prepare(): Promise<void> {
    await this.#cookieName();
  }

  /** A token that opens one session here within ten minutes. Null where links are not given: beyond loopback. */
  link(): string | null {
    if (!this.#links) return null;
    const token = randomBytes(24).toString('base64url');
    this.#open.set(hashOf(token), Date.now() + LINK_MS);
    return token;
  }

  /** The session of a key's secret; undefined: no such key. */
  async ofKey(secret: string): Promise<{ caller: Caller; cookie: string } | undefined> {
    const caller = await this.#keys.recognize(secret);
    return caller && { caller, cookie: await this.#cookie(caller.key) };
  }

  /** The session of a link; undefined: there is no such link, or it was used. */
  async ofLink(token: string): Promise<{ caller: Caller; cookie: string } | undefined> {
    const name = hashOf(token);
    const until = this.#open.get(name);
    this.#open.delete(name);
    return until !== undefined && Date.now() < until
      ? { caller: OF_LINK, cookie: await this.#cookie(null) }
      : undefined;
  }

  /** Who a request's cookies speak for: with the scopes that the key has now; undefined: nobody, or a revoked key. */
  async read(cookies: string): Promise<{ caller: Caller; expiresAt: Date } | undefined> {
    const name = await this.#cookieName();
    const sealed = cookies
      .split(';')
      .map((pair) => pair.trim())
      .find((pair) => pair.startsWith(`${name}=`))
      ?.slice(name.length + 1);
    const text = sealed === undefined ? undefined : await this.#signing.open(sealed);
    if (text === undefined) return undefined;
    const { key, expiresAt } = JSON.parse(Buffer.from(text, 'base64url').toString()) as Claim;
    if (Date.now() >= expiresAt || (key === null && !this.#links)) return undefined;
    const caller = key === null ? OF_LINK : await this.#keys.holder(key);
    return caller && { caller, expiresAt: new Date(expiresAt) };
  }

  /** The cookie that ends the session in this browser. */
  async end(): Promise<string> {
    return `${await this.#cookieName()}=; ${ATTRIBUTES}; Max-Age=0`;
  }

  async #cookie(key: string | null): Promise<string> {
    const claim: Claim = { key, expiresAt: Date.now() + SESSION_MS };
    const sealed = await this.#signing.seal(Buffer.from(JSON.stringify(claim)).toString('base64url'));
    return `${await this.#cookieName()}=${sealed}; ${ATTRIBUTES}; Max-Age=${SESSION_MS / 1000}`;
  }

  /** Of the database: cookies know no ports, and two services on one machine must not sign each other out. */
  async #cookieName(): Promise<string> {
    this.#name ??= `recoup_${(await this.#signing.sign('cookie')).toString('hex').slice(0, 12)}`;
    return this.#name;
  }
}

const ATTRIBUTES = 'Path=/; HttpOnly; SameSite=Strict';
const hashOf = (token: string) => createHash('sha256').update(token).digest('base64url');
