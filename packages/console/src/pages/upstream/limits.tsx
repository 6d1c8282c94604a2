// The limits of an upstream with what is used of each, and what its provider said last of its own.
import { useState } from 'react';
import { ask, useMay, useRead } from '../../api.ts';
import { useActor } from '../../parts/actor.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Panel } from '../../parts/panel.tsx';
import { EmptyState, Loaded } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { At, Since } from '../../parts/time.tsx';
import { number, spaced } from '../../words.ts';

export function Limits({ upstream }: { upstream: string }) {
  const read = useRead('limits.list', { upstream });
  const [asked, setAsked] = useState<string | null>(null);
  const may = useMay()('operator');
  const actor = useActor();
  return (
    <Panel title="Limits" more="what is used of them in the window that runs">
      <Loaded read={read} what="The limits" rows={2}>
        {({ limits }) =>
          limits.length === 0 ? (
            <EmptyState title="No limit is set on it">It is kept out by what its provider answers alone.</EmptyState>
          ) : (
            <Table
              caption="Limits of the upstream"
              cards
              rows={limits}
              id={({ limit }) => limit}
              columns={[
                { head: 'Limit', cell: ({ limit }) => limit },
                { head: 'For', cell: ({ scope }) => scope || 'everything' },
                {
                  head: 'Used',
                  cell: ({ used, amount, unit }) => `${number(used)} of ${number(amount)} ${unit}`,
                  kind: 'tight',
                },
                { head: 'Window', cell: ({ kind, zone }) => `${spaced(kind)}${zone ? ` in ${zone}` : ''}` },
                {
                  head: 'Ends',
                  cell: ({ windowEnd, endedAt }) =>
                    endedAt !== null ? 'the limit has ended' : windowEnd === null ? '' : <At instant={windowEnd} />,
                  kind: 'tight',
                },
                {
                  head: 'Do',
                  cell: ({ limit, endedAt }) =>
                    endedAt === null && (
                      <Button small why={may} onClick={() => setAsked(limit)}>
                        Reset
                      </Button>
                    ),
                },
              ]}
            />
          )
        }
      </Loaded>
      {asked !== null && (
        <Confirm
          title={`${asked}: begin a new window?`}
          does="Reset"
          danger
          reason="required"
          run={(reason) => ask('limits.reset', { limit: asked, reason, ...(actor ? { actor } : {}) })}
          onClose={() => setAsked(null)}
        >
          <p>What was used so far counts no more. The provider is not asked: it may count on.</p>
        </Confirm>
      )}
    </Panel>
  );
}

export function ProviderSays({ upstream }: { upstream: string }) {
  const read = useRead('upstreams.snapshots', { upstream });
  return (
    <Panel title="What its provider said last" more="of its own quota, with an answer or a usage page">
      <Loaded read={read} what="What the provider said" rows={2}>
        {({ snapshots }) =>
          snapshots.length === 0 ? (
            <EmptyState title="Nothing yet">Answers that carry headers of a quota are kept here.</EmptyState>
          ) : (
            <Table
              caption="What the provider said last of its own quota"
              cards
              rows={snapshots}
              id={({ subject, scope, name }) => `${subject} ${scope} ${name}`}
              columns={[
                { head: 'Quota', cell: ({ name }) => name },
                { head: 'Of', cell: ({ subject }) => subject.replace(':', ' ') },
                { head: 'For', cell: ({ scope }) => scope || 'everything' },
                {
                  head: 'Used',
                  cell: ({ used, exhausted }) =>
                    used === null ? (exhausted ? 'all' : 'unknown') : `${number(Math.round(used * 1000) / 10)} %`,
                  kind: 'number',
                },
                {
                  head: 'Resets',
                  cell: ({ resetsAt }) => (resetsAt === null ? '' : <At instant={resetsAt} />),
                  kind: 'tight',
                },
                {
                  head: 'Said',
                  cell: ({ observedAt }) => (
                    <>
                      <Since instant={observedAt} /> ago
                    </>
                  ),
                  kind: 'tight',
                },
              ]}
            />
          )
        }
      </Loaded>
    </Panel>
  );
}
