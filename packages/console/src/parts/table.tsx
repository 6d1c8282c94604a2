// Table: a real table with a caption for whoever cannot see it; columns say how a row is written.
import type { ReactNode } from 'react';

export interface Column<R> {
  head: string;
  cell: (row: R, index: number) => ReactNode;
  /** `number`: right, in line; `tight`: not broken. */
  kind?: 'number' | 'tight' | 'wide';
}

interface Props<R> {
  caption: string;
  columns: readonly Column<R>[];
  rows: readonly R[];
  id: (row: R) => string;
  rowClass?: (row: R) => string | undefined;
  onRow?: (row: R) => void;
  /** On a phone each row is a card of its own. */
  cards?: boolean;
}

export function Table<R>({ caption, columns, rows, id, rowClass, onRow, cards }: Props<R>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <section className="scroll" aria-label={caption} tabIndex={0}>
      <table className={cards ? 'cards' : undefined}>
        <caption className="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ head, kind }) => (
              <th key={head} scope="col" className={kind}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={id(row)} data-row={id(row)} className={rowClass?.(row)} onClick={onRow && (() => onRow(row))}>
              {columns.map(({ head, cell, kind }) => (
                <td key={head} className={kind} data-head={head}>
                  {cell(row, index)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
