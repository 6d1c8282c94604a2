// The balance as a sum of what moved, by kind; each part filters the entries.

import { Button } from '../../parts/button.tsx';
import { Kind } from '../../parts/kind.tsx';
import type { Entry } from '../../types.ts';
import { number, plural, signed } from '../../words.ts';
import { sumsOf } from './explain.ts';

interface Props {
  /** Oldest first, up to the one that is looked at. */
  entries: readonly Entry[];
  type: string | undefined;
  onType: (type: string | undefined) => void;
}

export function SumLine({ entries, type, onType }: Props) {
  const first = entries[0];
  if (!first) return null;
  const before = first.balance - first.amount;
  return (
    <div className="equation">
      <strong>{number(entries.at(-1)!.balance)}</strong>
      <span>=</span>
      {first.seq > 1 && (
        <span>
          {number(before)} <span className="muted">before entry {number(first.seq)}</span>
        </span>
      )}
      {sumsOf(entries).map((sum) => (
        <Button
          key={sum.type}
          small
          kind="quiet"
          aria-pressed={type === sum.type}
          title={`${plural(sum.count, 'entry', 'entries')}: show ${type === sum.type ? 'all kinds' : 'only these'}`}
          onClick={() => onType(type === sum.type ? undefined : sum.type)}
        >
          {signed(sum.amount)} <Kind type={sum.type} />
        </Button>
      ))}
    </div>
  );
}
