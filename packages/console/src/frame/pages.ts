// The pages of the rail, in its order, each with the key that follows `g`.
export const PAGES = [
  { to: '/', name: 'Now', key: 'n' },
  { to: '/wallets', name: 'Wallets', key: 'w' },
  { to: '/subscriptions', name: 'Subscriptions', key: 's' },
  { to: '/dead-letters', name: 'Dead letters', key: 'd' },
  { to: '/pools', name: 'Pools', key: 'p' },
  { to: '/inbox', name: 'Inbox', key: 'i' },
] as const;
