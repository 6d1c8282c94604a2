// Every page in a real browser: right for whoever cannot see it, in both themes, on a phone, by keyboard, and where a part of it fails.
import { describe, expect, test } from 'vitest';
import { PAGES } from './support/addresses.ts';
import { axe, overflow, visit } from './support/browser.ts';
import { standing } from './support/stand.ts';

const stand = standing();

describe.each([
  ['light', 1280],
  ['dark', 1280],
  ['light', 320],
  ['dark', 768],
] as const)('in the %s theme, %i pixels wide', (theme, width) => {
  test('no page breaks a rule of accessibility, is wider than its window, asks others for anything, or logs an error', async () => {
    await stand().page({ theme, width }, async (opened) => {
      for (const [name, path] of Object.entries(PAGES)) {
        await visit(opened, path);
        expect([name, await axe(opened), await overflow(opened), opened.wrongs]).toEqual([name, [], 0, []]);
      }
    });
  });
});

test('Now ranks what to do first, and each part of it fails alone', async () => {
  await stand().page({}, async ({ page }) => {
    await page.route('**/v1/queues', (route) =>
      route.fulfill({
        status: 503,
        contentType: 'application/problem+json',
        body: '{"code":"database_unavailable","detail":"Gone for now.","status":503}',
      }),
    );
    await page.goto('/');
    await page.getByText('The queues could not be read').waitFor();
    expect(await page.getByRole('alert').textContent()).toContain('Gone for now.');
    expect(await page.locator('.steps li').allTextContents()).toEqual([
      expect.stringMatching(/^gpu-d: auth revoked/),
      expect.stringMatching(/^5 dead letters of video: upstream 500/),
      expect.stringMatching(/^2 dead letters of video/),
    ]);
    await page.unroute('**/v1/queues');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('cell', { name: 'clips' }).waitFor();
  });
});

test('a balance is walked through entry by entry, by keyboard, and the address follows', async () => {
  await stand().page({}, async (opened) => {
    const { page } = opened;
    await visit(opened, '/wallets/ada');
    await page.getByText('Entry 7, the newest').waitFor();
    for (const _ of [1, 2, 3]) await page.keyboard.press('[');
    await page.waitForURL(/seq=4/);
    expect(await page.locator('.says').textContent()).toMatch(
      /^40 credits were taken when the job was submitted, given back .* and taken again .* In the end it cost 40 credits\. The result was delivered\.$/,
    );
    expect(await page.locator('.equation').textContent()).toMatch(/^60=\+100 grant−40 charge\+40 refund−40 reclaim$/);
    // Somebody else opens the link and sees the same.
    await visit(opened, new URL(page.url()).pathname + new URL(page.url()).search);
    await page.getByText('Entry 4 of 7').waitFor();
    await page
      .getByRole('button', { name: /refund/ })
      .first()
      .click();
    await page.waitForURL(/type=refund/);
    expect(await page.locator('tbody tr').count()).toBe(2);
  });
});

test('as of an instant the wallet is what it was then', async () => {
  const { entries } = await stand().client.wallets.entries({ wallet: 'ada' });
  await stand().page({}, async (opened) => {
    await visit(opened, `/wallets/ada?at=${encodeURIComponent(entries[2]!.createdAt)}`);
    const figures = await opened.page.locator('.figures').textContent();
    expect(figures).toContain('Booked then');
    const { booked } = (await stand().client.wallets.balance({ wallet: 'ada', at: entries[2]!.createdAt })) as {
      booked: number;
    };
    expect(figures).toContain(`Booked then${booked}`);
    await visit(opened, '/wallets/ada?at=2001-01-01T00%3A00%3A00Z');
    await opened.page.getByText('Nothing was booked by then').waitFor();
  });
});

test('keys lead to the pages, and a pasted id to what it names, whatever characters it has', async () => {
  await stand().page({}, async (opened) => {
    const { page } = opened;
    await visit(opened, '/');
    await page.keyboard.press('g');
    await page.keyboard.press('w');
    await page.waitForURL('**/wallets');
    await page.getByRole('link', { name: 'a/b & c' }).click();
    await page.getByRole('heading', { level: 1, name: 'a/b & c' }).waitFor();
    await page.getByText('+10 grant').waitFor();
    await page.reload();
    await page.getByText('+10 grant').waitFor();
    for (const [id, heading] of [
      ['ada/video-1', 'video-1'],
      ['pred_7f3a', 'clip-1'],
      ['gpu-d', 'gpu-d'],
      ['sub-sam', 'sub-sam'],
      ['empty', 'empty'],
    ] as const) {
      await page.keyboard.press('/');
      await page.keyboard.type(id);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
    }
    await page.keyboard.press('/');
    await page.keyboard.type('nobody');
    await page.keyboard.press('Enter');
    await page.getByText('Nothing has this id').waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await page.keyboard.press('Escape');
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(opened.wrongs.filter((wrong) => !/404/.test(wrong))).toEqual([]);
  });
});

test('a redrive shows what it would do, then does it, and says what came of it; by keyboard alone', async () => {
  await stand().page({}, async (opened) => {
    const { page } = opened;
    await visit(opened, '/dead-letters?reason=upstream+500+on+%2Frender');
    await page.getByRole('button', { name: 'Redrive these…' }).press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('5 jobs, dead by').waitFor();
    expect(await dialog.textContent()).toContain('600 are taken again');
    expect(await axe(opened)).toEqual([]);
    await dialog.getByRole('button', { name: 'Redrive 5 jobs' }).press('Enter');
    await dialog.getByText('5 jobs redriven.').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).press('Enter');
    await page.getByText('No dead letter matches').waitFor();
  });
  expect((await stand().client.deadLetters.list({})).jobs).toHaveLength(2);
});

test('the theme that was chosen is there before anything is painted', async () => {
  await stand().page({ theme: 'light' }, async (opened) => {
    const { page } = opened;
    await visit(opened, '/');
    for (const name of ['Theme: auto', 'Theme: light']) await page.getByRole('button', { name }).click();
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
    await page.route('**/assets/*.js', () => {});
    await page.goto('/', { waitUntil: 'commit' });
    await page.waitForSelector('html[data-theme="dark"]', { state: 'attached' });
  });
});
