// Runs the lines of the recipe on webhooks as they stand there, against a service of their own.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { startService } from '@recoup/server/service';
import { testDatabase } from 'recoup/testing';
import { expect, inject, test } from 'vitest';

test('the lines of the recipe settle the job once', async () => {
  const page = readFileSync(new URL('../docs/recipes/webhooks.md', import.meta.url), 'utf8');
  const lines = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text]) => text);
  expect(lines).toHaveLength(4);
  const database = await testDatabase(inject('servers')[0]!.url);
  const secret = `whsec_${randomBytes(24).toString('base64')}`;
  const service = await startService({
    open: { connection: database.url },
    port: 0,
    requireKeys: true,
    webhookSecrets: { generic: [secret] },
  });
  try {
    const { secret: key } = await service.keys.create({ name: 'recipe', scopes: ['app', 'worker'] });
    const env = { ...process.env, RECOUP_URL: service.url, RECOUP_KEY: key, SECRET: secret };
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', lines.join('\n')], { env });
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(answers).toMatchObject([
      { outcome: 'opened' },
      { outcome: 'granted' },
      { outcome: 'charged' },
      { jobs: [{ job: { id: 'video-1', attempt: 1 } }] },
      { outcome: 'handed_over' },
      { outcome: 'succeeded', wallet: 'ann', job: 'video-1' },
      { outcome: 'duplicate', wallet: 'ann', job: 'video-1' },
      { booked: 65, held: 0 },
    ]);
  } finally {
    await service.close();
    await database.drop();
  }
});
