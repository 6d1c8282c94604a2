// npm run console:shots: every page as a picture, in both themes, with data, into docs/console/ (or the folder that is named).
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { RecoupClient } from '@recoup/client';
import { startEmbedded } from '../../server/src/embedded/embedded.ts';
import { startService } from '../../server/src/service.ts';
import { PAGES } from './support/addresses.ts';
import { launch, open, type Theme, visit } from './support/browser.ts';
import { fill } from './support/data.ts';

const [folder = 'docs/console', ...flags] = process.argv.slice(2);
const to = resolve(import.meta.dirname, '../../..', folder);
mkdirSync(to, { recursive: true });
const empty = flags.includes('--empty');
const widths = flags.includes('--widths') ? [320, 768, 1280] : [1280];

const server = await startEmbedded({ throwaway: true });
const service = await startService({ open: { connection: server.url, migrate: true }, port: 0 });
const browser = await launch();
try {
  if (!empty) await fill(new RecoupClient({ url: service.url }));
  for (const theme of ['light', 'dark'] satisfies Theme[]) {
    for (const width of widths) {
      const opened = await open(browser, service.url, { theme, width });
      for (const [name, path] of Object.entries(PAGES)) {
        await visit(opened, path);
        const file = `${name}-${theme}${width === 1280 ? '' : `-${width}`}.png`;
        await opened.page.screenshot({ path: join(to, file), fullPage: true });
        for (const wrong of opened.wrongs.splice(0)) console.error(`${file}: ${wrong}`);
      }
      await opened.context.close();
    }
  }
  console.log(`${Object.keys(PAGES).length} pages in ${to}`);
} finally {
  await browser.close();
  await service.close();
  await server.stop();
}
