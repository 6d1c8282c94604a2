// Links to what has a page, by its id; ids may hold any character, a slash too.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

export const addressOf = {
  wallet: (wallet: string) => `/wallets/${encodeURIComponent(wallet)}`,
  job: (wallet: string, job: string) => `/wallets/${encodeURIComponent(wallet)}/jobs/${encodeURIComponent(job)}`,
  pool: (pool: string) => `/pools/${encodeURIComponent(pool)}`,
  subscription: (subscription: string) => `/subscriptions/${encodeURIComponent(subscription)}`,
  upstream: (upstream: string) => `/upstreams/${encodeURIComponent(upstream)}`,
};

export const WalletLink = ({ wallet, children }: { wallet: string; children?: ReactNode }) => (
  <Link to="/wallets/$wallet" params={{ wallet }}>
    {children ?? wallet}
  </Link>
);

export const JobLink = ({ wallet, job, children }: { wallet: string; job: string; children?: ReactNode }) => (
  <Link to="/wallets/$wallet/jobs/$job" params={{ wallet, job }}>
    {children ?? job}
  </Link>
);

export const PoolLink = ({ pool, children }: { pool: string; children?: ReactNode }) => (
  <Link to="/pools/$pool" params={{ pool }}>
    {children ?? pool}
  </Link>
);

export const UpstreamLink = ({ upstream, children }: { upstream: string; children?: ReactNode }) => (
  <Link to="/upstreams/$upstream" params={{ upstream }}>
    {children ?? upstream}
  </Link>
);

export const SubscriptionLink = ({ subscription, children }: { subscription: string; children?: ReactNode }) => (
  <Link to="/subscriptions/$subscription" params={{ subscription }}>
    {children ?? subscription}
  </Link>
);
