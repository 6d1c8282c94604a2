// Subscriptions: who is on which plan, is it paid, and what happens next?
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { ask } from '../../api.ts';
import { SubscriptionLink, WalletLink } from '../../links.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { CopyCurl } from '../../parts/copy.tsx';
import { PageHead } from '../../parts/panel.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { At } from '../../parts/time.tsx';
import { spaced } from '../../words.ts';
import { nextOf, type Subscription, TONES } from './state.ts';

const route = getRouteApi('/frame/subscriptions');
const STATES = Object.keys(TONES) as Subscription['status'][];
const isState = (text: string | undefined): text is Subscription['status'] =>
  (STATES as (string | undefined)[]).includes(text);

export function SubscriptionsPage() {
  const { customer, status } = route.useSearch();
  const navigate = useNavigate();
  const of = { ...(customer === undefined ? {} : { customer }), ...(isState(status) ? { status } : {}) };
  const read = useInfiniteQuery({
    queryKey: ['subscriptions.list', of],
    queryFn: ({ pageParam, signal }) =>
      ask('subscriptions.list', { ...of, limit: 100, ...(pageParam === null ? {} : { cursor: pageParam }) }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ cursor }) => cursor,
  });
  const found = read.data?.pages.flatMap((page) => page.subscriptions) ?? [];
  const query = new URLSearchParams(of).toString();
  return (
    <>
      <PageHead title="Subscriptions" question="Who is on which plan, is it paid, and what happens next?">
        <CopyCurl path={`/v1/subscriptions${query === '' ? '' : `?${query}`}`} />
      </PageHead>
      <div className="stack">
        <form
          className="filters"
          key={query}
          onSubmit={(event) => {
            event.preventDefault();
            const given = [...new FormData(event.currentTarget)].map(([name, value]) => [name, String(value).trim()]);
            void navigate({
              to: '/subscriptions',
              search: Object.fromEntries(given.filter(([, text]) => text !== '')),
            });
          }}
        >
          <label className="field">
            <span>Customer</span>
            <input className="input" name="customer" defaultValue={customer ?? ''} placeholder="All" />
          </label>
          <label className="field">
            <span>State</span>
            <select className="input" name="status" defaultValue={isState(status) ? status : ''}>
              <option value="">All</option>
              {STATES.map((state) => (
                <option key={state} value={state}>
                  {spaced(state)}
                </option>
              ))}
            </select>
          </label>
          <Button type="submit">Filter</Button>
        </form>
        {read.error && !read.data && (
          <ErrorState what="The subscriptions could not be read" error={read.error} retry={() => void read.refetch()} />
        )}
        {read.isPending && <Skeleton rows={8} />}
        {read.data && found.length === 0 && <None filtered={query !== ''} />}
        {found.length > 0 && <Rows found={found} />}
        {read.hasNextPage && (
          <div>
            <Button busy={read.isFetchingNextPage} onClick={() => void read.fetchNextPage()}>
              Show more
            </Button>
          </div>
        )}
      </div>
    </>
  );
}

const Rows = ({ found }: { found: readonly Subscription[] }) => (
  <Table
    caption="Subscriptions with what happens next"
    cards
    rows={found}
    id={({ subscription }) => subscription}
    columns={[
      {
        head: 'Subscription',
        cell: ({ subscription }) => <SubscriptionLink subscription={subscription} />,
        kind: 'wide',
      },
      { head: 'Customer', cell: ({ customer }) => customer },
      { head: 'Wallet', cell: ({ wallet }) => <WalletLink wallet={wallet} /> },
      { head: 'Plan', cell: ({ plan }) => plan },
      { head: 'State', cell: ({ status }) => <Badge tone={TONES[status]}>{spaced(status)}</Badge> },
      { head: 'Next', cell: (row) => nextOf(row).says, kind: 'wide' },
      {
        head: 'When',
        cell: (row) => {
          const { at } = nextOf(row);
          return at === null ? '' : <At instant={at} />;
        },
        kind: 'tight',
      },
    ]}
  />
);

const None = ({ filtered }: { filtered: boolean }) =>
  filtered ? (
    <EmptyState title="No subscription is so">Look at the spelling of the customer, or at all states.</EmptyState>
  ) : (
    <EmptyState
      title="No subscription yet"
      command={`curl -X PUT ${location.origin}/v1/plans/pro -H 'content-type: application/json' -d '{"credits":1000,"every":"month"}'`}
    >
      A subscription grants a plan’s credits each period. Plans come first:
    </EmptyState>
  );
