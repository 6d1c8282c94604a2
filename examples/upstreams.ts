// A pool of accounts at a provider: what is limited or revoked is passed over, by every process, until it works or a person acts.
import { randomUUID } from 'node:crypto';
import { type Explained, open } from 'recoup';
import { readRules } from 'recoup/decoders';
import { run } from './support.ts';

/** A provider with three accounts: the first is limited for now, the key of the second was revoked. */
async function call(credential: string, prompt: string): Promise<Response> {
  const says = (status: number, error: object, headers = {}) => Response.json({ error }, { status, headers });
  if (credential === 'vault/first') return says(429, { message: 'slow down' }, { 'retry-after': '30' });
  if (credential === 'vault/second') return says(403, { code: 'acme_revoked', message: 'this key was revoked' });
  if (prompt === '') return says(400, { message: 'no prompt' });
  return Response.json({ text: `${prompt}!` });
}

export async function main(url: string) {
  const pool = `chat-${randomUUID()}`;

  // docs: upstreams
  // What your own provider says in its own words; of OpenAI, Anthropic, Google and others it is known.
  const decoderRules = readRules({
    rules: [{ name: 'revoked', provider: 'acme', code: 'acme_revoked', class: 'auth_revoked' }],
  });
  const recoup = await open({ connection: url, migrate: true, decoderRules });

  for (const [priority, account] of ['first', 'second', 'third'].entries()) {
    const credentialRef = `vault/${account}`;
    const upstream = `${pool}/${account}`;
    await recoup.upstreams.register({ upstream, pool, provider: 'acme', credentialRef, priority, maxConcurrency: 20 });
  }

  /** The answer of the first account that gives one; null where the request is wrong, or none is left. */
  async function ask(prompt: string): Promise<string | null> {
    for (;;) {
      const { upstream, credentialRef, lease } = await recoup.upstreams.select({ pool });
      // In a handler: `throw new Release('no capacity', { delayMs: retryAfterMs })`.
      if (upstream === null) return null;
      const response = await call(credentialRef!, prompt);
      const [{ status, headers }, body] = [response, await response.text()];
      const answer = { status, headers, body };
      const { class: trouble } = await recoup.upstreams.report({ upstream, lease: lease!, answer });
      if (trouble === null) return JSON.parse(body).text;
      if (trouble === 'request_scoped') return null;
    }
  }
  // end

  const answers = [await ask('hello'), await ask(''), await ask('again')];
  const explained = await recoup.upstreams.explain({ pool });
  const [, second] = explained as [Explained, Explained, Explained];
  const [item] = await recoup.inbox.list({ pool });
  const taken = await recoup.inbox.take(item!.item, { actor: 'ann' });
  const replaced = await recoup.upstreams.replaceCredential(second.upstream, { actor: 'ann', reason: 'a new key' });
  const history = await recoup.upstreams.history(second.upstream);
  const left = await recoup.inbox.list({ pool });
  await recoup.close();
  return {
    answers,
    failing: explained.map(({ failing }) => failing.map(({ kind, nextStep }) => nextStep ?? kind)),
    inbox: [item!.kind, taken.owner, left.length],
    replaced: replaced.outcome,
    history: history.map(({ type, actor }) => `${type} by ${actor ?? 'a report'}`),
  };
}

await run(import.meta, main);
