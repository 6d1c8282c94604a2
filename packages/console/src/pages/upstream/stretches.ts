// From when to when each block kept an upstream out, out of the events of its history.
import type { Output } from '@recoup/client';

export type HistoryEvent = Output<'upstreams.history'>['events'][number];

export interface Stretch {
  block: number;
  kind: string;
  subject: string;
  scope: string;
  manual: boolean;
  from: number;
  /** Null: it is still open. */
  to: number | null;
  /** What ended it. */
  closedAs: string | null;
}

/** One for each opening of a block; of one whose opening lies before the events, from the first that is there. Oldest first. */
export function stretchesOf(events: readonly HistoryEvent[]): Stretch[] {
  const open = new Map<number, Stretch>();
  const all: Stretch[] = [];
  for (const event of events.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at) || a.generation - b.generation)) {
    if (event.block === null) continue;
    let stretch = open.get(event.block);
    if (stretch === undefined) {
      stretch = {
        ...{ block: event.block, kind: event.kind ?? '', subject: event.subject, scope: event.scope },
        ...{ manual: event.policy === 'manual', from: Date.parse(event.at), to: null, closedAs: null },
      };
      open.set(event.block, stretch);
      all.push(stretch);
    }
    if (event.type !== 'closed') continue;
    stretch.to = Date.parse(event.at);
    stretch.closedAs = event.closedAs;
    open.delete(event.block);
  }
  return all;
}
