// A job given to a URL: the payload as the body of a POST, who it is in headers, what became of it as the status.
import { Done, Failure, type Handler, Release } from 'recoup';
import { retryAfterOf } from './retry-after.ts';

export interface PostOptions {
  url: string;
  /** More headers of each request, such as an authorization. */
  headers: Readonly<Record<string, string>>;
}

/** More than a result may have. */
const MAX_BODY = 2 * 1_048_576;
/** The endpoint refuses us, not the job: somebody has to put it right, and no job must fail meanwhile. */
const REFUSED = [401, 403, 407];
const REFUSED_DELAY_MS = 60_000;
/** Of the 4xx those that say nothing about the job. */
const PASSING = [408, 409, 421, 423, 425];

/** A handler that posts each attempt. */
export function postHandler({ url, headers }: PostOptions): Handler {
  return async (work) => {
    const { wallet, id, attempt, job, earlier, upstream, signal } = work;
    // Ids may have characters that no header takes.
    const who = {
      'recoup-wallet': encodeURIComponent(wallet),
      'recoup-job': encodeURIComponent(id),
      'recoup-attempt': String(attempt),
      'recoup-queue': encodeURIComponent(job.queue ?? ''),
      ...(upstream ? { 'recoup-upstream': encodeURIComponent(upstream.upstream) } : {}),
      ...(upstream?.credentialRef ? { 'recoup-credential-ref': encodeURIComponent(upstream.credentialRef) } : {}),
      ...(earlier?.upstreamRef ? { 'recoup-earlier-ref': encodeURIComponent(earlier.upstreamRef) } : {}),
    };
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/json', ...headers, ...who },
      body: JSON.stringify(work.payload ?? null),
      signal,
    }).catch((error: Error) => {
      throw new Failure(`no answer: ${(error.cause as Error | undefined)?.message || error.message}`, { cause: error });
    });
    const said = saidBy(response);
    if (!response.ok) {
      await response.body?.cancel();
      throw failureOf(response, said);
    }
    const result = await bodyOf(response);
    if (response.status === 202 && said.upstreamRef !== undefined) {
      await work.handOver({ upstreamRef: said.upstreamRef });
      return null;
    }
    return new Done(result, said);
  };
}

function saidBy({ headers }: Response): { finalPrice?: number; upstreamRef?: string } {
  const finalPrice = headers.get('recoup-final-price');
  const upstreamRef = headers.get('recoup-upstream-ref');
  return {
    ...(finalPrice === null ? {} : { finalPrice: /^\d{1,16}$/.test(finalPrice) ? Number(finalPrice) : Number.NaN }),
    ...(upstreamRef === null ? {} : { upstreamRef: decoded(upstreamRef) }),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function failureOf(response: Response, { upstreamRef }: { upstreamRef?: string }): Failure | Release {
  const { status } = response;
  const reason = `status ${status}`;
  const retryAfterMs = retryAfterOf(response.headers.get('retry-after'));
  if (status === 429) return new Release(reason, { delayMs: retryAfterMs ?? 1000 });
  if (REFUSED.includes(status)) return new Release(reason, { delayMs: REFUSED_DELAY_MS });
  const ref = upstreamRef === undefined ? {} : { upstreamRef };
  if (status >= 400 && status < 500 && !PASSING.includes(status)) {
    return new Failure(reason, { verdict: 'definitive', retryable: false, ...ref });
  }
  return new Failure(reason, { ...(retryAfterMs === undefined ? {} : { retryAfterMs }), ...ref });
}

async function bodyOf(response: Response): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size <= MAX_BODY) chunks.push(chunk);
  }
  if (size > MAX_BODY) {
    throw new Failure('the answer is larger than 1 MiB of JSON', { verdict: 'definitive', retryable: false });
  }
  const text = Buffer.concat(chunks).toString('utf8');
  if (text === '') return null;
  if (!/[/+]json\b/.test(response.headers.get('content-type') ?? '')) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
