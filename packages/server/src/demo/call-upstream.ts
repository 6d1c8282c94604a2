// One call of the upstream over HTTP, and what its answer means.
import { type Checked, Failure, type ProviderAnswer } from 'recoup';

export interface Call {
  /** The upstream's. */
  url: string;
  job: string;
  attempt: number;
  ms: number;
  callback: string;
  signal: AbortSignal;
  /** Of the account that it runs on. */
  key?: string;
}

/** The provider said something about the account, not about the job: nothing was done. */
export class AccountRefused extends Failure {
  override readonly answer: ProviderAnswer;
  constructor(answer: ProviderAnswer, retryAfterMs?: number) {
    super(`upstream ${answer.status}`, { verdict: 'definitive', ...(retryAfterMs ? { retryAfterMs } : {}) });
    this.answer = answer;
  }
}

/** Gives the result; throws a Failure where the upstream answered anything else, and what fetch throws where it did not. */
export async function callUpstream({ url, job, attempt, ms, callback, signal, key }: Call): Promise<unknown> {
  const response = await fetch(`${url}/v1/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key ? { authorization: `Bearer ${key}` } : {}) },
    body: JSON.stringify({ id: job, attempt, ms, callback }),
    signal,
  });
  const body = (await response.json()) as { result?: unknown; error?: string | object };
  if (response.ok) return body.result;
  const retryAfterMs = Number(response.headers.get('retry-after')) * 1000;
  // What the flaky upstream says of a job is a text.
  if (typeof body.error === 'object')
    throw new AccountRefused({ status: response.status, headers: response.headers, body }, retryAfterMs);
  const reason = `upstream ${response.status}: ${body.error}`;
  // A 5xx does not say that nothing was done. A 4xx does.
  if (response.status >= 500) throw new Failure(reason, { verdict: 'presumed' });
  if (response.status !== 429) throw new Failure(reason, { verdict: 'definitive', retryable: false });
  throw new Failure(reason, { verdict: 'definitive', retryAfterMs });
}

/** Asks whether the work was done after all. */
export async function askUpstream(url: string, job: string): Promise<Checked> {
  const response = await fetch(`${url}/v1/run/${encodeURIComponent(job)}`);
  const body = (await response.json()) as { status?: 'succeeded' | 'working' | 'failed'; result?: unknown };
  if (response.status === 404 || body.status === 'failed') return { status: 'failed' };
  if (body.status === 'working') return { status: 'working' };
  return { status: 'succeeded', result: body.result };
}
