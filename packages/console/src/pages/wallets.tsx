// Wallets: whose balance is it? In the order of their ids, of everybody or of one customer.
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { ask } from '../api.ts';
import { WalletLink } from '../links.tsx';
import { Badge } from '../parts/badge.tsx';
import { Button } from '../parts/button.tsx';
import { CopyCurl } from '../parts/copy.tsx';
import { PageHead } from '../parts/panel.tsx';
import { EmptyState, ErrorState, Skeleton } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';
import { number } from '../words.ts';

const route = getRouteApi('/frame/wallets');

export function WalletsPage() {
  const { customer } = route.useSearch();
  const navigate = useNavigate();
  const of = customer === undefined ? {} : { customer };
  const read = useInfiniteQuery({
    queryKey: ['wallets.list', of],
    queryFn: ({ pageParam, signal }) =>
      ask('wallets.list', { ...of, limit: 100, ...(pageParam === null ? {} : { cursor: pageParam }) }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ cursor }) => cursor,
  });
  const wallets = read.data?.pages.flatMap((page) => page.wallets) ?? [];
  return (
    <>
      <PageHead title="Wallets" question="Who holds how much?">
        <CopyCurl path={`/v1/wallets${customer === undefined ? '' : `?customer=${encodeURIComponent(customer)}`}`} />
      </PageHead>
      <div className="stack">
        <form
          className="filters"
          key={customer ?? ''}
          onSubmit={(event) => {
            event.preventDefault();
            const given = String(new FormData(event.currentTarget).get('customer') ?? '').trim();
            void navigate({ to: '/wallets', search: given === '' ? {} : { customer: given } });
          }}
        >
          <label className="field">
            <span>Customer</span>
            <input className="input" name="customer" defaultValue={customer ?? ''} placeholder="All" />
          </label>
          <Button type="submit">Filter</Button>
        </form>
        {read.error && !read.data && (
          <ErrorState what="The wallets could not be read" error={read.error} retry={() => void read.refetch()} />
        )}
        {read.isPending && <Skeleton rows={8} />}
        {read.data && wallets.length === 0 && <NoWallets customer={customer} />}
        {wallets.length > 0 && (
          <Table
            caption="Wallets with what they hold"
            rows={wallets}
            id={({ wallet }) => wallet}
            columns={[
              { head: 'Wallet', cell: ({ wallet }) => <WalletLink wallet={wallet} />, kind: 'wide' },
              { head: 'Customer', cell: (row) => row.customer },
              { head: 'Balance', cell: (row) => number(row.booked), kind: 'number' },
              { head: 'Unit', cell: ({ unit }) => <span className="muted">{unit}</span> },
              {
                head: 'State',
                cell: ({ booked, status }) =>
                  status === 'closed' ? (
                    <Badge tone="plain">closed</Badge>
                  ) : booked < 0 ? (
                    <Badge tone="bad">in debt</Badge>
                  ) : booked === 0 ? (
                    <Badge tone="cooling">empty</Badge>
                  ) : (
                    <Badge tone="good">active</Badge>
                  ),
              },
            ]}
          />
        )}
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

function NoWallets({ customer }: { customer: string | undefined }) {
  if (customer !== undefined)
    return (
      <EmptyState title={`The customer ${customer} has no wallet`}>
        Look at the spelling: ids are never folded.
      </EmptyState>
    );
  return (
    <EmptyState
      title="No wallet yet"
      command={`curl -X PUT ${location.origin}/v1/wallets/w1 -H 'content-type: application/json' -d '{"customer":"ann"}'`}
    >
      A wallet holds the credits of a customer. It is here as soon as your service opens it, or this line does:
    </EmptyState>
  );
}
