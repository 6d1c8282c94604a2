// The request of an HTTP prober, checked: method, address, headers, what counts as a yes. Who sends it is another's business.
import { InvalidInput } from '../errors.ts';
import * as check from '../input.ts';

/** A request that asks whether an upstream works again. `{credential}` stands for its secret in headers, `{upstream}` and `{model}` for their names in the address. */
export interface HttpProbe {
  /** GET unless set. */
  method?: (typeof METHODS)[number];
  /** https, or http. Placeholders stand behind the host only. */
  url: string;
  headers?: Readonly<Record<string, string>>;
  /** Sent as it is; give a `content-type` beside it. */
  body?: string;
  /** What counts as a yes. Unless set, or where it does not apply, the answer is decoded as the answers of uses are. */
  yes?: {
    /** One of these statuses. */
    status?: readonly number[];
    /** And this text in the body. */
    includes?: string;
  };
}

export const METHODS = ['GET', 'HEAD', 'POST'] as const;
/** What the process that sends sets itself. */
const RESERVED = /^(host|content-length|connection|transfer-encoding|upgrade|te|trailer|expect|keep-alive|proxy-.*)$/i;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;

export function httpInput(given: HttpProbe): HttpProbe {
  check.onlyFields('http', given, ['method', 'url', 'headers', 'body', 'yes']);
  const body = check.text('http.body', given.body, 20_000);
  const method = check.oneOf('http.method', given.method ?? 'GET', METHODS);
  if (body !== null && method !== 'POST') throw new InvalidInput('http.body', 'belongs to method POST');
  return {
    method,
    url: urlInput(given.url),
    headers: headersInput(given.headers),
    ...(body === null ? {} : { body }),
    ...(given.yes === undefined ? {} : { yes: yesInput(given.yes) }),
  };
}

function urlInput(value: unknown): string {
  const text = check.text('http.url', value, 2000);
  const rule = 'must be a https or http address without user, password or fragment; placeholders stand behind the host';
  if (text === null || !URL.canParse(text)) throw new InvalidInput('http.url', rule);
  const url = new URL(text);
  const plain = url.username === '' && url.password === '' && url.hash === '';
  if (!/^https?:$/.test(url.protocol) || !plain || /[{}]|%7b/i.test(url.host)) throw new InvalidInput('http.url', rule);
  if (text.includes('{credential}'))
    throw new InvalidInput('http.url', 'has no place for {credential}: addresses are logged; put it in a header');
  return text;
}

function headersInput(value: unknown): Record<string, string> {
  if ((value ?? null) === null) return {};
  if (typeof value !== 'object' || Array.isArray(value))
    throw new InvalidInput('http.headers', 'must be texts by name');
  const entries = Object.entries(value as object);
  if (entries.length > 30) throw new InvalidInput('http.headers', 'must be at most 30');
  return Object.fromEntries(
    entries.map(([name, text]) => {
      if (!TOKEN.test(name) || RESERVED.test(name))
        throw new InvalidInput('http.headers', 'must have names of headers that a request of yours may set');
      if (typeof text !== 'string' || text.length > 2000 || !/^[\t\x20-\x7e]*$/.test(text))
        throw new InvalidInput(`http.headers.${name}`, 'must be at most 2000 printable ASCII characters');
      return [name.toLowerCase(), text];
    }),
  );
}

function yesInput(given: NonNullable<HttpProbe['yes']>): NonNullable<HttpProbe['yes']> {
  check.onlyFields('http.yes', given, ['status', 'includes']);
  const includes = check.text('http.yes.includes', given.includes, 500);
  const status = given.status?.map((one) => check.integer('http.yes.status', one, 200, 599));
  if (includes === null && (status === undefined || status.length === 0))
    throw new InvalidInput('http.yes', 'needs status or includes');
  return { ...(status ? { status } : {}), ...(includes === null ? {} : { includes }) };
}
