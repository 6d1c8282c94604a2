// The entries as a table, newest first: the chart's twin, and what a pointer or `[` `]` walks through.

import { JobLink } from '../../links.tsx';
import { Kind } from '../../parts/kind.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { At } from '../../parts/time.tsx';
import type { Entry } from '../../types.ts';
import { number, signed, spaced } from '../../words.ts';

const columns: readonly Column<Entry>[] = [
  { head: '#', cell: ({ seq }) => <span className="muted">{number(seq)}</span>, kind: 'number' },
  { head: 'When', cell: ({ createdAt }) => <At instant={createdAt} />, kind: 'tight' },
  { head: 'Kind', cell: ({ type }) => <Kind type={type} /> },
  { head: 'Amount', cell: ({ amount }) => signed(amount), kind: 'number' },
  { head: 'Balance', cell: ({ balance }) => number(balance), kind: 'number' },
  {
    head: 'Job',
    cell: ({ wallet, job }) => job && <JobLink wallet={wallet} job={job} />,
    kind: 'wide',
  },
  {
    head: 'Why',
    cell: ({ reason, note, key, actor }) => (
      <>
        {[reason && spaced(reason), note].filter(Boolean).join(' – ')}
        {key && <span className="muted"> key {key}</span>}
        {actor && <span className="muted"> by {actor}</span>}
      </>
    ),
    kind: 'wide',
  },
];

interface Props {
  /** Oldest first. */
  entries: readonly Entry[];
  here: number;
  type: string | undefined;
  onPick: (seq: number) => void;
}

export function EntryTable({ entries, here, type, onPick }: Props) {
  const rows = entries.filter((entry) => type === undefined || entry.type === type).toReversed();
  return (
    <Table
      caption="Entries of the wallet, newest first"
      columns={columns}
      rows={rows}
      id={({ seq }) => String(seq)}
      rowClass={({ seq }) => (seq === here ? 'on' : seq > here ? 'later' : undefined)}
      onRow={({ seq }) => onPick(seq)}
    />
  );
}
