// Now: is anything stuck or costing us money, and what should I do first?
import type { Output } from '@recoup/client';
import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useRead } from '../../api.ts';
import { PoolLink } from '../../links.tsx';
import { Badge } from '../../parts/badge.tsx';
import { CopyCurl } from '../../parts/copy.tsx';
import { Figure, Figures } from '../../parts/figure.tsx';
import { PageHead, Panel } from '../../parts/panel.tsx';
import { EmptyState, Loaded } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { At, Since, useNow } from '../../parts/time.tsx';
import { duration, number, plural } from '../../words.ts';
import { firstOf } from './first.ts';

type Pools = Output<'pools.list'>['pools'];
type Queues = Output<'queues.list'>['queues'];

const sum = <T,>(rows: readonly T[], of: (row: T) => number) => rows.reduce((all, row) => all + of(row), 0);

export function NowPage() {
  const pools = useRead('pools.list', { limit: 200 });
  const queues = useRead('queues.list', {});
  const inbox = useRead('inbox.list', { limit: 100 });
  const dead = useRead('deadLetters.list', { limit: 500 });
  const alerts = useRead('alerts.list', { limit: 50 });
  return (
    <>
      <PageHead title="Now" question="Is anything stuck or costing us money, and what should I do first?">
        <CopyCurl path="/v1/queues" />
      </PageHead>
      <div className="stack">
        <Figures>
          <Whole read={pools} label="Can serve">
            {({ pools: all }) => <Serve pools={all} />}
          </Whole>
          <Whole read={queues} label="Queues">
            {({ queues: all }) => <Work queues={all} />}
          </Whole>
          <Whole read={dead} label="Dead letters">
            {({ jobs, cursor }) => (
              <Figure
                label="Dead letters"
                value={<Link to="/dead-letters">{`${number(jobs.length)}${cursor === null ? '' : '+'}`}</Link>}
                note={
                  jobs.length === 0
                    ? 'nothing has died'
                    : `${number(sum(jobs, (job) => (job.refundedAt ? job.price : 0)))} refunded for them`
                }
              />
            )}
          </Whole>
          <Whole read={inbox} label="Needs a person">
            {({ items }) => (
              <Figure
                label="Needs a person"
                value={<Link to="/inbox">{number(items.length)}</Link>}
                note={
                  items[0] ? (
                    <>
                      oldest <Since instant={items[0].since} />
                    </>
                  ) : (
                    'nothing waits for you'
                  )
                }
              />
            )}
          </Whole>
        </Figures>
        <First {...{ pools, queues, inbox, dead, alerts }} />
        <Panel title="Queues" more={<Link to="/dead-letters">Dead letters</Link>}>
          <Loaded read={queues} what="The queues">
            {({ queues: all }) => <QueueTable queues={all} />}
          </Loaded>
        </Panel>
        <Panel title="Pools" more={<Link to="/pools">All pools</Link>}>
          <Loaded read={pools} what="The pools">
            {({ pools: all }) => <PoolTable pools={all} />}
          </Loaded>
        </Panel>
      </div>
    </>
  );
}

/** A figure that loads and fails alone. */
function Whole<T>({
  read,
  label,
  children,
}: {
  read: UseQueryResult<T>;
  label: string;
  children: (data: T) => React.ReactNode;
}) {
  if (read.data !== undefined) return <>{children(read.data)}</>;
  return (
    <Figure
      label={label}
      value={<span className="muted">–</span>}
      note={read.error ? 'could not be read: see below' : 'loading'}
    />
  );
}

function Serve({ pools }: { pools: Pools }) {
  const [usable, on] = [sum(pools, (pool) => pool.usable), sum(pools, (pool) => pool.on)];
  const out = pools.filter((pool) => pool.usable === 0);
  const note =
    pools.length === 0
      ? 'no pools yet'
      : out.length > 0
        ? `${plural(out.length, 'pool')} out`
        : 'every pool can be used';
  return (
    <Figure
      label="Can serve"
      value={pools.length === 0 ? '–' : number(usable)}
      unit={pools.length === 0 ? '' : `of ${plural(on, 'upstream')}`}
      note={note}
    />
  );
}

function Work({ queues }: { queues: Queues }) {
  const oldest = Math.max(...queues.map(({ oldestReadyMs }) => oldestReadyMs ?? -1), -1);
  return (
    <Figure
      label="Ready to run"
      value={number(sum(queues, (queue) => queue.ready))}
      unit={`${number(sum(queues, (queue) => queue.running + queue.waiting))} running`}
      note={oldest < 0 ? 'nothing waits' : `oldest ${duration(oldest)}`}
    />
  );
}

interface FirstProps {
  pools: UseQueryResult<Output<'pools.list'>>;
  queues: UseQueryResult<Output<'queues.list'>>;
  inbox: UseQueryResult<Output<'inbox.list'>>;
  dead: UseQueryResult<Output<'deadLetters.list'>>;
  alerts: UseQueryResult<Output<'alerts.list'>>;
}

function First({ pools, queues, inbox, dead, alerts }: FirstProps) {
  const now = useNow(5000);
  const whole = [pools, queues, inbox, dead, alerts].every(({ data }) => data !== undefined);
  const todo = firstOf({
    items: inbox.data?.items ?? [],
    dead: dead.data?.jobs ?? [],
    alerts: alerts.data?.alerts ?? [],
    now,
  });
  if (whole && todo.length === 0) return <AllGood pools={pools.data!.pools} queues={queues.data!.queues} />;
  const broken = [inbox, dead, alerts].find(({ error, data }) => error && !data);
  return (
    <Panel title="Do first">
      {todo.length > 0 && (
        <ol className="steps">
          {todo.map(({ id, says, to, search }) => (
            <li key={id}>
              <span>{says}</span>
              <Link to={to} search={(search ?? {}) as never}>
                Open
              </Link>
            </li>
          ))}
        </ol>
      )}
      {broken ? (
        <Loaded read={broken as UseQueryResult<unknown>} what="A part of it">
          {() => null}
        </Loaded>
      ) : (
        !whole && <p className="muted">Looking…</p>
      )}
    </Panel>
  );
}

function AllGood({ pools, queues }: { pools: Pools; queues: Queues }) {
  const [usable, on] = [sum(pools, (pool) => pool.usable), sum(pools, (pool) => pool.on)];
  const oldest = Math.max(...queues.map(({ oldestReadyMs }) => oldestReadyMs ?? -1), -1);
  const parts = [
    pools.length > 0 && `${number(usable)} of ${plural(on, 'upstream')} can be used`,
    oldest < 0 ? 'no job waits' : `the oldest waiting job is ${duration(oldest)} old`,
  ].filter(Boolean);
  return (
    <p className="line">
      <span aria-hidden="true">●</span>
      Nothing needs you: {parts.join(', ')}.
    </p>
  );
}

function QueueTable({ queues }: { queues: Queues }) {
  if (queues.length === 0)
    return (
      <EmptyState
        title="No job waits or runs"
        command={`curl -X PUT ${location.origin}/v1/wallets/w1/jobs/j1 -H 'content-type: application/json' -d '{"queue":"video","price":40}'`}
      >
        A job is charged as it is submitted, and shown here until it has ended:
      </EmptyState>
    );
  return (
    <Table
      caption="Queues with what waits in each"
      rows={queues}
      id={({ queue }) => queue}
      columns={[
        { head: 'Queue', cell: ({ queue }) => queue, kind: 'wide' },
        { head: 'Ready', cell: ({ ready }) => number(ready), kind: 'number' },
        { head: 'Later', cell: ({ later }) => number(later), kind: 'number' },
        { head: 'Running', cell: ({ running }) => number(running), kind: 'number' },
        { head: 'At the provider', cell: ({ waiting }) => number(waiting), kind: 'number' },
        {
          head: 'Dead',
          cell: ({ queue, dead }) =>
            dead === 0 ? (
              0
            ) : (
              <Link to="/dead-letters" search={{ queue }}>
                {number(dead)}
              </Link>
            ),
          kind: 'number',
        },
        {
          head: 'Oldest ready',
          cell: ({ oldestReadyMs }) => (oldestReadyMs === null ? '' : duration(oldestReadyMs)),
          kind: 'number',
        },
      ]}
    />
  );
}

function PoolTable({ pools }: { pools: Pools }) {
  if (pools.length === 0)
    return <p className="muted">No pool yet: upstreams are the accounts at providers that jobs run on.</p>;
  return (
    <Table
      caption="Pools with how many of their upstreams are usable"
      rows={pools}
      id={({ pool }) => pool}
      columns={[
        { head: 'Pool', cell: ({ pool }) => <PoolLink pool={pool} />, kind: 'wide' },
        {
          head: 'State',
          cell: ({ usable, on }) =>
            usable === 0 ? (
              <Badge tone="bad">out</Badge>
            ) : usable < on ? (
              <Badge tone="cooling">in part</Badge>
            ) : (
              <Badge tone="good">ready</Badge>
            ),
        },
        { head: 'Usable', cell: ({ usable, on }) => `${number(usable)} of ${number(on)}`, kind: 'number' },
        { head: 'Slots out', cell: ({ slotsOut }) => number(slotsOut), kind: 'number' },
        {
          head: 'Back, expected',
          cell: ({ usable, expectedRecoveryAt: at }) =>
            usable > 0 ? '' : at === null ? 'a person first' : <At instant={at} />,
          kind: 'tight',
        },
      ]}
    />
  );
}
