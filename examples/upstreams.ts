// A pool of accounts at a provider: what is limited or revoked is passed over, by every process, until it works or a person acts.
import { randomUUID } from 'node:crypto';
import { type BlockFacts, type Explained, open } from 'recoup';
import { run } from './support.ts';

interface Answer {
  status: number;
  retryAfter?: number;
  text?: string;
}

/** A provider with three accounts: the first is limited for now, the key of the second was revoked. */
async function call(credential: string, prompt: string): Promise<Answer> {
  if (credential === 'vault/first') return { status: 429, retryAfter: 30 };
  if (credential === 'vault/second') return { status: 401 };
  if (prompt === '') return { status: 400 };
  return { status: 200, text: `${prompt}!` };
}

export async function main(url: string) {
  const recoup = await open({ connection: url, migrate: true });
  const pool = `chat-${randomUUID()}`;

  // docs: upstreams
  for (const [priority, account] of ['first', 'second', 'third'].entries()) {
    const credentialRef = `vault/${account}`;
    const upstream = `${pool}/${account}`;
    await recoup.upstreams.register({ upstream, pool, provider: 'acme', credentialRef, priority, maxConcurrency: 20 });
  }

  /** What a status says of the account; nothing where the request is to blame. */
  const blockOf = ({ status, retryAfter }: Answer): BlockFacts | undefined => {
    if (status === 401) return { kind: 'auth_revoked', policy: 'manual', nextStep: 'put in a new key' };
    if (status >= 500) return { kind: 'server_error', policy: 'auto' };
    if (status !== 429) return undefined;
    const hint = retryAfter ? ({ source: 'retry_after', forMs: retryAfter * 1000 } as const) : {};
    return { kind: 'rate_limited', policy: 'auto', ...hint };
  };

  /** The answer of the first account that gives one; null where the request is wrong, or none is left. */
  async function ask(prompt: string): Promise<string | null> {
    for (;;) {
      const { upstream, credentialRef, lease } = await recoup.upstreams.select({ pool });
      // In a handler: `throw new Release('no capacity', { delayMs: retryAfterMs })`.
      if (upstream === null) return null;
      const answer = await call(credentialRef!, prompt);
      const block = blockOf(answer);
      const success = answer.status === 200;
      await recoup.upstreams.report({ upstream, lease: lease!, success, ...(block && { block }) });
      if (block === undefined) return answer.text ?? null;
    }
  }
  // end

  const answers = [await ask('hello'), await ask(''), await ask('again')];
  const explained = await recoup.upstreams.explain({ pool });
  const [, second] = explained as [Explained, Explained, Explained];
  const [revoked] = second.failing;
  const freed = await recoup.upstreams.free(revoked!.block!, { as: 'credential', actor: 'ann', reason: 'a new key' });
  const history = await recoup.upstreams.history(second.upstream);
  await recoup.close();
  return {
    answers,
    failing: explained.map(({ failing }) => failing.map(({ kind, nextStep }) => nextStep ?? kind)),
    freed: freed.outcome,
    history: history.map(({ type, actor }) => `${type} by ${actor ?? 'a report'}`),
  };
}

await run(import.meta, main);
