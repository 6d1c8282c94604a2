// The pages of docs/ that are generated: transitions, errors, promises, operations and settings, each from the table in the code; what the clients take from it, and the recorded day.
import { readdirSync, readFileSync } from 'node:fs';
import { creditTransitions } from '../packages/recoup/src/credit-outcomes.ts';
import { errors } from '../packages/recoup/src/errors.ts';
import { eventTransitions } from '../packages/recoup/src/event-outcomes.ts';
import { capacityTransitions, type Transition, transitions } from '../packages/recoup/src/outcomes.ts';
import { probeTransitions } from '../packages/recoup/src/probe-outcomes.ts';
import { checks } from '../packages/recoup/src/verify.ts';
import { kebab, SETTINGS } from '../packages/server/src/cli/settings.ts';
import { operations } from '../packages/server/src/operations/operations.ts';
import { generatedClients } from './clients.ts';
import { recordedDay } from './recorded-day.ts';

const NOTE = '<!-- Written by `npm run docs` from the code. Change the code, not this page. -->';
const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const list = (codes: readonly string[]) => (codes.length === 0 ? '–' : codes.map((code) => `\`${code}\``).join(', '));

/** Where a transition's statement lives: `job.handOver` in jobs/hand-over.ts. */
const FILES: Record<string, string> = {
  'wallet.change': 'wallets/open.ts',
  'wallet.adjust': 'wallets/grant.ts',
  'queue.configure': 'queues/configure.ts',
  'job.discard': 'jobs/redrive.ts',
  'upstream.extend': 'upstreams/release.ts',
  'upstream.replaceCredential': 'upstreams/credential.ts',
  'snapshot.note': 'upstreams/snapshot.ts',
  'inbox.take': 'inbox/note.ts',
  'inbox.snooze': 'inbox/note.ts',
  'inbox.note': 'inbox/note.ts',
  'provider.block': 'upstreams/provider.ts',
  'block.close': 'upstreams/close.ts',
  'block.lapse': 'upstreams/close.ts',
  'limit.set': 'windows/set.ts',
  'limit.end': 'windows/end.ts',
  'webhook.register': 'webhooks/endpoints.ts',
  'webhook.change': 'webhooks/endpoints.ts',
  'webhook.rotate': 'webhooks/endpoints.ts',
  'webhook.remove': 'webhooks/endpoints.ts',
  'webhook.lease': 'webhooks/sending.ts',
  'webhook.report': 'webhooks/sending.ts',
  'webhook.test': 'webhooks/replay.ts',
  'prober.set': 'probes/set.ts',
  'prober.remove': 'probes/set.ts',
  'probe.lapse': 'probes/claim.ts',
  'probe.ask': 'probes/recheck.ts',
};
function fileOf(name: string): string {
  const [aggregate, verb] = name.split('.') as [string, string];
  return FILES[name] ?? `${aggregate}s/${verb.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.ts`;
}

const transitionParts = (table: Readonly<Record<string, Transition>>, level: string): string[] =>
  Object.entries(table).map(([name, t]) =>
    [
      `${level} ${name}`,
      '',
      `| | |`,
      `|---|---|`,
      `| guard | ${cell(t.guard)} |`,
      `| effect | ${cell(t.effect)} |`,
      `| outcomes | ${list(t.outcomes)} |`,
      `| refusals | ${list(t.refusals)} |`,
      `| statement | [\`${fileOf(name)}\`](../packages/recoup/src/${fileOf(name)}) |`,
    ].join('\n'),
  );

function transitionsPage(): string {
  return [
    NOTE,
    '# Transitions',
    '',
    'Every change is a transition: one conditional write that only one writer can win. Its guard is in the statement, next to',
    'the flag, the entry, the balance and the queue that change with it. *Outcomes* are returned, and losing a race is one of',
    'them; *refusals* are thrown, because they mean "do not go on". Where several outcomes apply, the first of this order is the',
    'answer: `no_job`, `pruned`, `canceled`, `succeeded`, `stale`, `duplicate`.',
    '',
    'What a job takes from its wallet in the end is nothing (refunded and not succeeded), its price, or its final price where one',
    'was reported. Nothing else, in any order of signals.',
    '',
    ...transitionParts(transitions, '##').flatMap((part) => [part, '']),
    '## Upstreams, blocks and windows',
    '',
    'Capacity moves no money. Its transitions have a table of their own: `capacityTransitions` in',
    '[`outcomes.ts`](../packages/recoup/src/outcomes.ts).',
    '',
    ...transitionParts(capacityTransitions, '###').flatMap((part) => [part, '']),
    '## Probes',
    '',
    'They ask whether upstreams work again: `probeTransitions` in',
    '[`probe-outcomes.ts`](../packages/recoup/src/probe-outcomes.ts). Told in [upstreams.md](upstreams.md#probes).',
    '',
    ...transitionParts(probeTransitions, '###').flatMap((part) => [part, '']),
    '## Credit that expires',
    '',
    'It happens by itself, at a sweep or before a submit: `creditTransitions` in',
    '[`credit-outcomes.ts`](../packages/recoup/src/credit-outcomes.ts). Told in [library.md](library.md).',
    '',
    ...transitionParts(creditTransitions, '###').flatMap((part) => [part, '']),
    '## Webhooks and alerts',
    '',
    'They read what the others append and write nothing of theirs: `eventTransitions` in',
    '[`event-outcomes.ts`](../packages/recoup/src/event-outcomes.ts). Told in [webhooks.md](webhooks.md).',
    '',
    ...transitionParts(eventTransitions, '###').flatMap((part) => [part, '']),
  ].join('\n');
}

function errorsPage(): string {
  const rows = Object.entries(errors).map(
    ([code, e]) => `| \`${code}\` | ${e.status} | ${e.exit} | ${e.retry ? 'yes' : 'no'} | ${cell(e.sentence)} |`,
  );
  return [
    NOTE,
    '# Errors',
    '',
    'Every error is a `Refusal` with one of these codes and, in `details`, the facts: the field and its rule, what differs, balance',
    'and price. Nothing was changed. *Retry*: the same call may succeed later without anything changed in it. Codes are stable,',
    'sentences are not.',
    '',
    '| code | HTTP status | exit code | retry | meaning |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

/** The text from an opening parenthesis to the one that closes it. */
function balanced(text: string, start: number): string {
  let depth = 0;
  for (let i = start; i < text.length; i++) {
    if (text[i] === '(') depth += 1;
    if (text[i] === ')' && --depth === 0) return text.slice(start, i + 1);
  }
  throw new Error('the parentheses of a constraint do not match');
}

function promisesPage(): string {
  const folder = new URL('../packages/recoup/migrations/', import.meta.url);
  const names = readdirSync(folder).filter((name) => name.endsWith('.sql'));
  const sql = names
    .sort()
    .map((name) => readFileSync(new URL(name, folder), 'utf8'))
    .join('\n');
  const constraints = [...sql.matchAll(/constraint (\w+) (check|primary key) \(/g)].map((match) => {
    const table = [...sql.slice(0, match.index).matchAll(/(?:create|alter) table recoup\.(\w+)/g)].at(-1)![1];
    const rule = balanced(sql, match.index + match[0].length - 1).replaceAll(/\s+/g, ' ');
    return `| \`${table}\` | \`${match[1]}\` | \`${match[2]} ${cell(rule)}\` |`;
  });
  const uniques = [...sql.matchAll(/create unique index (\w+) on recoup\.(\w+) ([\s\S]*?);/g)].map(
    ([, name, table, rule]) => `| \`${table}\` | \`${name}\` | \`unique ${cell(rule!.replaceAll(/\s+/g, ' '))}\` |`,
  );
  const appendOnly = [...sql.matchAll(/create trigger (?!entries)(\w+)_append_only/g)].map(
    ([, table]) => `| \`${table}\` | \`${table}_append_only\` | as \`entries_append_only\` |`,
  );
  return [
    NOTE,
    '# Promises',
    '',
    'What one row or one index can express, the database refuses. `verify` finds the rest and names the wallet and the first wrong',
    'entry; the same queries serve tests, health page and metric.',
    '',
    '## What verify checks',
    '',
    '| check | promise |',
    '|---|---|',
    ...checks.map((check) => `| \`${check.name}\` | ${cell(check.promise)} |`),
    '| `schema.guards` | Every constraint, unique index and trigger below is there, valid and switched on, and the clock is the database’s. |',
    '',
    '## What the schema refuses',
    '',
    '| table | guard | rule |',
    '|---|---|---|',
    ...constraints,
    ...uniques,
    ...appendOnly,
    '| `entries` | `entries_append_only` | `before update or delete or truncate: refused, also for the owner and under the replica role` |',
    '',
  ].join('\n');
}

function operationsPage(): string {
  const rows = operations.map(({ name, method, path, scopes, summary, params }) => {
    const [aggregate, verb] = name.split('.') as [string, string];
    const positional = Object.keys(params.properties).map((field) => ` <${kebab(field)}>`);
    const command =
      scopes === 'signature' ? '–' : `\`recoup ${kebab(aggregate)} ${kebab(verb)}${positional.join('')}\``;
    const who = scopes === 'signature' ? 'its own proof' : [...scopes, 'admin'].join(', ');
    return `| ${cell(summary)} | \`${method} ${path}\` | ${command} | ${who} |`;
  });
  return [
    NOTE,
    '# Operations',
    '',
    'Everything a caller may do, over HTTP and on the command line. Fields and answers are in the OpenAPI document: `/openapi.json` of a',
    'server, or `recoup openapi`. How requests are answered is told in [http.md](http.md), what scopes are in [keys.md](keys.md).',
    '',
    '| what | HTTP | command | scopes |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function settingsPage(): string {
  const rows = Object.entries(SETTINGS).map(([name, setting]) => {
    const { kind, about, fallback, env } = setting as { kind: string; about: string; fallback?: unknown; env?: string };
    const environment = `RECOUP_${kebab(name).replaceAll('-', '_').toUpperCase()}`;
    const value =
      fallback === undefined || (Array.isArray(fallback) && fallback.length === 0) ? '–' : `\`${fallback}\``;
    return `| \`${name}\` | ${kind} | \`--${kebab(name)}\` | \`${environment}\`${env ? `, \`${env}\`` : ''} | ${value} | ${cell(about)} |`;
  });
  return [
    NOTE,
    '# Settings',
    '',
    'Flags win over the environment, the environment over the file (`./recoup.yaml`, or `--config`, or `RECOUP_CONFIG`), the file over',
    'the defaults. `recoup config` prints every setting and where its value came from. Lists are separated by commas, in the file they',
    'are lists.',
    '',
    '| setting | kind | flag | environment | default | what for |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

/** Path in the repository to text. */
export async function generatedPages(): Promise<Record<string, string>> {
  return {
    'docs/transitions.md': transitionsPage(),
    'docs/errors.md': errorsPage(),
    'docs/promises.md': promisesPage(),
    'docs/operations.md': operationsPage(),
    'docs/settings.md': settingsPage(),
    'packages/server/data/recorded-day.jsonl': recordedDay(),
    ...(await generatedClients()),
  };
}
