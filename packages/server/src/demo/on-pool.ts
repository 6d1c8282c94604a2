// One job on an account of the pool: chosen by Recoup, and told what its provider said.
import { type Recoup, Release } from 'recoup';
import { accounts, POOL } from './accounts.ts';
import { AccountRefused } from './call-upstream.ts';
import { rules } from './design.ts';

/**
 * Gives what `call` gives. An account that is refused is reported, and the job goes on with another one: no failure of the job is counted.
 * Where none is usable the attempt is given back.
 */
export async function onPool(
  recoup: Recoup,
  holder: string,
  call: (key: string) => Promise<unknown>,
): Promise<unknown> {
  for (let tries = 0; tries < accounts.length; tries++) {
    const taken = await recoup.upstreams.select({ pool: POOL, holder, leaseMs: rules.leaseMs });
    if (taken.outcome === 'none')
      throw new Release('no account is usable', { delayMs: Math.min(taken.retryAfterMs!, 500) });
    const [upstream, lease] = [taken.upstream!, taken.lease!];
    try {
      const result = await call(taken.credentialRef!);
      await recoup.upstreams.report({ upstream, lease, success: true });
      return result;
    } catch (error) {
      if (!(error instanceof AccountRefused)) {
        // What went wrong with this job says nothing about the account.
        await recoup.upstreams.release(lease);
        throw error;
      }
      await recoup.upstreams.report({ upstream, lease, answer: error.answer });
    }
  }
  throw new Release('every account that was tried was refused');
}
