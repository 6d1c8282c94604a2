// Search: what an id that somebody pasted can be; where it is one thing, that page opens.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { ask } from '../api.ts';
import { addressOf } from '../links.tsx';
import { PageHead } from '../parts/panel.tsx';
import { EmptyState, Loaded } from '../parts/states.tsx';

const route = getRouteApi('/frame/search');

interface Found {
  what: string;
  name: string;
  href: string;
}

/** Null where it is not there; other failures are failures. */
const orNull = <T,>(answer: Promise<T>): Promise<T | null> =>
  answer.catch((error: { code?: string }) => {
    if (/^no_|invalid|forbidden/.test(error.code ?? '')) return null;
    throw error;
  });

async function find(q: string): Promise<Found[]> {
  // A secret belongs into no address and no log.
  if (/^rcp_[0-9a-z]{12}_/.test(q))
    throw new Error('That is the secret of an API key. Revoke it if others may have seen it.');
  const cut = q.split(/\s+|\/(?=[^/]*$)/).filter(Boolean);
  const [wallet, byRef, upstream, subscription, job, ofCustomer] = await Promise.all([
    orNull(ask('wallets.balance', { wallet: q })),
    orNull(ask('jobs.byUpstreamRef', { upstreamRef: q })),
    orNull(ask('upstreams.explain', { upstream: q })),
    orNull(ask('subscriptions.get', { subscription: q })),
    cut.length === 2 ? orNull(ask('jobs.get', { wallet: cut[0]!, job: cut[1]! })) : null,
    orNull(ask('wallets.list', { customer: q, limit: 20 })),
  ]);
  return [
    ...(wallet ? [{ what: 'Wallet', name: q, href: addressOf.wallet(q) }] : []),
    ...(job ? [{ what: 'Job', name: job.job.id, href: addressOf.job(job.job.wallet, job.job.id) }] : []),
    ...(byRef?.jobs ?? []).map(({ job: { wallet: of, id } }) => ({
      what: 'Job with this reference',
      name: id,
      href: addressOf.job(of, id),
    })),
    ...(upstream ? [{ what: `Upstream of ${upstream.pool}`, name: q, href: addressOf.upstream(q) }] : []),
    ...(subscription ? [{ what: 'Subscription', name: q, href: addressOf.subscription(q) }] : []),
    ...(ofCustomer?.wallets ?? []).map((one) => ({
      what: `Wallet of the customer ${q}`,
      name: one.wallet,
      href: addressOf.wallet(one.wallet),
    })),
  ];
}

export function SearchPage() {
  const { q = '' } = route.useSearch();
  const navigate = useNavigate();
  const read = useQuery({ queryKey: ['search', q], queryFn: () => find(q), enabled: q !== '' });
  const one = read.data?.length === 1 ? read.data[0]!.href : undefined;
  useEffect(() => {
    if (one) void navigate({ href: one, replace: true });
  }, [one, navigate]);
  return (
    <>
      <PageHead title="Search" question={q} />
      <Loaded read={read} what="What that may be">
        {(found) =>
          found.length === 0 ? (
            <EmptyState title="Nothing has this id">
              Wallets, customers, upstreams and references of upstreams are found by their id. The id of a job is one
              within its wallet: write both, as in <code>wallet-1/video-1</code>.
            </EmptyState>
          ) : (
            <ul>
              {found.map(({ what, name, href }) => (
                <li key={href} className="item">
                  <a href={href}>{name}</a>
                  <span className="muted small">{what}</span>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </>
  );
}
