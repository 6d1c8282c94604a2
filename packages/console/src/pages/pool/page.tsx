// Pool board: can we serve now, and when does capacity come back?
import { getRouteApi } from '@tanstack/react-router';
import { useRead } from '../../api.ts';
import { addressOf, UpstreamLink } from '../../links.tsx';
import { Badge } from '../../parts/badge.tsx';
import { CopyCurl } from '../../parts/copy.tsx';
import { PageHead, Panel } from '../../parts/panel.tsx';
import { EmptyState, Loaded } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Since, useNow } from '../../parts/time.tsx';
import type { Upstream } from '../../types.ts';
import { number, plural } from '../../words.ts';
import { UpstreamActions } from './actions.tsx';
import { Forecast } from './forecast.tsx';
import { backOf, becauseOf, ORDER, ranked, stateOf, TONES } from './state.ts';

const route = getRouteApi('/frame/pools/$pool');

export function PoolPage() {
  const { pool } = route.useParams();
  const read = useRead('pools.explain', { pool, limit: 500 });
  const now = useNow(1000);
  return (
    <>
      <PageHead title={pool} question="Can we serve now, and when does capacity come back?">
        <CopyCurl path={`/v1${addressOf.pool(pool)}/explain`} />
      </PageHead>
      <Loaded read={read} what="The pool" rows={8}>
        {({ upstreams }) =>
          upstreams.length === 0 ? (
            <EmptyState title="No upstream is in this pool">
              A pool is there by its upstreams: register one with this pool’s name.
            </EmptyState>
          ) : (
            <div className="stack">
              <Counts upstreams={upstreams} />
              <Panel title="Upstreams" more="in the order of picking, then what returns soonest">
                <Table
                  caption="Upstreams of the pool: usable ones in the order of picking, then what returns soonest"
                  cards
                  rows={ranked(upstreams)}
                  id={({ upstream: { upstream } }) => upstream}
                  columns={columnsAt(now)}
                />
              </Panel>
              <Panel title="The next six hours" more="usable upstreams, as expected now">
                <Forecast upstreams={upstreams.filter(({ status }) => status === 'on')} now={now} />
              </Panel>
            </div>
          )
        }
      </Loaded>
    </>
  );
}

/** How many are in each state, in words and shapes. */
function Counts({ upstreams }: { upstreams: readonly Upstream[] }) {
  const words = upstreams.map((one) => stateOf(one).word);
  return (
    <div className="actions">
      {ORDER.filter((word) => words.includes(word)).map((word) => (
        <Badge key={word} tone={TONES[word]}>{`${number(words.filter((one) => one === word).length)} ${word}`}</Badge>
      ))}
      <span className="muted small">of {plural(upstreams.length, 'upstream')}</span>
    </div>
  );
}

type Row = ReturnType<typeof ranked>[number];

const columnsAt = (now: number): readonly Column<Row>[] => [
  {
    head: 'Upstream',
    cell: ({ upstream: { upstream, provider } }) => (
      <>
        <UpstreamLink upstream={upstream} />
        <div className="muted small">{provider}</div>
      </>
    ),
    kind: 'tight',
  },
  {
    head: 'State',
    cell: ({ upstream }) => {
      const { word } = stateOf(upstream);
      return <Badge tone={TONES[word]}>{word}</Badge>;
    },
  },
  { head: 'Because', cell: ({ upstream }) => becauseOf(stateOf(upstream).because), kind: 'wide' },
  { head: 'Back', cell: ({ upstream }) => backOf(upstream, now), kind: 'wide' },
  {
    head: 'Slots',
    cell: ({ upstream: { slotsOut, maxConcurrency } }) =>
      `${number(slotsOut)} of ${maxConcurrency === null ? '∞' : number(maxConcurrency)}`,
    kind: 'number',
  },
  { head: 'Picked', cell: ({ rank }) => (rank === null ? 'no' : `as no. ${rank}`), kind: 'tight' },
  {
    head: 'Last used',
    cell: ({ upstream: { lastUsedAt } }) =>
      lastUsedAt === null ? (
        <span className="muted">never</span>
      ) : (
        <>
          <Since instant={lastUsedAt} /> ago
        </>
      ),
    kind: 'tight',
  },
  { head: 'Do', cell: ({ upstream }) => <UpstreamActions upstream={upstream} /> },
];
