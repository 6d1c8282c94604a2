// A browser from npm packages, pages in it, and what may not happen on them: errors, requests to others, broken policies.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import chromium from '@sparticuz/chromium';
import { type Browser, type BrowserContext, chromium as engine, type Page } from 'playwright-core';

export type { BrowserContext, Page };
export type Theme = 'light' | 'dark';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export async function launch(): Promise<Browser> {
  // Our own: those of the package switch the browser's own checks of origins off, which are among what is tried here.
  const args = [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    '--disable-background-networking',
    '--font-render-hinting=none',
  ];
  return engine.launch({ executablePath: await chromium.executablePath(), args, headless: true });
}

export interface Opened {
  page: Page;
  context: BrowserContext;
  /** What went wrong on it so far; what a test provokes it takes out. */
  wrongs: string[];
}

export interface View {
  theme?: Theme;
  width?: number;
  height?: number;
}

/** A page of its own browser profile, in one time zone, without motion. */
export async function open(browser: Browser, origin: string, view: View = {}): Promise<Opened> {
  const { theme = 'light', width = 1280, height = 800 } = view;
  const context = await browser.newContext({
    baseURL: origin,
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: 'reduce',
    timezoneId: 'Europe/Rome',
    locale: 'en-GB',
  });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const wrongs: string[] = [];
  page.on('pageerror', (error) => wrongs.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') wrongs.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith('data:')) wrongs.push(`asked ${request.url()}`);
  });
  return { page, context, wrongs };
}

/** Opens an address and waits until nothing on it loads any more. */
export async function visit({ page }: Opened, path: string): Promise<void> {
  await page.goto(path);
  await page.locator('h1').first().waitFor();
  await page.locator('.skeleton').first().waitFor({ state: 'detached' });
}

interface Violation {
  id: string;
  nodes: { html: string; failureSummary?: string }[];
}

/** What axe finds against WCAG 2.2 AA, as lines. */
export async function axe({ page }: Opened): Promise<string[]> {
  await page.evaluate(axeSource);
  const violations = (await page.evaluate(
    `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }).then(({ violations }) => violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html, failureSummary }) => ({ html, failureSummary })) })))`,
  )) as Violation[];
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ''}`),
  );
}

/** By how many pixels the page is wider than its window. */
export const overflow = ({ page }: Opened): Promise<number> =>
  page.evaluate(`document.documentElement.scrollWidth - document.documentElement.clientWidth`);
