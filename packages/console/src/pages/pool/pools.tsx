// Pools: which of them can be used now?
import { useRead } from '../../api.ts';
import { PoolLink } from '../../links.tsx';
import { Badge } from '../../parts/badge.tsx';
import { CopyCurl } from '../../parts/copy.tsx';
import { PageHead } from '../../parts/panel.tsx';
import { EmptyState, Loaded } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { At } from '../../parts/time.tsx';
import { number } from '../../words.ts';

export function PoolsPage() {
  const read = useRead('pools.list', { limit: 200 });
  return (
    <>
      <PageHead title="Pools" question="Which of them can be used now, and when are the others back?">
        <CopyCurl path="/v1/pools" />
      </PageHead>
      <Loaded read={read} what="The pools" rows={6}>
        {({ pools }) =>
          pools.length === 0 ? (
            <EmptyState
              title="No pool yet"
              command={`curl -X PUT ${location.origin}/v1/upstreams/gpu-a -H 'content-type: application/json' -d '{"pool":"video","provider":"generic"}'`}
            >
              A pool is there by its upstreams: accounts at providers that jobs run on. This makes one known:
            </EmptyState>
          ) : (
            <Table
              caption="Pools with how many of their upstreams are usable"
              rows={pools}
              id={({ pool }) => pool}
              columns={[
                { head: 'Pool', cell: ({ pool }) => <PoolLink pool={pool} />, kind: 'wide' },
                {
                  head: 'State',
                  cell: ({ usable, on, total }) =>
                    usable === 0 ? (
                      <Badge tone="bad">out</Badge>
                    ) : usable < on || on < total ? (
                      <Badge tone="cooling">in part</Badge>
                    ) : (
                      <Badge tone="good">ready</Badge>
                    ),
                },
                { head: 'Usable', cell: ({ usable }) => number(usable), kind: 'number' },
                { head: 'On', cell: ({ on }) => number(on), kind: 'number' },
                { head: 'All', cell: ({ total }) => number(total), kind: 'number' },
                { head: 'Slots out', cell: ({ slotsOut }) => number(slotsOut), kind: 'number' },
                {
                  head: 'Back, expected',
                  cell: ({ usable, expectedRecoveryAt }) =>
                    usable > 0 ? (
                      ''
                    ) : expectedRecoveryAt === null ? (
                      'a person first'
                    ) : (
                      <At instant={expectedRecoveryAt} />
                    ),
                  kind: 'tight',
                },
              ]}
            />
          )
        }
      </Loaded>
    </>
  );
}
