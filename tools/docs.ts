// npm run docs: writes the pages and the parts of clients that come from the code; with --check it only says which of them are not up to date.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { generatedPages } from './pages.ts';

const check = process.argv.includes('--check');
let stale = 0;
for (const [path, text] of Object.entries(await generatedPages())) {
  const url = new URL(`../${path}`, import.meta.url);
  let before = '';
  try {
    before = readFileSync(url, 'utf8');
  } catch {
    // Not written yet.
  }
  if (before === text) continue;
  stale += 1;
  if (check) console.error(`${path} is not what the code says: npm run docs`);
  else {
    mkdirSync(new URL('.', url), { recursive: true });
    writeFileSync(url, text);
    console.log(`wrote ${path}`);
  }
}
if (check && stale > 0) process.exit(1);
