// What the service answers, by the words of the pages; from the OpenAPI document.
import type { Output } from '@recoup/client';

export type Job = Output<'jobs.get'>['job'];
export type Entry = Output<'wallets.entries'>['entries'][number];
export type Attempt = Output<'jobs.attempts'>['attempts'][number];
export type Upstream = Output<'pools.explain'>['upstreams'][number];
export type InboxItem = Output<'inbox.list'>['items'][number];
export type Alert = Output<'alerts.list'>['alerts'][number];
