// Upstreams: what is registered, what callers may say, and what is refused.
import { expect } from 'vitest';
import { poolOf, soft } from './support/pools.ts';
import { newId, staging } from './support/stage.ts';

const { onFirst } = staging();

onFirst('wrong input is refused with its field, and nothing is there that was not', async (s) => {
  const { names } = await poolOf(s, 1);
  const { upstreams } = s.recoup;
  const wrong: [Promise<unknown>, string, string][] = [
    [upstreams.register({ upstream: '', pool: 'p', provider: 'x' }), 'invalid', 'upstream'],
    [upstreams.register({ upstream: newId('u'), pool: 'p', provider: 'x', weight: 0 }), 'invalid', 'weight'],
    [upstreams.report({ upstream: names[0]!, success: true, block: soft }), 'invalid', 'block'],
    [
      upstreams.report({ upstream: names[0]!, success: false, block: { ...soft, source: 'retry_after' } }),
      'invalid',
      'block.forMs',
    ],
    [
      upstreams.report({ upstream: names[0]!, success: false, block: { ...soft, scope: 'opus' } }),
      'invalid',
      'block.scope',
    ],
    [upstreams.select({ pool: 'p', leaseMs: 1 }), 'invalid', 'leaseMs'],
  ];
  for (const [call, code, field] of wrong) await expect(call).rejects.toMatchObject({ code, details: { field } });
  await expect(upstreams.change(newId('unknown'), { weight: 2 })).rejects.toMatchObject({ code: 'no_upstream' });
  await expect(upstreams.report({ upstream: newId('unknown'), success: true })).rejects.toMatchObject({
    code: 'no_upstream',
  });
  await expect(upstreams.free(9_999_999)).rejects.toMatchObject({ code: 'no_block' });
  await expect(upstreams.register({ upstream: names[0]!, pool: 'other', provider: 'x' })).rejects.toMatchObject({
    code: 'conflict',
  });
});
