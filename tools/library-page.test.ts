// Holds docs/library.md to the library: every public method, option, queue setting and exported name is on it.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');
const source = (path: string) => readFileSync(join(root, 'packages/recoup', path), 'utf8');
const page = readFileSync(join(root, 'docs/library.md'), 'utf8');
/** What the page sets as code: blocks, and what stands between backticks. */
const code = (page.match(/^```[\s\S]*?^```|`[^`]+`/gm) ?? []).join('\n');

/** The text of a class or an interface, without the line that opens it and the one that closes it. */
function body(path: string, name: string): string {
  const found = new RegExp(`^export (?:class|interface) ${name}\\b[^\\n]*\\{\\n([\\s\\S]*?)^\\}`, 'm').exec(
    source(path),
  );
  if (!found) throw new Error(`${path} has no ${name}`);
  return found[1]!;
}
const names = (text: string, pattern: RegExp) => [...new Set([...text.matchAll(pattern)].map(([, name]) => name!))];
const methods = (text: string) =>
  names(text, /^ {2}(?:async )?(?:get )?\*?([a-z]\w*)(?:<[^(]*>)?\(/gm).filter((name) => name !== 'constructor');
const fields = (path: string, name: string) => names(body(path, name), /^ {2}(?:readonly )?(\w+)\??:/gm);

const parts = [
  { path: 'src/recoup.ts', name: 'Recoup', calls: 'recoup', atLeast: 9 },
  { path: 'src/wallets/wallets.ts', name: 'Wallets', calls: 'wallets', atLeast: 9 },
  { path: 'src/subscriptions/subscriptions.ts', name: 'Subscriptions', calls: 'subscriptions', atLeast: 10 },
  { path: 'src/payments/payments.ts', name: 'Payments', calls: 'payments', atLeast: 3 },
  { path: 'src/jobs/jobs.ts', name: 'Jobs', calls: 'jobs', atLeast: 16 },
  { path: 'src/jobs/dead-letters.ts', name: 'DeadLetters', calls: 'deadLetters', atLeast: 5 },
  { path: 'src/queues/configure.ts', name: 'Queues', calls: 'queues', atLeast: 3 },
  { path: 'src/upstreams/upstreams.ts', name: 'Upstreams', calls: 'upstreams', atLeast: 10 },
  { path: 'src/windows/windows.ts', name: 'Limits', calls: 'limits', atLeast: 5 },
  { path: 'src/inbox/inbox.ts', name: 'Inbox', calls: 'inbox', atLeast: 4 },
  { path: 'src/feed/feed.ts', name: 'Feed', calls: 'feed', atLeast: 2 },
  { path: 'src/webhooks/webhooks.ts', name: 'Webhooks', calls: 'webhooks', atLeast: 9 },
  { path: 'src/webhooks/sender.ts', name: 'Sending', calls: 'webhooks', atLeast: 4 },
  { path: 'src/alerts/alerts.ts', name: 'Alerts', calls: 'alerts', atLeast: 2 },
  { path: 'src/epochs.ts', name: 'Epochs', calls: 'epochs', atLeast: 3 },
];

test.each(parts)('the page names every method of $name', ({ path, name, calls, atLeast }) => {
  const text = body(path, name);
  const found = methods(text);
  // That the pattern finds methods at all.
  expect(found.length).toBeGreaterThanOrEqual(atLeast);
  const getters = names(text, /^ {2}get (\w+)\(/gm);
  const wanted = found.map((method) => `${calls}.${method}${getters.includes(method) ? '' : '('}`);
  expect(wanted.filter((call) => !code.includes(call))).toEqual([]);
});

test('the page names every part of the handle', () => {
  const properties = [
    ...names(body('src/recoup.ts', 'Recoup'), /^ {2}readonly (\w+):/gm).map((part) => `recoup.${part}`),
    ...names(body('src/jobs/jobs.ts', 'Jobs'), /^ {2}readonly (\w+):/gm).map((part) => `jobs.${part}`),
    ...names(body('src/upstreams/upstreams.ts', 'Upstreams'), /^ {2}readonly (\w+):/gm).map(
      (part) => `upstreams.${part}`,
    ),
  ];
  expect(properties.length).toBeGreaterThan(4);
  expect(properties.filter((property) => !code.includes(property))).toEqual([]);
});

/** The rows of the table whose first cell is headed so, by the name in their first cell. */
function rows(section: string): Map<string, string> {
  const text = page.split(/^## /m).find((part) => part.startsWith(`${section}\n`)) ?? '';
  return new Map([...text.matchAll(/^\| `(\w+)` \|([^|]*)\|/gm)].map(([, name, next]) => [name!, next!.trim()]));
}

test.each([
  ['Open and close', 'src/options.ts', 'OpenOptions', 12],
  ['Workers', 'src/worker/worker.ts', 'WorkOptions', 7],
  ['Queues', 'src/queues/configure.ts', 'QueueSettings', 8],
])('under %s every field of %s: %s has its row', (section, path, name, atLeast) => {
  const wanted = fields(path, name);
  expect(wanted.length).toBeGreaterThanOrEqual(atLeast);
  expect([...rows(section).keys()].sort()).toEqual([...wanted].sort());
});

test('every field that submit takes is on the page', () => {
  const wanted = [...fields('src/jobs/signals.ts', 'Submit'), 'wallet'];
  expect(wanted.filter((name) => !new RegExp(`^\\| (?:\`\\w+\`, )?\`${name}\`[ ,]`, 'm').test(page))).toEqual([]);
});

test('the defaults of queue settings are those of the migration', () => {
  const table = /create table recoup\.queues \(([\s\S]*?)\n\);/.exec(source('migrations/0001_money_and_work.sql'))![1]!;
  const later = source('migrations/0013_work_joined_to_capacity.sql').matchAll(
    /^alter table recoup\.queues add column (\w+) \w+ (?:not null default (\w+)|collate)/gm,
  );
  const first = table.matchAll(/^ {2}(\w+) \w+ not null default '?(\w+)'?,$/gm);
  const defaults = [...first, ...later].map(([, column, value]) => [
    column!.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
    value === undefined ? 'none' : /^\d+$/.test(value) ? Number(value).toLocaleString('en-US') : `\`${value}\``,
  ]);
  expect(Object.fromEntries(rows('Queues'))).toEqual(Object.fromEntries(defaults));
});

test('the page names everything that the library exports', () => {
  const exported = [...source('src/index.ts').matchAll(/^export (?:type )?\{([^}]*)\} from/gm)].flatMap(([, list]) =>
    list!
      .split(',')
      .map((name) => name.replace(/^\s*(?:type )?(?:\w+ as )?/, '').trim())
      .filter((name) => name !== ''),
  );
  expect(exported.length).toBeGreaterThan(50);
  expect(exported.filter((name) => !new RegExp(`\`${name}\``).test(page))).toEqual([]);
});
