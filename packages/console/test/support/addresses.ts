// Every page with an address that shows it, for what is asked of all of them.
export const PAGES = {
  now: '/',
  wallets: '/wallets',
  wallet: '/wallets/ada',
  job: '/wallets/ada/jobs/video-1',
  'dead-letters': '/dead-letters',
  pools: '/pools',
  pool: '/pools/video',
  upstream: '/upstreams/gpu-b',
  subscriptions: '/subscriptions',
  subscription: '/subscriptions/sub-mia',
  inbox: '/inbox',
  'sign-in': '/sign-in',
} as const;
