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
}

export function Table<R>({ caption, columns, rows, id, rowClass, onRow }: Props<R>) {
  return (
    <div className="scroll">
      <table>
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
                <td key={head} className={kind}>
                  {cell(row, index)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
