// What a throw-away server can do without is durability: nothing on it outlives it.
export const throwawaySettings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
};
