// An address that is no page.
import { EmptyState } from '../parts/states.tsx';

export const NotFound = () => (
  <EmptyState title="There is no such page">Press g n for what is going on now, or / to search for an id.</EmptyState>
);
