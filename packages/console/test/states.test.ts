// Pages with nothing to show, and with somebody who may not do everything.
import { describe, expect, test } from 'vitest';
import { PAGES } from './support/addresses.ts';
import { axe, overflow, visit } from './support/browser.ts';
import { standing } from './support/stand.ts';

describe('without any data', () => {
  const stand = standing({ empty: true });

  test('every page says what will be there and what makes it appear', async () => {
    const says: Partial<Record<keyof typeof PAGES, string>> = {
      now: 'Nothing needs you: no job waits.',
      wallets: 'No wallet yet',
      wallet: 'There is no wallet of that id',
      job: 'There is no job of that id',
      'dead-letters': 'Nothing has died',
      pools: 'No pool yet',
      pool: 'No upstream is in this pool',
      upstream: 'There is no upstream of that id',
      subscriptions: 'No subscription yet',
      subscription: 'There is no subscription of that id',
      inbox: 'Nothing needs you',
    };
    await stand().page({ width: 320 }, async (opened) => {
      for (const [name, text] of Object.entries(says)) {
        await visit(opened, PAGES[name as keyof typeof PAGES]);
        await opened.page.getByText(text).first().waitFor();
        expect([name, await axe(opened), await overflow(opened)]).toEqual([name, [], 0]);
      }
      await visit(opened, '/no-such-page');
      await opened.page.getByText('There is no such page').waitFor();
    });
  });
});

describe('where keys are asked for', () => {
  const stand = standing({ requireKeys: true });

  test('a support key sees and explains, and does not redrive a filter; signed out it sees nothing', async () => {
    const { secret } = await stand().api.service.keys.create({ name: 'helen', scopes: ['support'] });
    await stand().page({}, async (opened) => {
      const { page } = opened;
      await page.goto('/wallets/ada?seq=4');
      await page.waitForURL(/\/sign-in/);
      await page.getByLabel('API key').fill('rcp_nonsense');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('No key is so').waitFor();
      await page.getByLabel('API key').fill(secret);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('Entry 4 of 7').waitFor();
      await page.getByText('helen · support').waitFor();
      await visit(opened, '/dead-letters');
      const redrive = page.getByRole('button', { name: 'Redrive all…' });
      expect([await redrive.isDisabled(), await redrive.getAttribute('title')]).toEqual([
        true,
        'Needs a key with the scope operator.',
      ]);
      // One by one it may.
      await visit(opened, '/wallets/acme-video/jobs/render-1');
      await page.getByRole('button', { name: 'Redrive' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Redrive' }).click();
      await page.getByText('Done: redriven.').waitFor();
      // No script sees the session, and nothing else is kept of the key.
      expect(await page.evaluate('document.cookie + JSON.stringify(localStorage)')).not.toMatch(/rcp_|recoup_/);
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByLabel('API key').waitFor();
      await page.goto('/wallets/ada');
      await page.waitForURL(/\/sign-in/);
    });
  });

  test('the link that was printed opens it once, and does not stay in the address', async () => {
    const link = stand().api.service.sessions.link()!;
    await stand().page({}, async ({ page }) => {
      await page.goto(`/sign-in#${link}`);
      await page.getByRole('heading', { level: 1, name: 'Now' }).waitFor();
      expect(page.url()).not.toContain(link);
    });
    await stand().page({}, async ({ page }) => {
      await page.goto(`/sign-in#${link}`);
      await page.getByText('This link was used').waitFor();
    });
  });
});
