// Sends the request that asks whether an upstream works again: with its credential, to a checked address, without redirects.
import { readFile } from 'node:fs/promises';
import { request as http, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as https } from 'node:https';
import type { HttpProbe, HttpProber, ProbeQuestion } from 'recoup';
import { readYaml } from '../cli/yaml.ts';
import { addressesOf, only } from '../deliveries/addresses.ts';

export interface ProberOptions {
  /** Send to loopback, private and link-local addresses too. */
  allowPrivate: boolean;
  /** A file with secrets by the references that upstreams have (YAML or JSON); read for each question, so that it may change. */
  credentialsFile?: string;
}

const MAX_BODY = 65_536;

/** What it throws means that it could not tell: no address, no credential, no answer. Secrets are in no message. */
export function httpProber(options: ProberOptions): HttpProber {
  return async (question, probe) => {
    const { status, headers, body } = await send(question, probe, options);
    const { yes } = probe;
    if (yes && (yes.status?.includes(status) ?? true) && (yes.includes === undefined || body.includes(yes.includes)))
      return 'yes';
    return { answer: { status, headers, body } };
  };
}

async function send(question: ProbeQuestion, probe: HttpProbe, options: ProberOptions) {
  const { signal } = question;
  const names = { upstream: question.upstream, model: question.model ?? '' };
  const url = new URL(
    probe.url.replaceAll(/\{(upstream|model)\}/g, (_, name: keyof typeof names) => encodeURIComponent(names[name])),
  );
  const headers = await headersOf(question, probe, options.credentialsFile);
  const addresses = await addressesOf(url.hostname, options.allowPrivate);
  const settings: RequestOptions = {
    method: probe.method ?? 'GET',
    headers,
    agent: false,
    lookup: only(addresses),
    signal,
  };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sending = (url.protocol === 'https:' ? https : http)(url, settings, resolve).on('error', reject);
    sending.end(probe.body);
  });
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= MAX_BODY) break;
  }
  response.destroy();
  const body = Buffer.concat(chunks).subarray(0, MAX_BODY).toString('utf8');
  return { status: response.statusCode ?? 0, headers: response.headers as Record<string, string>, body };
}

async function headersOf(question: ProbeQuestion, probe: HttpProbe, file: string | undefined) {
  const entries = Object.entries(probe.headers ?? {});
  const needed = entries.some(([, value]) => value.includes('{credential}'));
  const secret = needed ? await secretOf(question.credentialRef, file) : '';
  return Object.fromEntries(entries.map(([name, value]) => [name, value.replaceAll('{credential}', () => secret)]));
}

async function secretOf(ref: string | null, file: string | undefined): Promise<string> {
  if (ref === null) throw new Error('the upstream has no reference to a credential');
  if (file === undefined) throw new Error('no file of credentials is set here');
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`the file of credentials cannot be read (${error.code})`);
  });
  const secrets = readYaml('probeCredentials', text) as Record<string, unknown> | null;
  const secret = secrets !== null && Object.hasOwn(secrets, ref) ? secrets[ref] : undefined;
  if (typeof secret !== 'string' || !/^[\x21-\x7e]+$/.test(secret))
    throw new Error(
      'the file of credentials has none for the reference of the upstream, or it is no line of printable ASCII',
    );
  return secret;
}
