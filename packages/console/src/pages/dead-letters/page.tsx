// Dead letters: what died, why, and is it safe to redrive?
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay, useRead } from '../../api.ts';
import { JobLink, WalletLink } from '../../links.tsx';
import { Button } from '../../parts/button.tsx';
import { CopyCurl } from '../../parts/copy.tsx';
import { PageHead, Panel } from '../../parts/panel.tsx';
import { EmptyState, Loaded } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { At, Since } from '../../parts/time.tsx';
import type { Job } from '../../types.ts';
import { number, plural } from '../../words.ts';
import { type Group, groupsOf } from './groups.ts';
import { Redrive } from './redrive.tsx';

const route = getRouteApi('/frame/dead-letters');
const LOADED = 1000;

export interface Filter {
  queue?: string;
  wallet?: string;
  reason?: string;
}

export function DeadLettersPage() {
  const filter = route.useSearch();
  const navigate = useNavigate();
  const may = useMay()('operator');
  const [redriving, setRedriving] = useState<Filter | null>(null);
  const read = useRead('deadLetters.list', { ...filter, limit: LOADED }, { keep: true });
  const show = (next: Filter) => void navigate({ to: '/dead-letters', search: next });
  const query = new URLSearchParams(filter as Record<string, string>);
  const filtered = Object.keys(filter).length > 0;
  return (
    <>
      <PageHead title="Dead letters" question="What died, why, and is it safe to redrive?">
        <Button
          kind="main"
          why={may ?? (read.data?.jobs.length === 0 ? 'There is nothing to redrive.' : null)}
          onClick={() => setRedriving(filter)}
        >
          {filtered ? 'Redrive these…' : 'Redrive all…'}
        </Button>
        <CopyCurl path={`/v1/dead-letters${query.size > 0 ? `?${query}` : ''}`} />
      </PageHead>
      <div className="stack">
        <Filters key={query.toString()} filter={filter} onFilter={show} />
        <Loaded read={read} what="The dead letters" rows={8}>
          {({ jobs, cursor }) =>
            jobs.length === 0 ? (
              <Nothing filtered={filtered} onAll={() => show({})} />
            ) : (
              <>
                <Panel
                  title="By what they died of"
                  more={cursor === null ? plural(jobs.length, 'dead letter') : `of the oldest ${number(LOADED)}`}
                >
                  <Groups groups={groupsOf(jobs)} filter={filter} onFilter={show} onRedrive={setRedriving} may={may} />
                </Panel>
                <Panel title="One by one" more="oldest first">
                  <Table
                    cards
                    caption="Dead letters, oldest first"
                    columns={COLUMNS}
                    rows={jobs.slice(0, 200)}
                    id={idOf}
                  />
                  {jobs.length > 200 && (
                    <p className="muted small">The oldest 200 of {number(jobs.length)}: filter for the rest.</p>
                  )}
                </Panel>
              </>
            )
          }
        </Loaded>
      </div>
      {redriving && <Redrive filter={redriving} onClose={() => setRedriving(null)} />}
    </>
  );
}

const idOf = ({ wallet, id }: Job) => `${wallet} ${id}`;
const COLUMNS: readonly Column<Job>[] = [
  { head: 'Job', cell: ({ wallet, id }) => <JobLink wallet={wallet} job={id} />, kind: 'wide' },
  { head: 'Wallet', cell: ({ wallet }) => <WalletLink wallet={wallet} /> },
  { head: 'Queue', cell: ({ queue }) => queue ?? '–' },
  { head: 'Price', cell: ({ price }) => number(price), kind: 'number' },
  { head: 'Refunded', cell: ({ refundedAt }) => (refundedAt === null ? 'no' : 'yes') },
  { head: 'Failures', cell: ({ failures, maxFailures }) => `${failures} of ${maxFailures}`, kind: 'number' },
  { head: 'Died', cell: ({ deadAt }) => deadAt && <At instant={deadAt} />, kind: 'tight' },
  {
    head: 'Of',
    cell: ({ reason, verdict }) => (
      <>
        {reason ?? 'no reason given'} <span className="muted">{verdict}</span>
      </>
    ),
    kind: 'wide',
  },
];

function Nothing({ filtered, onAll }: { filtered: boolean; onAll: () => void }) {
  if (!filtered)
    return (
      <EmptyState title="Nothing has died">
        Jobs that used up their retries, or whose failure was definitive, are shown here until somebody redrives or
        discards them.
      </EmptyState>
    );
  return (
    <EmptyState title="No dead letter matches" actions={<Button onClick={onAll}>Show all</Button>}>
      Others may be there: the filter leaves them out.
    </EmptyState>
  );
}

function Filters({ filter, onFilter }: { filter: Filter; onFilter: (filter: Filter) => void }) {
  return (
    <form
      className="filters"
      onSubmit={(event) => {
        event.preventDefault();
        const given = [...new FormData(event.currentTarget)].map(([name, value]) => [name, String(value).trim()]);
        onFilter(Object.fromEntries(given.filter(([, value]) => value !== '')));
      }}
    >
      {(['queue', 'wallet', 'reason'] as const).map((name) => (
        <label key={name} className="field">
          <span>{{ queue: 'Queue', wallet: 'Wallet', reason: 'Died of, exactly' }[name]}</span>
          <input className="input" name={name} defaultValue={filter[name] ?? ''} placeholder="All" />
        </label>
      ))}
      <Button type="submit">Filter</Button>
      {Object.keys(filter).length > 0 && (
        <Button kind="quiet" onClick={() => onFilter({})}>
          Clear
        </Button>
      )}
    </form>
  );
}

interface GroupsProps {
  groups: readonly Group[];
  filter: Filter;
  onFilter: (filter: Filter) => void;
  onRedrive: (filter: Filter) => void;
  may: string | null;
}

function Groups({ groups, filter, onFilter, onRedrive, may }: GroupsProps) {
  const filterOf = ({ queue, reason }: Group): Filter => ({
    ...(filter.wallet === undefined ? {} : { wallet: filter.wallet }),
    ...(queue === null ? {} : { queue }),
    ...(reason === null ? {} : { reason }),
  });
  return (
    <Table
      cards
      caption="Dead letters by queue and reason, the most frequent first"
      rows={groups}
      id={({ queue, reason }) => `${queue} ${reason}`}
      columns={[
        { head: 'Count', cell: ({ count }) => number(count), kind: 'number' },
        {
          head: 'Died of',
          cell: (group) => (
            <Button small kind="quiet" className="as-link" onClick={() => onFilter(filterOf(group))}>
              {group.reason ?? 'no reason given'}
            </Button>
          ),
          kind: 'wide',
        },
        { head: 'Queue', cell: ({ queue }) => queue ?? '–' },
        { head: 'May be reclaimed', cell: ({ atStake }) => number(atStake), kind: 'number' },
        {
          head: 'Last',
          cell: ({ newestAt }) => (
            <>
              <Since instant={newestAt} /> ago
            </>
          ),
          kind: 'tight',
        },
        { head: 'Newest', cell: ({ sample }) => <JobLink wallet={sample.wallet} job={sample.id} /> },
        {
          head: 'Do',
          cell: (group) => (
            <Button small why={may} onClick={() => onRedrive(filterOf(group))}>
              Redrive…
            </Button>
          ),
        },
      ]}
    />
  );
}
