// Reads the conditions in a piece of SQL: what stands between AND and OR, after WHERE and WHEN, each of which can be taken out.

/** One condition, and what stands in its place once it is removed. */
export interface Condition {
  readonly start: number;
  readonly end: number;
  /** With single spaces. */
  readonly text: string;
  /** `conjunct`: of an AND or alone in a WHERE, then true. `alternative`: of an OR, then false. `arm`: of a CASE, then false. */
  readonly kind: 'conjunct' | 'alternative' | 'arm';
}

interface Token {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

const LEXEME =
  /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|[A-Za-z_][\w.]*|\d[\d.]*|::|[<>=!|+\-*/%~@?#&^]+|[^\s]/g;

function tokens(sql: string): Token[] {
  return [...sql.matchAll(LEXEME)]
    .map((match) => ({ word: match[0].toLowerCase(), start: match.index, end: match.index + match[0].length }))
    .filter(({ word }) => !word.startsWith('--') && !word.startsWith('/*'));
}

/** Words that end one expression and begin another. */
const BOUNDARIES = new Set(
  `select from where on when then else as by limit returning union for cross left full join inner having window set values
  filter using lateral with do , ; rows partition order group check offset`.split(/\s+/),
);

/** Words that begin what is an operand of what is around it, and what ends it. */
const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', case: 'end' };

/** Every condition of the text, outer ones before those within. */
export function conditionsOf(sql: string): Condition[] {
  const all = tokens(sql);
  const found: Condition[] = [];
  let at = 0;

  const add = (from: number, to: number, kind: Condition['kind']) => {
    const [start, end] = [all[from]!.start, all[to - 1]!.end];
    found.push({ start, end, kind, text: sql.slice(start, end).replaceAll(/\s+/g, ' ') });
  };
  /** An expression from one token to another, with the places of its own ANDs and ORs. */
  const close = (opener: string, from: number, to: number, ands: readonly number[], ors: readonly number[]) => {
    if (to <= from || opener === 'on') return;
    if (opener === 'when') add(from, to, 'arm');
    const parts = [from - 1, ...ors, to];
    for (let i = 1; i < parts.length; i++) {
      const [first, last] = [parts[i - 1]! + 1, parts[i]!];
      if (ors.length > 0) add(first, last, 'alternative');
      const own = [first - 1, ...ands.filter((place) => place > first && place < last), last];
      const alone = own.length === 2;
      if (alone && !(opener === 'where' && ors.length === 0)) continue;
      for (let j = 1; j < own.length; j++) add(own[j - 1]! + 1, own[j]!, 'conjunct');
    }
  };
  /** Up to the closing word: what is nested is an operand of what is around it. */
  const group = (closing: string) => {
    let [opener, from, between] = ['', at, false];
    let [ands, ors]: [number[], number[]] = [[], []];
    // `case x when …` compares values: its arms are no conditions.
    let simple = false;
    const next = (word: string) => {
      close(opener, from, at, ands, ors);
      [opener, from, ands, ors] = [word === 'when' && simple ? '' : word, at + 1, [], []];
    };
    for (; at < all.length; at++) {
      const { word } = all[at]!;
      if (word === closing) break;
      const closes = CLOSING[word];
      if (closes) {
        at += 1;
        group(closes);
      } else if (word === 'between') between = true;
      else if (word === 'and' && between) between = false;
      else if (word === 'and') ands.push(at);
      else if (word === 'or' && all[at + 1]?.word !== 'replace') ors.push(at);
      else if (BOUNDARIES.has(word) && !(word === 'from' && all[at - 1]?.word === 'distinct')) {
        if (closing === 'end' && word === 'when' && opener === '' && at > from) simple = true;
        next(word);
      }
    }
    close(opener, from, at, ands, ors);
  };
  group('');
  return found.sort((a, b) => a.start - b.start || b.end - a.end);
}

/** The text without that condition. */
export function without(sql: string, { start, end, kind }: Condition): string {
  return sql.slice(0, start) + (kind === 'conjunct' ? 'true' : 'false') + sql.slice(end);
}
