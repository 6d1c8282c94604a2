#!/usr/bin/env node
// The `recoup` command. A file of its own because npm links a command only where its file is there before the build.
import { existsSync } from 'node:fs';

const main = new URL('../dist/cli/main.js', import.meta.url);
if (existsSync(main)) await import(main.href);
else {
  console.error('recoup is not built here: npm run build (it needs the development dependencies).');
  process.exitCode = 1;
}
