// Sends the request that asks whether an upstream works again: with its credential, to a checked address, without redirects.
import { request as http, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as https } from 'node:https';
import type { HttpProbe, HttpProber, ProbeQuestion } from 'recoup';
import { addressesOf, only } from '../deliveries/addresses.ts';
import { secretFor } from './credentials.ts';

export interface ProberOptions {
  /** Send to loopback, private and link-local addresses too. */
  allowPrivate: boolean;
  /** A file with secrets by the references that upstreams have (YAML or JSON, see credentials.ts); read for each question, so that it may change. */
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
  const headers = await headersOf(question, probe, url, options);
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

async function headersOf(question: ProbeQuestion, probe: HttpProbe, url: URL, options: ProberOptions) {
  const entries = Object.entries(probe.headers ?? {});
  if (!entries.some(([, value]) => value.includes('{credential}'))) return { 'user-agent': 'Recoup', ...probe.headers };
  if (url.protocol !== 'https:' && !options.allowPrivate) throw new Error('a credential is sent by https only');
  const secret = await secretFor(question.credentialRef, url.host, options.credentialsFile);
  const filled = entries.map(([name, value]) => [name, value.replaceAll('{credential}', () => secret)]);
  return { 'user-agent': 'Recoup', ...Object.fromEntries(filled) } as Record<string, string>;
}
