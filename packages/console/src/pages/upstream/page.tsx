// Upstream: may it be picked now; if not, why, since when, and who says so?
import { getRouteApi } from '@tanstack/react-router';
import { useRead } from '../../api.ts';
import { addressOf, PoolLink } from '../../links.tsx';
import { Badge } from '../../parts/badge.tsx';
import { CopyCurl } from '../../parts/copy.tsx';
import { Figure, Figures } from '../../parts/figure.tsx';
import { PageHead, Panel } from '../../parts/panel.tsx';
import { EmptyState, Loaded } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { At, Since, useNow } from '../../parts/time.tsx';
import type { Upstream } from '../../types.ts';
import { number, spaced } from '../../words.ts';
import { UpstreamActions } from '../pool/actions.tsx';
import { backOf, becauseOf, stateOf, TONES } from '../pool/state.ts';
import { Limits, ProviderSays } from './limits.tsx';
import { type HistoryEvent, stretchesOf } from './stretches.ts';
import { Strip } from './strip.tsx';

const route = getRouteApi('/frame/upstreams/$upstream');

export function UpstreamPage() {
  const { upstream } = route.useParams();
  const read = useRead('upstreams.explain', { upstream });
  return (
    <>
      <PageHead title={upstream} question="May it be picked now; if not, why, since when, and who says so?">
        <CopyCurl path={`/v1${addressOf.upstream(upstream)}/explain`} />
      </PageHead>
      <Loaded read={read} what="The upstream" rows={8}>
        {(found) => (
          <div className="stack">
            <Head upstream={found} />
            <Checks upstream={found} />
            <Limits upstream={upstream} />
            <ProviderSays upstream={upstream} />
            <History upstream={upstream} />
          </div>
        )}
      </Loaded>
    </>
  );
}

function Head({ upstream }: { upstream: Upstream }) {
  const now = useNow(1000);
  const { word, because } = stateOf(upstream);
  const [when, ...says] = backOf(upstream, now).split(', ');
  const { pool, provider, route: way, slotsOut, maxConcurrency, lastUsedAt } = upstream;
  return (
    <>
      <Figures>
        <Figure
          label="State"
          value={<Badge tone={TONES[word]}>{word}</Badge>}
          note={becauseOf(because) || 'nothing keeps it out'}
        />
        <Figure label="Back" value={when || 'now'} note={says.join(', ')} />
        <Figure
          label="Slots"
          value={number(slotsOut)}
          unit={`of ${maxConcurrency === null ? '∞' : number(maxConcurrency)}`}
          note={lastUsedAt === null ? 'never used' : <Ago instant={lastUsedAt} />}
        />
        <Figure
          label="Pool"
          value={<PoolLink pool={pool} />}
          note={`${provider}${way === 'direct' ? '' : ` by ${way}`}`}
        />
      </Figures>
      <UpstreamActions upstream={upstream} />
    </>
  );
}

const Ago = ({ instant }: { instant: string }) => (
  <>
    used <Since instant={instant} /> ago
  </>
);

/** Every check that fails, not only the one that lasts longest. */
function Checks({ upstream: { failing } }: { upstream: Upstream }) {
  return (
    <Panel title="What keeps it out" more="every check that fails, and the next step">
      {failing.length === 0 ? (
        <EmptyState title="Nothing">It is picked when its turn comes.</EmptyState>
      ) : (
        <Table
          caption="Checks that fail"
          cards
          rows={failing.map((check, index) => ({ ...check, index }))}
          id={({ check, index }) => `${check} ${index}`}
          columns={[
            { head: 'Check', cell: ({ check }) => spaced(check), kind: 'tight' },
            { head: 'Because', cell: (check) => becauseOf(check), kind: 'wide' },
            { head: 'For', cell: ({ scope }) => scope || 'everything' },
            { head: 'Until', cell: ({ until }) => (until === null ? '' : <At instant={until} />), kind: 'tight' },
            { head: 'Next step', cell: ({ nextStep }) => nextStep ?? '', kind: 'wide' },
          ]}
        />
      )}
    </Panel>
  );
}

function History({ upstream }: { upstream: string }) {
  const read = useRead('upstreams.history', { upstream, limit: 200 });
  const now = useNow(5000);
  return (
    <Panel title="History" more="who blocked it and who freed it, when, on what evidence">
      <Loaded read={read} what="The history" rows={6}>
        {({ events, cursor }) => (
          <>
            <Strip
              stretches={stretchesOf(events)}
              from={Date.parse(events.at(-1)?.at ?? '') || now - 60_000}
              now={now}
            />
            <Table
              caption="What happened to the upstream, the newest first"
              cards
              rows={events}
              id={({ block, generation, type, at }) => `${block} ${generation} ${type} ${at}`}
              columns={[
                { head: 'When', cell: ({ at }) => <At instant={at} />, kind: 'tight' },
                { head: 'What', cell: whatOf, kind: 'tight' },
                {
                  head: 'On',
                  cell: ({ subject, scope }) => [subject.replace(':', ' '), scope].filter(Boolean).join(' '),
                },
                { head: 'Until', cell: ({ until }) => (until === null ? '' : <At instant={until} />), kind: 'tight' },
                { head: 'Who and why', cell: whyOf, kind: 'wide' },
              ]}
            />
            {cursor !== null && <p className="muted small">The newest 200 events; older ones by the API.</p>}
          </>
        )}
      </Loaded>
    </Panel>
  );
}

const whatOf = ({ type, kind, closedAs, step }: HistoryEvent): string =>
  [spaced(type), kind && spaced(kind), closedAs && `by ${spaced(closedAs)}`, step && step > 1 && `step ${step}`]
    .filter(Boolean)
    .join(' · ');

const whyOf = ({ actor, reason, source }: HistoryEvent): string =>
  [actor, reason, source && spaced(source)].filter(Boolean).join(' · ');
