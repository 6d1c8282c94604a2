// What became of the pool's accounts: why each was out, for how long, and what brought it back.
import type { BlockEvent } from 'recoup';
import { accounts, newCredential } from './accounts.ts';
import type { UpstreamRecord } from './upstream.ts';

/** One block from its opening to its end. */
export interface Outage {
  /** `upstream:ID`, or `provider:NAME` where it was not the account's. */
  subject: string;
  kind: string;
  /** How long it kept the account out, in ms; null: still. */
  ms: number | null;
  endedBy: string | null;
}

export interface AccountReport {
  upstream: string;
  requests: number;
  refused: number;
  outages: Outage[];
}

export function outagesOf(history: readonly BlockEvent[]): Outage[] {
  const blocks = new Map<number, BlockEvent[]>();
  for (const event of history) {
    if (event.block === null) continue;
    blocks.set(event.block, [...(blocks.get(event.block) ?? []), event]);
  }
  return [...blocks.values()].map((events) => {
    const first = events[0]!;
    const end = events.find(({ type }) => type === 'closed');
    // Back from the first trial that went well: that is when work went on.
    const back = events.findLast(({ type }, index) => type === 'trial' && events[index - 1]?.type !== 'trial') ?? end;
    return {
      subject: first.subject,
      kind: first.kind!,
      ms: back ? back.at.getTime() - first.at.getTime() : null,
      endedBy: end?.closedAs ?? (back ? 'success' : null),
    };
  });
}

/** By account, with what its provider saw of its keys. */
export function accountReports(
  seen: UpstreamRecord['accounts'],
  outages: ReadonlyMap<string, Outage[]>,
): AccountReport[] {
  const byKey = new Map(seen);
  return accounts.map(({ upstream, credentialRef }) => {
    const keys = [credentialRef, newCredential(upstream)].map((key) => byKey.get(key));
    const sum = (what: 'requests' | 'refused') => keys.reduce((total, one) => total + (one?.[what] ?? 0), 0);
    return { upstream, requests: sum('requests'), refused: sum('refused'), outages: outages.get(upstream) ?? [] };
  });
}
