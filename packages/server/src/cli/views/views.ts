// Which operations print for people in a way of their own; the others print as `readable` makes it.
import { capacityViews } from './capacity.ts';
import { inboxViews } from './inbox.ts';
import { limitViews } from './limits.ts';

// biome-ignore lint/suspicious/noExplicitAny: each view knows the answer of its operation
const views: Readonly<Record<string, (answer: any) => string>> = { ...capacityViews, ...limitViews, ...inboxViews };

/** How an operation's answer is printed for people; undefined: as any other. */
export const viewOf = (operation: string): ((answer: unknown) => string) | undefined =>
  Object.hasOwn(views, operation) ? views[operation] : undefined;
