// Lists for a person: a table, or that there is nothing; and how to go on.
import { table } from '../output.ts';

export const tableOf = (rows: Record<string, unknown>[]): string => (rows.length === 0 ? '(none)' : table(rows));

export const more = (cursor: string | number | null): string[] =>
  cursor === null ? [] : ['', `more: --cursor ${cursor}`];
