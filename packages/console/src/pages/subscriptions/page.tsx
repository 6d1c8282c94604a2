// A subscription: what was granted for which payment, and what happens next?
import { getRouteApi } from '@tanstack/react-router';
import { useRead } from '../../api.ts';
import { addressOf, WalletLink } from '../../links.tsx';
import { Badge } from '../../parts/badge.tsx';
import { CopyCurl } from '../../parts/copy.tsx';
import { Figure, Figures } from '../../parts/figure.tsx';
import { PageHead, Panel } from '../../parts/panel.tsx';
import { Loaded } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { At } from '../../parts/time.tsx';
import { number, spaced } from '../../words.ts';
import { nextOf, type Subscription, TONES } from './state.ts';

const route = getRouteApi('/frame/subscriptions/$subscription');

export function SubscriptionPage() {
  const { subscription } = route.useParams();
  const read = useRead('subscriptions.get', { subscription });
  return (
    <>
      <PageHead title={subscription} question="What was granted for which payment, and what happens next?">
        <CopyCurl path={`/v1${addressOf.subscription(subscription)}`} />
      </PageHead>
      <Loaded read={read} what="The subscription" rows={8}>
        {(found) => (
          <div className="stack">
            <Head found={found} />
            <History subscription={subscription} />
          </div>
        )}
      </Loaded>
    </>
  );
}

function Head({ found }: { found: Subscription }) {
  const { says, at } = nextOf(found);
  const { customer, wallet, plan, status, period, periodStart } = found;
  return (
    <Figures>
      <Figure label="State" value={<Badge tone={TONES[status]}>{spaced(status)}</Badge>} note={`of ${customer}`} />
      <Figure
        label="Plan"
        value={plan}
        note={
          period === null ? (
            'no period yet'
          ) : (
            <>
              period {number(period)}
              {periodStart && (
                <>
                  {' '}
                  since <At instant={periodStart} />
                </>
              )}
            </>
          )
        }
      />
      <Figure label="Next" value={at === null ? '–' : <At instant={at} />} note={says} />
      <Figure label="Wallet" value={<WalletLink wallet={wallet} />} note="every period is a grant in it" />
    </Figures>
  );
}

function History({ subscription }: { subscription: string }) {
  const read = useRead('subscriptions.history', { subscription });
  return (
    <Panel title="History" more="what happened to it, and on what payment">
      <Loaded read={read} what="The history" rows={4}>
        {({ events }) => (
          <Table
            caption="What happened to the subscription, in order"
            cards
            rows={events}
            id={(event) => String(event.number)}
            columns={[
              { head: 'When', cell: ({ at }) => <At instant={at} />, kind: 'tight' },
              { head: 'What', cell: ({ type }) => spaced(type) },
              { head: 'Plan', cell: ({ plan }) => plan },
              { head: 'Period', cell: ({ period }) => (period === null ? '' : number(period)), kind: 'number' },
              { head: 'Payment or key', cell: ({ key }) => key ?? '' },
              {
                head: 'Who and why',
                cell: ({ actor, reason }) => [actor, reason].filter(Boolean).join(' · '),
                kind: 'wide',
              },
            ]}
          />
        )}
      </Loaded>
    </Panel>
  );
}
