// Figure: one number with what it is and what it means; several stand in a row.
import type { ReactNode } from 'react';

export const Figures = ({ children }: { children: ReactNode }) => <dl className="figures">{children}</dl>;

interface Props {
  label: string;
  value: ReactNode;
  unit?: string;
  note?: ReactNode;
}

export function Figure({ label, value, unit, note }: Props) {
  return (
    <div className="figure">
      <dt>{label}</dt>
      <dd>
        <div className="value">
          {value}
          {unit && <small> {unit}</small>}
        </div>
        {note && <div className="note">{note}</div>}
      </dd>
    </div>
  );
}
