// The settings of the command line: one table; flags over environment over file over defaults, and where each value came from.
import { readFileSync } from 'node:fs';
import { addressProblem, InvalidInput } from 'recoup';
import { readYaml } from './yaml.ts';

type Kind = 'text' | 'integer' | 'flag' | 'list';

interface Setting {
  kind: Kind;
  about: string;
  fallback?: string | number | boolean | readonly string[];
  /** Another name in the environment, beside RECOUP_…. */
  env?: string;
  /** Never printed. */
  secret?: boolean;
  /** Of an integer: from, to. */
  range?: readonly [number, number];
  /** Of a text, and of each of a list: what is wrong with it, or null. It repeats nothing of a secret. */
  problem?: (text: string) => string | null;
}

const like = (form: RegExp, words: string) => (text: string) => (form.test(text) ? null : words);
/** Secrets that sign are as their sender gave them out: 24 bytes or more, in base64. */
const signing = like(
  /^whsec_(?:[A-Za-z0-9+/]{4}){8,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
  'must hold secrets as whsec_ and the base64 of at least 24 bytes',
);

/** The table. A name is `--kebab-case` as a flag, `RECOUP_UPPER_CASE` in the environment, and itself in the file. */
export const SETTINGS = {
  databaseUrl: {
    kind: 'text',
    about: 'postgres://… to use; without it Recoup starts a PostgreSQL of its own',
    env: 'DATABASE_URL',
    secret: true,
    problem: addressProblem,
  },
  dataDir: { kind: 'text', about: 'where the PostgreSQL of its own keeps its data', fallback: '.recoup' },
  schema: { kind: 'text', about: 'the schema Recoup lives in', fallback: 'recoup' },
  migrate: {
    kind: 'flag',
    about: 'apply missing migrations at start; false for a role that may not',
    fallback: true,
  },
  pooler: { kind: 'flag', about: 'set behind a transaction-mode pooler', fallback: false },
  maxConnections: { kind: 'integer', about: 'connections for transitions', fallback: 10, range: [4, 1000] },
  lockTimeoutMs: {
    kind: 'integer',
    about: 'how long a call may wait for a wallet that is held',
    fallback: 5000,
    range: [1, 3_600_000],
  },
  pollMs: { kind: 'integer', about: 'the longest that anything sleeps', fallback: 2000, range: [10, 3_600_000] },
  pruneAfterMs: { kind: 'integer', about: 'delete rows of jobs that ended longer ago', range: [0, 315_360_000_000] },
  sweep: { kind: 'flag', about: 'run the sweeps and send webhooks in this process', fallback: true },
  alertIdleMs: {
    kind: 'integer',
    about: 'an upstream that is on and was not used for so long is an alert',
    range: [1000, 31_536_000_000],
  },
  alertBlockedMs: {
    kind: 'integer',
    about: 'a block that has been open for so long is an alert',
    fallback: 3_600_000,
    range: [1000, 31_536_000_000],
  },
  webhooksToPrivate: {
    kind: 'flag',
    about: 'send webhooks and probes to loopback, private and link-local addresses too',
    fallback: false,
  },
  probeCredentials: {
    kind: 'text',
    about: 'a file with secrets by the references of upstreams (YAML or JSON), for pools that are asked over HTTP',
  },
  decoderRules: {
    kind: 'text',
    about: 'a file with rules of yours for what providers answer (YAML or JSON); read when the program starts',
  },
  bind: { kind: 'text', about: 'the address to listen on; beyond loopback a key is needed', fallback: '127.0.0.1' },
  port: { kind: 'integer', about: 'the port to listen on; 0 is a free one', fallback: 7420, range: [0, 65_535] },
  hosts: { kind: 'list', about: 'host names that requests may name, beside loopback’s', fallback: [] },
  publicUrl: {
    kind: 'text',
    about: 'what signed callback URLs begin with',
    problem: like(/^https?:\/\/[^\s/?#]+[^\s?#]*$/, 'must be http(s)://… without a query'),
  },
  requireKeys: { kind: 'flag', about: 'ask for keys on loopback too', fallback: false },
  insecure: { kind: 'flag', about: 'serve everybody without a key, whatever the address', fallback: false },
  maxWaiting: { kind: 'integer', about: 'long polls and streams at once', fallback: 1000, range: [0, 1_000_000] },
  stopDelayMs: {
    kind: 'integer',
    about: 'after SIGTERM, serve on for this long while /readyz says no',
    fallback: 0,
    range: [0, 3_600_000],
  },
  verifyEveryMs: {
    kind: 'integer',
    about: 'verify the books this often and keep the result as a metric',
    range: [1000, 86_400_000],
  },
  tracing: {
    kind: 'flag',
    about: 'send OpenTelemetry traces; where to is set by the standard OTEL_… variables',
    fallback: false,
  },
  logLevel: {
    kind: 'text',
    about: 'fatal, error, warn, info, debug, trace or silent',
    fallback: 'info',
    problem: like(
      /^(fatal|error|warn|info|debug|trace|silent)$/,
      'must be fatal, error, warn, info, debug, trace or silent',
    ),
  },
  webhookReplicate: {
    kind: 'list',
    about: 'signing secrets of Replicate (whsec_…)',
    fallback: [],
    secret: true,
    problem: signing,
  },
  webhookGeneric: {
    kind: 'list',
    about: 'signing secrets of senders of your own (whsec_ and the base64 of at least 24 bytes)',
    fallback: [],
    secret: true,
    problem: signing,
  },
  paymentStripe: {
    kind: 'list',
    about: 'signing secrets of a webhook endpoint of Stripe (whsec_…)',
    fallback: [],
    secret: true,
    problem: like(/^whsec_[\x21-\x7e]{8,500}$/, 'must hold signing secrets of Stripe: whsec_…'),
  },
  webhookFal: {
    kind: 'list',
    about: 'public keys of fal (x of its key set)',
    fallback: [],
    problem: like(
      /^[A-Za-z0-9_-]{43}$/,
      'must hold public keys: x of each key of its key set, 43 characters of base64url',
    ),
  },
  server: {
    kind: 'text',
    about: 'the URL of a server to talk to instead of a database',
    problem: (text) =>
      /^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/.test(text) && URL.canParse(text)
        ? null
        : 'must be the URL of the service, without user and password: http://host:port or https://…',
  },
  key: {
    kind: 'text',
    about: 'the API key for that server',
    secret: true,
    problem: (text) => (/^[\x21-\x7e]+$/.test(text) ? null : 'must be one line of printable ASCII without spaces'),
  },
} as const satisfies Record<string, Setting>;

export type SettingName = keyof typeof SETTINGS;
type ValueOf<K extends Kind> = { text: string; integer: number; flag: boolean; list: readonly string[] }[K];
type Has<S> = S extends { fallback: unknown } ? never : undefined;
export type Settings = { [N in SettingName]: ValueOf<(typeof SETTINGS)[N]['kind']> | Has<(typeof SETTINGS)[N]> };
export type Origin = 'flag' | 'environment' | 'file' | 'default';

export interface Resolved {
  values: Settings;
  from: Record<SettingName, Origin>;
  file: string | undefined;
  /** Variables of the environment that look like a setting and are none. */
  unknown: readonly string[];
}

const NAMES = Object.keys(SETTINGS) as SettingName[];
const FILE = 'recoup.yaml';

export const kebab = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const envName = (name: string) => `RECOUP_${kebab(name).replaceAll('-', '_').toUpperCase()}`;

const KNOWN = new Set(NAMES.map(envName));
/** Variables that are no settings: what commands read beside them, what `recoup work` sets, what deploy/ and examples/ use. */
const OTHERS =
  /^RECOUP_(CONFIG|IMPORT_FROM|WALLET|JOB|ATTEMPT|QUEUE|EARLIER_(ATTEMPT|REF)|URL|(OWNER|APP)_PASSWORD|FAR)$/;

function envOf(name: SettingName, env: NodeJS.ProcessEnv): string | undefined {
  const { env: other } = SETTINGS[name] as Setting;
  return env[envName(name)] ?? (other === undefined ? undefined : env[other]);
}

/** A value as its kind wants it, wherever it came from. */
function readSetting(name: string, { kind, range, problem }: Setting, given: unknown): unknown {
  if (kind === 'list') {
    const parts = typeof given === 'string' ? given.split(',').map((part) => part.trim()) : given;
    if (!Array.isArray(parts) || !parts.every((part) => typeof part === 'string'))
      throw new InvalidInput(name, 'must be a list of texts');
    const list = parts.filter(Boolean);
    for (const part of list) refuse(name, problem?.(part));
    return list;
  }
  if (kind === 'flag') {
    if (typeof given === 'boolean') return given;
    if (given === 'true' || given === 'false') return given === 'true';
    throw new InvalidInput(name, 'must be true or false');
  }
  if (kind === 'integer') {
    const number = typeof given === 'string' && /^\d{1,15}$/.test(given) ? Number(given) : given;
    const [from, to] = range ?? [0, Number.MAX_SAFE_INTEGER];
    if (Number.isSafeInteger(number) && (number as number) >= from && (number as number) <= to) return number;
    throw new InvalidInput(name, `must be an integer from ${from} to ${to}`);
  }
  if (typeof given !== 'string' || given === '') throw new InvalidInput(name, 'must be a text that is not empty');
  refuse(name, problem?.(given));
  return given;
}

function refuse(name: string, problem: string | null | undefined): void {
  if (typeof problem === 'string') throw new InvalidInput(name, problem);
}

/** The file's settings: the one that is named must be there, ./recoup.yaml may be. */
function readFile(path: string | undefined): { path: string | undefined; settings: Record<string, unknown> } {
  let text: string;
  try {
    text = readFileSync(path ?? FILE, 'utf8');
  } catch {
    if (path !== undefined) throw new InvalidInput('config', `cannot be read: ${path}`);
    return { path: undefined, settings: {} };
  }
  const settings = readYaml(path ?? FILE, text) ?? {};
  if (typeof settings !== 'object' || Array.isArray(settings))
    throw new InvalidInput(path ?? FILE, 'must hold settings by name');
  for (const name of Object.keys(settings as object)) {
    if (!Object.hasOwn(SETTINGS, name)) throw new InvalidInput(name, `is not a setting; known: ${NAMES.join(', ')}`);
  }
  return { path: path ?? FILE, settings: settings as Record<string, unknown> };
}

/** Every setting with where it came from. `flags` holds what the command line named. */
export function resolveSettings(
  flags: Record<string, unknown>,
  env: NodeJS.ProcessEnv = process.env,
  configFile?: string,
): Resolved {
  const file = readFile(configFile ?? env.RECOUP_CONFIG);
  const values: Record<string, unknown> = {};
  const from: Record<string, Origin> = {};
  for (const name of NAMES) {
    const setting = SETTINGS[name] as Setting;
    const candidates: [Origin, unknown][] = [
      ['flag', flags[name]],
      ['environment', envOf(name, env)],
      ['file', file.settings[name]],
    ];
    const found = candidates.find(([, value]) => value !== undefined);
    from[name] = found?.[0] ?? 'default';
    values[name] = found ? readSetting(name, setting, found[1]) : setting.fallback;
  }
  const unknown = Object.keys(env).filter((name) => /^RECOUP_/.test(name) && !KNOWN.has(name) && !OTHERS.test(name));
  return { values: values as Settings, from: from as Record<SettingName, Origin>, file: file.path, unknown };
}

/** The settings as rows for people: secrets only say that they are set. */
export function describeSettings({ values, from, file }: Resolved): Record<string, unknown>[] {
  return NAMES.map((name) => {
    const value = values[name];
    const { secret, about } = SETTINGS[name] as Setting;
    const set = value !== undefined && !(Array.isArray(value) && value.length === 0);
    return {
      setting: name,
      value: secret && set ? '(set)' : (value ?? null),
      from: from[name] === 'file' ? (file ?? FILE) : from[name],
      flag: `--${kebab(name)}`,
      environment: envName(name),
      about,
    };
  });
}
