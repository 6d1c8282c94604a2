// Who may do what: host names, origins, keys and scopes, checked before a body is read.
import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { InvalidInput, Refusal } from 'recoup';
import type { Keys } from '../keys/keys.ts';
import { checkBound } from '../operations/bound.ts';
import type { Caller, Operation } from '../operations/operation.ts';
import type { Sessions } from '../sessions/sessions.ts';

export interface AccessOptions {
  /** The address the server listens on. */
  bind: string;
  /** More host names that requests may name; with any of them set, loopback asks for keys too. */
  hosts: readonly string[];
  /** Ask for a key on loopback too. */
  requireKeys: boolean;
  /** Serve everybody without a key, also beyond loopback. */
  insecure: boolean;
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]', '::1']);
const EVERYBODY: Caller = { key: null, scopes: ['admin'], customer: null };

export const isLoopback = (bind: string): boolean => LOOPBACK.has(bind) || /^127\.\d+\.\d+\.\d+$/.test(bind);

/**
 * Somebody follows a link to the console, from a ticket or a chat: a page of its own, which holds no data and asks for it
 * from its own origin then. Never an address of the API, and never a frame.
 */
export const isVisit = ({ method, url, headers }: FastifyRequest): boolean =>
  method === 'GET' &&
  headers['sec-fetch-mode'] === 'navigate' &&
  headers['sec-fetch-dest'] === 'document' &&
  isPage(url);

/** Whether an address is for people: none of the API's. */
export const isPage = (url: string): boolean =>
  !/^\/(v1|errors|console)(\/|$)|^\/(livez|readyz|metrics|openapi\.json)\b/.test(url);

/** A host without its port, in lower case. */
const hostName = (host: string) => host.replace(/:\d+$/, '').toLowerCase();

/** How often a header was sent: Node keeps the first of those that may come once. */
function count(rawHeaders: readonly string[], name: string): number {
  let found = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const given = rawHeaders[i]!;
    if (given.length === name.length && given.toLowerCase() === name) found++;
  }
  return found;
}

export class Access {
  readonly #keys: Keys;
  readonly #sessions: Sessions;
  readonly #options: AccessOptions;
  readonly #hosts: ReadonlySet<string>;
  readonly #loopback: boolean;

  constructor(keys: Keys, sessions: Sessions, options: AccessOptions) {
    this.#keys = keys;
    this.#sessions = sessions;
    this.#options = options;
    this.#loopback = isLoopback(options.bind);
    this.#hosts = new Set([...LOOPBACK, ...options.hosts.map((host) => host.toLowerCase())]);
  }

  /**
   * Refuses a page of somebody else's that talks to us through a visitor's browser: a host name that is not ours (DNS
   * rebinding), or an origin that is not the host (a form or a fetch from another site).
   */
  checkHost(request: FastifyRequest): void {
    const { host, origin, 'sec-fetch-site': site } = request.headers;
    // Two of them mean two things to two programs, such as a proxy and this one.
    if (count(request.raw.rawHeaders, 'host') > 1) throw new InvalidInput('host', 'must be given once');
    const named = hostName(host ?? '');
    if (!this.#hosts.has(named) && !this.#mayBeOurs(named)) throw new Refusal('wrong_host', undefined, { host: named });
    const foreign = origin !== undefined && origin.replace(/^https?:\/\//, '').toLowerCase() !== host?.toLowerCase();
    // Browsers send the second also where they send no origin: for an image, say, whose address is one of ours.
    if (isVisit(request)) return;
    if (foreign || site === 'cross-site' || site === 'same-site') {
      throw new Refusal('foreign_origin', undefined, { origin: origin ?? null });
    }
  }

  /** Beyond loopback any address of this machine may be named: an address cannot be rebound. */
  #mayBeOurs(named: string): boolean {
    const bare = named.replace(/^\[|\]$/g, '');
    return !this.#loopback && (isIP(bare) !== 0 || this.#options.hosts.length === 0);
  }

  /** Whether a request needs no key: on loopback, and not passed on by a proxy that may speak for anybody. */
  #open({ headers }: FastifyRequest): boolean {
    if (this.#options.insecure) return true;
    const forwarded = headers.forwarded !== undefined || headers['x-forwarded-for'] !== undefined;
    return this.#loopback && this.#options.hosts.length === 0 && !this.#options.requireKeys && !forwarded;
  }

  /** Who asks. Refuses `unauthorized`. A key or a session that is sent counts, also where none is needed. */
  caller(request: FastifyRequest): Caller | Promise<Caller> {
    const { authorization, cookie } = request.headers;
    if (authorization === undefined && cookie?.includes('recoup_')) return this.#ofSession(request, cookie);
    if (authorization === undefined && this.#open(request)) return EVERYBODY;
    return this.#recognized(authorization);
  }

  async #ofSession(request: FastifyRequest, cookie: string): Promise<Caller> {
    const session = await this.#sessions.read(cookie);
    if (!session) {
      if (this.#open(request)) return EVERYBODY;
      throw new Refusal('unauthorized');
    }
    this.checkOwnPage(request);
    return session.caller;
  }

  /**
   * A browser sends its cookies with whatever any page asks for: what changes something must say that it comes from a page
   * of ours. That an origin is ours was seen before; here it must be there. Refuses `foreign_origin`.
   */
  checkOwnPage({ method, headers }: FastifyRequest): void {
    if (method === 'GET' || method === 'HEAD') return;
    if (headers.origin === undefined && headers['sec-fetch-site'] !== 'same-origin')
      throw new Refusal('foreign_origin', 'A session of the console may change something only from its own pages.');
  }

  async #recognized(given = ''): Promise<Caller> {
    const secret = /^Bearer +(\S+)$/i.exec(given)?.[1];
    const caller = secret === undefined ? undefined : await this.#keys.recognize(secret);
    if (!caller) throw new Refusal('unauthorized');
    return caller;
  }

  /** Refuses `forbidden`. */
  checkScope(caller: Caller, operation: Pick<Operation, 'name' | 'scopes' | 'params' | 'ofCustomer'>): void {
    const { scopes, name } = operation;
    if (scopes === 'signature') return;
    const allowed = caller.scopes.includes('admin') || scopes.some((scope) => caller.scopes.includes(scope));
    if (!allowed) throw new Refusal('forbidden', undefined, { operation: name, scopes: [...scopes, 'admin'] });
    if (caller.customer !== null) checkBound(operation);
  }
}
