// The web console: its built files with their headers, and the addresses where a session begins and ends.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { InvalidInput, Refusal } from 'recoup';
import type { ApiKey, Keys } from '../keys/keys.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { type Access, isPage } from './access.ts';
import { Failures } from './failures.ts';

export interface ConsoleContext {
  keys: Keys;
  sessions: Sessions;
  access: Access;
}

/** Addresses beside those of the pages, with what each takes. */
export const SESSION_PATH = '/console/session';
export const SESSION_METHODS = ['GET', 'POST', 'DELETE'] as const;

const FOLDER = fileURLToPath(new URL('../../dist/console/', import.meta.url));
const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  json: 'application/json',
  woff2: 'font/woff2',
};
/** Nothing inline, nothing of others, in nobody's frame. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
  "base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
const SHELL_HEADERS = {
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'x-frame-options': 'DENY',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
};

interface File {
  type: string;
  bytes: Buffer;
  gzipped: Buffer;
  /** Its name holds a hash of what is in it. */
  hashed: boolean;
}

/** What was built, in memory: a few files, and no path of a request ever reaches the disk. Empty where nothing was built. */
function readFiles(): ReadonlyMap<string, File> {
  if (!existsSync(FOLDER)) return new Map();
  const names = readdirSync(FOLDER, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    names.map((entry) => {
      const path = `${entry.parentPath}/${entry.name}`;
      const bytes = readFileSync(path);
      const name = `/${path.slice(FOLDER.length).replaceAll('\\', '/').replace(/^\/+/, '')}`;
      const type = TYPES[entry.name.split('.').at(-1)!] ?? 'application/octet-stream';
      return [name, { type, bytes, gzipped: gzipSync(bytes), hashed: name.startsWith('/assets/') }];
    }),
  );
}

function send(request: FastifyRequest, reply: FastifyReply, file: File): FastifyReply {
  const zipped = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
  return reply
    .headers({
      ...SHELL_HEADERS,
      'content-type': file.type,
      'cache-control': file.hashed ? 'public, max-age=31536000, immutable' : 'no-cache',
      vary: 'accept-encoding',
      ...(zipped ? { 'content-encoding': 'gzip' } : {}),
    })
    .send(zipped ? file.gzipped : file.bytes);
}

/** Whoever opens an address in a browser gets the console, which knows its pages; everybody else hears `not_found`. */
export function addConsole(server: FastifyInstance, context: ConsoleContext): void {
  const files = readFiles();
  const shell = files.get('/index.html');
  for (const [name, file] of files) {
    if (file !== shell) server.get(name, (request, reply) => send(request, reply, file));
  }
  server.setNotFoundHandler(async (request, reply) => {
    const asked = request.method === 'GET' && /\btext\/html\b/.test(request.headers.accept ?? '');
    if (shell && asked && isPage(request.url)) return send(request, reply, shell);
    throw new Refusal('not_found');
  });
  addSessions(server, context);
}

function addSessions(server: FastifyInstance, { keys, sessions, access }: ConsoleContext): void {
  const failures = new Failures({ max: 10, withinMs: 60_000 });
  server.get(SESSION_PATH, async (request) => {
    const caller = await access.caller(request);
    const session = request.headers.cookie ? await sessions.read(request.headers.cookie) : undefined;
    const key = caller.key === null ? undefined : (await keys.list()).find(({ id }: ApiKey) => id === caller.key);
    return {
      name: key?.name ?? null,
      prefix: key?.prefix ?? null,
      scopes: caller.scopes,
      customer: caller.customer,
      /** Null: nobody signed in, and nobody has to. */
      expiresAt: session?.expiresAt ?? null,
    };
  });
  server.post<{ Body: { key?: unknown; link?: unknown } | undefined }>(SESSION_PATH, async (request, reply) => {
    access.checkOwnPage(request);
    const { key, link } = request.body ?? {};
    const given = typeof key === 'string' ? key : typeof link === 'string' ? link : undefined;
    if (given === undefined || given.length > 200) throw new InvalidInput('key', 'must be an API key: rcp_…');
    failures.check(request.ip);
    const opened = key === undefined ? await sessions.ofLink(given) : await sessions.ofKey(given);
    if (!opened) {
      failures.note(request.ip);
      throw new Refusal('unauthorized');
    }
    return reply.header('set-cookie', secured(opened.cookie, request)).code(201).send({ outcome: 'opened' });
  });
  server.delete(SESSION_PATH, async (request, reply) => {
    access.checkOwnPage(request);
    return reply.header('set-cookie', secured(await sessions.end(), request)).send({ outcome: 'ended' });
  });
}

/** Over TLS, which a proxy may have ended, the cookie never goes without it. */
const secured = (cookie: string, { headers, protocol }: FastifyRequest): string =>
  protocol === 'https' || headers['x-forwarded-proto'] === 'https' || /^https:/.test(headers.origin ?? '')
    ? `${cookie}; Secure`
    : cookie;
