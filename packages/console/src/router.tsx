// The pages by their addresses. A filter is part of the address: what somebody sees can be sent to somebody else.
import { createRootRoute, createRoute, createRouter } from '@tanstack/react-router';
import { Frame } from './frame/frame.tsx';
import { DeadLettersPage } from './pages/dead-letters/page.tsx';
import { InboxPage } from './pages/inbox/page.tsx';
import { JobPage } from './pages/job/page.tsx';
import { NotFound } from './pages/not-found.tsx';
import { NowPage } from './pages/now/page.tsx';
import { PoolPage } from './pages/pool/page.tsx';
import { PoolsPage } from './pages/pool/pools.tsx';
import { SearchPage } from './pages/search.tsx';
import { SignInPage } from './pages/sign-in.tsx';
import { SubscriptionsPage } from './pages/subscriptions/list.tsx';
import { SubscriptionPage } from './pages/subscriptions/page.tsx';
import { UpstreamPage } from './pages/upstream/page.tsx';
import { WalletPage } from './pages/wallet/page.tsx';
import { WalletsPage } from './pages/wallets.tsx';

type Search = Record<string, unknown>;
const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
/** Those of the names that are there, as texts. */
const only =
  <N extends string>(...names: N[]) =>
  (search: Search): { [K in N]?: string } =>
    Object.fromEntries(names.flatMap((name) => (text(search[name]) ? [[name, text(search[name])]] : []))) as {
      [K in N]?: string;
    };

const root = createRootRoute({ notFoundComponent: NotFound });
const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: only('to'),
  component: SignInPage,
});
const frame = createRoute({ getParentRoute: () => root, id: 'frame', component: Frame });
const below = () => frame;

export const routes = {
  now: createRoute({ getParentRoute: below, path: '/', component: NowPage }),
  wallets: createRoute({
    getParentRoute: below,
    path: '/wallets',
    validateSearch: only('customer'),
    component: WalletsPage,
  }),
  wallet: createRoute({
    getParentRoute: below,
    path: '/wallets/$wallet',
    validateSearch: only('at', 'seq', 'type'),
    component: WalletPage,
  }),
  job: createRoute({ getParentRoute: below, path: '/wallets/$wallet/jobs/$job', component: JobPage }),
  deadLetters: createRoute({
    getParentRoute: below,
    path: '/dead-letters',
    validateSearch: only('queue', 'wallet', 'reason'),
    component: DeadLettersPage,
  }),
  pools: createRoute({ getParentRoute: below, path: '/pools', component: PoolsPage }),
  pool: createRoute({ getParentRoute: below, path: '/pools/$pool', component: PoolPage }),
  upstream: createRoute({ getParentRoute: below, path: '/upstreams/$upstream', component: UpstreamPage }),
  subscriptions: createRoute({
    getParentRoute: below,
    path: '/subscriptions',
    validateSearch: only('customer', 'status'),
    component: SubscriptionsPage,
  }),
  subscription: createRoute({
    getParentRoute: below,
    path: '/subscriptions/$subscription',
    component: SubscriptionPage,
  }),
  inbox: createRoute({
    getParentRoute: below,
    path: '/inbox',
    validateSearch: only('pool', 'snoozed'),
    component: InboxPage,
  }),
  search: createRoute({ getParentRoute: below, path: '/search', validateSearch: only('q'), component: SearchPage }),
};

export const router = createRouter({
  routeTree: root.addChildren([signIn, frame.addChildren(routes)]),
  // Plain texts, not JSON: `?customer=007` is the customer 007.
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: (search) => {
    const given = Object.entries(search).filter((pair): pair is [string, string] => typeof pair[1] === 'string');
    return given.length > 0 ? `?${new URLSearchParams(given)}` : '';
  },
  defaultNotFoundComponent: NotFound,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
