// Recorded answers of providers as reports: the database's clock and this machine's stand where the answer was received.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { vi } from 'vitest';
import type { Answer } from '../../src/decoders.ts';
import type { ProviderAnswer, Reported } from '../../src/index.ts';
import { newId, type Stage } from './stage.ts';

export interface Recorded {
  name: string;
  about: string;
  answer: Omit<Answer, 'receivedAt'> & { receivedAt: string };
}

const root = resolve(import.meta.dirname, '../fixtures/answers');
export const recorded: readonly Recorded[] = readdirSync(root).flatMap((provider) =>
  readdirSync(join(root, provider)).map((file) => {
    const fixture = JSON.parse(readFileSync(join(root, provider, file), 'utf8')) as Omit<Recorded, 'name'>;
    return { ...fixture, name: `${provider}/${basename(file, '.json')}` };
  }),
);
export const named = (name: string) => recorded.find((one) => one.name === name)!;

/** What a caller gives of it. */
export const answerOf = ({ answer }: Recorded): ProviderAnswer => {
  const { status, headers, body, error } = answer;
  return { status, headers: headers ?? null, body, error: error ?? null };
};

/** Both clocks stand there: answers name instants, and what counts is how far they are ahead. */
export async function clocksAt(s: Stage, at: Date | string): Promise<void> {
  await s.db.setClock(at);
  vi.spyOn(Date, 'now').mockReturnValue(new Date(at).getTime());
}
export async function later(s: Stage, ms: number): Promise<Date> {
  await s.db.advance(ms);
  const now = await s.db.now();
  vi.spyOn(Date, 'now').mockReturnValue(now.getTime());
  return now;
}
export const clocksRun = () => void vi.restoreAllMocks();

/** An upstream of its own at that provider. */
export async function upstreamAt(s: Stage, provider: string, more: object = {}): Promise<string> {
  const upstream = newId('upstream');
  await s.recoup.upstreams.register({ upstream, pool: newId('pool'), provider, ...more });
  return upstream;
}

/** Reports an answer of a request that began now. */
export const told = (s: Stage, upstream: string, answer: ProviderAnswer, more: object = {}): Promise<Reported> =>
  s.recoup.upstreams.report({ upstream, answer, ...more });

export interface OpenBlock {
  id: number;
  subject: string;
  scope: string;
  kind: string;
  source: string;
  policy: string;
  step: number;
  until: Date | null;
  contradicted: boolean;
}

/** The open blocks that concern an upstream, oldest first. */
export async function openBlocks(s: Stage, upstream: string): Promise<OpenBlock[]> {
  const rows = await s.db.query(
    `select b.id::text, b.subject_type as subject, b.scope, b.kind, b.source, b.policy, b.step::text, (extract(epoch from b.until) * 1000)::text as until,
       b.contradicted_at is not null as contradicted
     from recoup.upstreams u join recoup.blocks b on b.closed_at is null and (b.subject_type, b.subject_id) in
       (('upstream', u.id), ('quota_group', u.quota_group), ('provider', u.provider), ('route', u.route))
     where u.id = $1 order by b.id`,
    [upstream],
  );
  return rows.map(({ id, step, until, ...row }) => ({
    ...(row as Omit<OpenBlock, 'id' | 'step' | 'until'>),
    id: Number(id),
    step: Number(step),
    until: until === null ? null : new Date(Math.round(Number(until))),
  }));
}
/** In words: `upstream rate_limited backoff +30`. */
export async function blocksInWords(s: Stage, upstream: string): Promise<string[]> {
  const now = (await s.db.now()).getTime();
  return (await openBlocks(s, upstream)).map(({ subject, scope, kind, source, until }) =>
    [subject, scope, kind, source, until && `+${(until.getTime() - now) / 1000}`].filter((one) => one).join(' '),
  );
}

/** An answer with these windows of Codex: percent used and seconds until the reset, by length in minutes. */
export const codex = (status: number, windows: [minutes: number, percent: number, resetSeconds: number][]) => ({
  status,
  headers: Object.fromEntries(
    windows.flatMap(([minutes, percent, reset], index) => {
      const start = `x-codex-${['primary', 'secondary'][index]}`;
      return [
        [`${start}-used-percent`, String(percent)],
        [`${start}-window-minutes`, String(minutes)],
        [`${start}-reset-after-seconds`, String(reset)],
      ];
    }),
  ),
  body: status < 400 ? null : { error: { type: 'usage_limit_reached', message: 'The usage limit has been reached' } },
});
