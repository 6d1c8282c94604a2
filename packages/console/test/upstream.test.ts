// The upstream's page in a real browser: why it is out and since when, its limits, what its provider said, and what a person does about it.
import { expect, test } from 'vitest';
import { visit } from './support/browser.ts';
import { standing } from './support/stand.ts';

const stand = standing();

test('an upstream says why it is out, since when and who says so; a person ends the block and it is picked again', async () => {
  await stand().page({}, async (opened) => {
    const { page } = opened;
    await visit(opened, '/pools/video');
    await page.getByRole('link', { name: 'gpu-b' }).click();
    await page.waitForURL(/\/upstreams\/gpu-b$/);
    const checks = page.getByRole('region', { name: 'Checks that fail' });
    await checks.getByText('rate limited').first().waitFor();
    expect(await checks.getByRole('row').count()).toBe(2);
    const history = page.getByRole('region', { name: 'What happened to the upstream' });
    await history.getByText('registered').first().waitFor();
    expect(await history.getByRole('row').allTextContents()).toEqual([
      expect.stringContaining('Who and why'),
      expect.stringMatching(/opened · rate limited/),
      expect.stringMatching(/registered/),
    ]);
    expect(await page.getByRole('img', { name: /^Blocked 1 time within .*; 1 block open now/ }).count()).toBe(1);
    await page.getByRole('button', { name: 'End the block' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Why').fill('the provider says it is fine');
    await dialog.getByRole('button', { name: 'End the block' }).click();
    await page.getByText('Done: closed.').waitFor();
    await page.getByText('It is picked when its turn comes.').waitFor();
    await history.getByText('the provider says it is fine').waitFor();
    expect(await page.getByRole('img', { name: /; 0 blocks open now/ }).count()).toBe(1);
  });
});

test('a limit that is used up is reset with a reason, and says so', async () => {
  await stand().page({}, async (opened) => {
    const { page } = opened;
    await visit(opened, '/upstreams/gpu-c');
    const limits = page.getByRole('region', { name: 'Limits of the upstream' });
    await limits.getByText('1 of 1 requests').waitFor();
    await limits.getByRole('button', { name: 'Reset' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Why').fill('paid for more');
    await dialog.getByRole('button', { name: 'Reset' }).click();
    await page.getByText('Done: reset.').waitFor();
    await limits.getByText('0 of 1 requests').waitFor();
    await page.getByText('It is picked when its turn comes.').waitFor();
  });
});
