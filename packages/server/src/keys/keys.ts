// API keys: made, listed, revoked, and recognized. Stored as a hash of a random secret; the start of the secret is public.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { InvalidInput, idProblem, type Recoup, Refusal } from 'recoup';
import type { Caller, Scope } from '../operations/operation.ts';

/** A key as people see it: never its secret. */
export interface ApiKey {
  id: string;
  /** What the secret starts with: look for it in leaks. */
  prefix: string;
  name: string;
  scopes: Scope[];
  customer: string | null;
  createdAt: Date;
  revokedAt: Date | null;
  /** To the hour. */
  lastUsedAt: Date | null;
}

interface Row {
  id: string;
  hash: Buffer;
  name: string;
  scopes: Scope[];
  customer_id: string | null;
  created_at: string;
  revoked_at: string | null;
  last_used_at: string | null;
}

/** `rcp_`, the public id, the secret: 256 random bits. */
const SECRET = /^rcp_([0-9a-z]{12})_[A-Za-z0-9_-]{43}$/;
const PREFIX = /^(?:rcp_)?([0-9a-z]{12})$/;
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
/** How long a replica goes on with what it knows of a key: a key revoked elsewhere works this long. */
const FRESH_MS = 5000;
const MAX_KNOWN = 10_000;
const COLUMNS = `id, hash, name, scopes, customer_id, created_at::text, revoked_at::text, last_used_at::text`;

const hashOf = (secret: string) => createHash('sha256').update(secret).digest();
const newId = () => Array.from(randomBytes(12), (byte) => ALPHABET[byte % 32]).join('');

export class Keys {
  readonly #recoup: Recoup;
  readonly #known = new Map<string, { caller: Caller; at: number }>();

  constructor(recoup: Recoup) {
    this.#recoup = recoup;
  }

  /** Makes a key. Its secret is in this answer and nowhere else. */
  async create(input: {
    name: string;
    scopes: readonly Scope[];
    customer?: string;
  }): Promise<{ key: ApiKey; secret: string }> {
    if (input.customer !== undefined && (input.scopes.length !== 1 || input.scopes[0] !== 'viewer')) {
      throw new InvalidInput('scopes', 'must be ["viewer"] alone where the key is bound to a customer');
    }
    for (const field of ['name', 'customer'] as const) {
      const problem = input[field] === undefined ? null : idProblem(input[field]);
      if (problem !== null) throw new InvalidInput(field, problem);
    }
    const id = newId();
    const secret = `rcp_${id}_${randomBytes(32).toString('base64url')}`;
    const [row] = await this.#query(
      `insert into ${this.#table} (id, hash, name, scopes, customer_id) values ($1, $2, $3, $4, $5) returning ${COLUMNS}`,
      [id, hashOf(secret), input.name, input.scopes, input.customer ?? null],
    );
    return { key: keyOf(row!), secret };
  }

  /** All keys, the newest first. */
  async list(): Promise<ApiKey[]> {
    const rows = await this.#query(`select ${COLUMNS} from ${this.#table} order by created_at desc, id`, []);
    return rows.map(keyOf);
  }

  /** Ends a key, named by its id or prefix. `revoked`, `duplicate`. Refuses `no_key`. */
  async revoke(named: string): Promise<{ outcome: 'revoked' | 'duplicate'; key: ApiKey }> {
    const id = PREFIX.exec(named)?.[1] ?? '';
    const clock = `${this.#recoup.schema}.clock()`;
    const sql = `update ${this.#table} set revoked_at = ${clock} where id = $1 and revoked_at is null returning ${COLUMNS}`;
    const [row] = await this.#query(sql, [id]);
    this.#known.clear();
    if (row) return { outcome: 'revoked', key: keyOf(row) };
    const [there] = await this.#query(`select ${COLUMNS} from ${this.#table} where id = $1`, [id]);
    if (!there) throw new Refusal('no_key', undefined, { key: named });
    return { outcome: 'duplicate', key: keyOf(there) };
  }

  /** Whether there is a key that works. */
  async any(): Promise<boolean> {
    return (await this.#query(`select ${COLUMNS} from ${this.#table} where revoked_at is null limit 1`, [])).length > 0;
  }

  /** Who holds this secret; undefined: nobody, or a revoked key. Takes as long for a wrong secret as for a right one. */
  async recognize(secret: string): Promise<Caller | undefined> {
    const id = SECRET.exec(secret)?.[1];
    if (id === undefined) return undefined;
    const hash = hashOf(secret);
    const name = hash.toString('base64');
    const known = this.#known.get(name);
    if (known && performance.now() - known.at < FRESH_MS) return known.caller;
    this.#known.delete(name);
    const [row] = await this.#query(`select ${COLUMNS} from ${this.#table} where id = $1`, [id]);
    const same = timingSafeEqual(row?.hash ?? Buffer.alloc(32), hash);
    if (!row || !same || row.revoked_at !== null) return undefined;
    return this.#know(name, row);
  }

  /** What the key of this id may do, for a session that was opened with its secret; undefined: it was revoked. */
  async holder(id: string): Promise<Caller | undefined> {
    const known = this.#known.get(id);
    if (known && performance.now() - known.at < FRESH_MS) return known.caller;
    this.#known.delete(id);
    const [row] = await this.#query(`select ${COLUMNS} from ${this.#table} where id = $1`, [id]);
    if (!row || row.revoked_at !== null) return undefined;
    return this.#know(id, row);
  }

  #know(name: string, { id, scopes, customer_id: customer }: Row): Caller {
    const caller = { key: id, scopes, customer };
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.set(name, { caller, at: performance.now() });
    this.#used(id);
    return caller;
  }

  /** Notes the use, to the hour. What cannot be noted is no reason to refuse the caller. */
  #used(id: string): void {
    const clock = `${this.#recoup.schema}.clock()`;
    const sql = `update ${this.#table} set last_used_at = date_trunc('hour', ${clock})
      where id = $1 and last_used_at is distinct from date_trunc('hour', ${clock}) returning ${COLUMNS}`;
    void this.#query(sql, [id]).catch(() => {});
  }

  get #table(): string {
    return `${this.#recoup.schema}.api_keys`;
  }

  #query(sql: string, values: unknown[]): Promise<Row[]> {
    return this.#recoup.transaction(async (_, client) => (await client.query<Row>(sql, values)).rows);
  }
}

const dateOr = (text: string | null) => (text === null ? null : new Date(text));

function keyOf(row: Row): ApiKey {
  return {
    id: row.id,
    prefix: `rcp_${row.id}`,
    name: row.name,
    scopes: row.scopes,
    customer: row.customer_id,
    createdAt: new Date(row.created_at),
    revokedAt: dateOr(row.revoked_at),
    lastUsedAt: dateOr(row.last_used_at),
  };
}
