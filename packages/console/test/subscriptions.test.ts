// Subscriptions in a real browser: found by customer and state, with what happens next, and what was granted for which payment.
import { expect, test } from 'vitest';
import { visit } from './support/browser.ts';
import { standing } from './support/stand.ts';

const stand = standing();

test('a subscription is found by its state and its customer, says what happens next, and leads to what it granted', async () => {
  await stand().page({}, async (opened) => {
    const { page } = opened;
    await visit(opened, '/');
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await page.waitForURL('**/subscriptions');
    const table = page.getByRole('region', { name: 'Subscriptions with what happens next' });
    await table.getByRole('link', { name: 'sub-mia' }).waitFor();
    expect(await table.getByRole('row').count()).toBe(4);
    await page.getByLabel('State').selectOption('pending');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.waitForURL(/status=pending/);
    await table.getByText('waits for its first payment').waitFor();
    expect(await table.getByRole('row').count()).toBe(2);
    // Somebody else opens the link and sees the same.
    await visit(opened, '/subscriptions?customer=mia');
    await table.getByText('ends with its period').waitFor();
    await table.getByRole('link', { name: 'sub-mia' }).click();
    await page.waitForURL(/\/subscriptions\/sub-mia$/);
    const history = page.getByRole('region', { name: 'What happened to the subscription' });
    await history.getByText('in_1001').first().waitFor();
    await page.getByRole('link', { name: 'mia' }).click();
    await page.getByText('+1,000 grant').waitFor();
    await visit(opened, '/subscriptions?customer=nobody');
    await page.getByText('No subscription is so').waitFor();
  });
});
