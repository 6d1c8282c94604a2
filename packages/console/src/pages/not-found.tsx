// An address that is no page.
import { Link } from '@tanstack/react-router';
import { PageHead } from '../parts/panel.tsx';

export const NotFound = () => (
  <main>
    <PageHead title="There is no such page" question={<Link to="/">What is going on now</Link>} />
  </main>
);
