// The guards of the statements: every condition of every transition, found in its text, so that none can be forgotten.
import { readdirSync } from 'node:fs';
import type { AnyStatement } from '../../packages/recoup/src/db/database.ts';
import { eventTransitions } from '../../packages/recoup/src/event-outcomes.ts';
import { asJudged, takeTurns, withoutJob } from '../../packages/recoup/src/jobs/held.ts';
import { capacityTransitions, transitions } from '../../packages/recoup/src/outcomes.ts';
import { bookEntries } from '../../packages/recoup/src/wallets/booking.ts';
import { type Condition, conditionsOf, without } from './conditions.ts';

/** One condition, in every statement that has it. */
export interface Guard {
  /** `job.fail judged: n = attempt`, the same as long as the condition is. */
  readonly id: string;
  readonly statements: readonly string[];
  readonly kind: Condition['kind'];
  /** The part of a statement (a whole CTE) with the condition, and without it. */
  readonly edits: readonly (readonly [from: string, to: string])[];
}

const WRITES = /\b(insert into|update|delete from) recoup\./;

const isBundle = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !isStatement(value);

/** The statements that write, from the folders of the library. */
export async function statements(): Promise<AnyStatement[]> {
  const source = new URL('../../packages/recoup/src/', import.meta.url);
  const found: AnyStatement[] = [];
  const folders = readdirSync(source, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const { name: folder } of folders) {
    for (const name of readdirSync(new URL(folder, source))
      .filter((name) => name.endsWith('.ts'))
      .sort()) {
      const module: Record<string, unknown> = await import(new URL(`${folder}/${name}`, source).href);
      // Some stand together in one object, such as the statements of limits.
      const exported = Object.values(module).flatMap((one) => [one, ...(isBundle(one) ? Object.values(one) : [])]);
      found.push(...exported.filter(isStatement));
    }
  }
  const wanted = Object.keys({ ...transitions, ...capacityTransitions, ...eventTransitions });
  const writing = found.filter(({ name, text }) => wanted.includes(name) || WRITES.test(text.shared));
  const missing = wanted.filter((name) => !writing.some((one) => one.name === name));
  if (missing.length > 0) throw new Error(`no statement is exported for ${missing.join(', ')}`);
  return [...new Set(writing)];
}

function isStatement(value: unknown): value is AnyStatement {
  const { text, columns } = (value ?? {}) as Partial<AnyStatement>;
  return typeof text?.shared === 'string' && typeof columns === 'object';
}

/** The CTEs of a statement and what comes behind them, each with its name. */
function partsOf(sql: string): { name: string; text: string }[] {
  const parts: { name: string; text: string }[] = [];
  let end = 0;
  for (const match of sql.matchAll(/(?:^with |^)(\w+)(?:\([^)]*\))? as (?:materialized )?\(/gm)) {
    if (match.index < end) continue;
    const start = match.index + match[0].length - 1;
    end = closing(sql, start);
    parts.push({ name: match[1]!, text: sql.slice(match.index, end) });
  }
  parts.push({ name: 'answer', text: sql.slice(end) });
  return parts.filter(({ name }) => name !== 'input');
}

/** Behind the parenthesis that closes the one at `start`; quotes are passed over. */
function closing(sql: string, start: number): number {
  let depth = 0;
  for (let i = start; i < sql.length; i++) {
    if (sql[i] === "'") i = sql.indexOf("'", i + 1);
    else if (sql[i] === '(') depth += 1;
    else if (sql[i] === ')' && --depth === 0) return i + 1;
  }
  throw new Error('the parentheses of a statement do not match');
}

/** The two lock modes of a statement have the same guards. */
const normal = (text: string) =>
  text.replaceAll('skip locked', '').replaceAll(/\s+/g, ' ').replaceAll(' )', ')').trim();

/** Texts that many statements share: one guard of such a text is one guard, whatever stands around it. */
const SHARED: Readonly<Record<string, string>> = { withoutJob, takeTurns: takeTurns(), asJudged, bookEntries };
/** A hole of a text that several statements share may be filled with what is no condition: `true`, `null is not null`. */
const isConstant = (text: string) =>
  !/[a-z]/i.test(text.replaceAll(/'[^']*'|::\w+|\b(true|false|null|not|is|or|and)\b/gi, ''));

interface Found {
  readonly name: string;
  readonly condition: Condition;
  readonly statements: Set<string>;
  readonly edits: Map<string, string>;
}

/** The text that a condition belongs to: a shared one that it stands in, or its whole CTE. */
function homeOf(
  part: { name: string; text: string },
  { start, end }: Condition,
): { name: string; text: string; at: number } {
  for (const [name, text] of Object.entries(SHARED)) {
    const at = part.text.indexOf(text);
    if (at >= 0 && start >= at && end <= at + text.length) return { name, text, at };
  }
  return { ...part, at: 0 };
}

export function guardsOf(all: readonly AnyStatement[]): Guard[] {
  const guards = new Map<string, Found>();
  for (const { name: statement, text } of all) {
    for (const part of [text.shared, text.patient].flatMap(partsOf)) {
      for (const [index, condition] of conditionsOf(part.text).entries()) {
        if (isConstant(condition.text)) continue;
        const { name, text, at } = homeOf(part, condition);
        const here = { ...condition, start: condition.start - at, end: condition.end - at };
        const key = at === 0 ? `${normal(text)} ${index}` : `${name} ${here.start} ${here.end} ${here.kind}`;
        const guard = guards.get(key) ?? { name, condition, statements: new Set(), edits: new Map() };
        guards.set(key, guard);
        guard.statements.add(statement);
        guard.edits.set(text, without(text, here));
      }
    }
  }
  return named([...guards.values()]);
}

/** Each under a name of its own, which stays the same as long as the condition does. */
function named(found: readonly Found[]): Guard[] {
  const times = new Map<string, number>();
  return found.map(({ name, condition: { kind, text }, statements, edits }) => {
    const where = statements.size > 4 ? `${statements.size} statements` : [...statements].sort().join(', ');
    const plain = normal(`${where} · ${name} · ${kind === 'arm' ? 'when ' : ''}${text}`);
    const seen = (times.get(plain) ?? 0) + 1;
    times.set(plain, seen);
    return { id: seen === 1 ? plain : `${plain} #${seen}`, statements: [...statements], kind, edits: [...edits] };
  });
}

/** What becomes of a statement's text without that guard. */
export const removing =
  ({ edits }: Guard) =>
  (text: string): string =>
    edits.reduce((now, [from, to]) => now.replaceAll(from, () => to), text);
