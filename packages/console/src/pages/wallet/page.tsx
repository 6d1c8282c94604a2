// Wallet: why is this balance what it is? Entry by entry, at any instant, as a chart, a table and a sentence.
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { ask, isMissing, usePaused, useRead } from '../../api.ts';
import { useKeys } from '../../frame/keys.ts';
import { Button } from '../../parts/button.tsx';
import { Copy, CopyCurl } from '../../parts/copy.tsx';
import { PageHead, Panel } from '../../parts/panel.tsx';
import { EmptyState, Loaded } from '../../parts/states.tsx';
import type { Entry } from '../../types.ts';
import { clock, duration, number, plural, zone } from '../../words.ts';
import { AtInstant } from './at-instant.tsx';
import { Balance } from './balance.tsx';
import { EntryTable } from './entry-table.tsx';
import { sentenceOf, storyOf } from './explain.ts';
import { StepChart } from './step-chart.tsx';
import { SumLine } from './sum-line.tsx';

const route = getRouteApi('/frame/wallets/$wallet');
const PAGE = 200;

/** The entries up to one of them, newest page first; held oldest first. */
function useEntries(wallet: string, upTo: number | undefined, enabled: boolean) {
  const paused = usePaused();
  const read = useInfiniteQuery({
    queryKey: ['wallets.entries', wallet, upTo ?? null],
    queryFn: ({ pageParam, signal }) =>
      ask(
        'wallets.entries',
        { wallet, newestFirst: true, limit: PAGE, ...(pageParam === null ? {} : { cursor: pageParam }) },
        signal,
      ),
    initialPageParam: upTo === undefined ? null : upTo + 1,
    getNextPageParam: ({ cursor }) => cursor,
    refetchInterval: upTo === undefined && !paused ? 5000 : false,
    enabled,
  });
  const entries = (read.data?.pages.flatMap((page) => page.entries) ?? []).toReversed();
  return { read, entries };
}

export function WalletPage() {
  const { wallet } = route.useParams();
  const { at, seq, type } = route.useSearch();
  const navigate = useNavigate();
  const then = useRead('wallets.balance', { wallet, at: at ?? '', parts: true }, { enabled: at !== undefined });
  const upTo = at === undefined ? undefined : then.data && 'seq' in then.data ? then.data.seq : undefined;
  const { read, entries } = useEntries(wallet, upTo, at === undefined || upTo !== undefined);
  const newest = entries.at(-1)?.seq ?? 0;
  const here = entries.find((entry) => entry.seq === Number(seq)) ?? entries.at(-1);
  const show = (search: { at?: string; seq?: string; type?: string }) =>
    void navigate({ to: '/wallets/$wallet', params: { wallet }, search, replace: true, resetScroll: false });
  const keep = { ...(at ? { at } : {}), ...(type ? { type } : {}) };
  const pick = (next: number) => show({ ...keep, ...(next === newest ? {} : { seq: String(next) }) });
  const move = (by: number) => {
    const index = entries.indexOf(here as Entry) + by;
    if (entries[index]) pick(entries[index].seq);
  };
  useKeys({ '[': () => move(-1), ']': () => move(1) });
  if (read.error && isMissing(read.error)) return <NoWallet wallet={wallet} />;
  return (
    <>
      <PageHead title={wallet} question="Why is this balance what it is?">
        <Copy text={location.href} what="The link">
          Copy link
        </Copy>
        <CopyCurl path={`/v1/wallets/${encodeURIComponent(wallet)}/replay`} />
      </PageHead>
      <div className="stack">
        <Balance wallet={wallet} then={at === undefined ? null : then} />
        <AtInstant
          at={at}
          onAt={(instant) => show({ ...(type ? { type } : {}), ...(instant ? { at: instant } : {}) })}
        />
        <Loaded read={read} what="The entries" rows={8}>
          {() =>
            here === undefined ? (
              <NoEntries wallet={wallet} at={at} />
            ) : (
              <Replay
                {...{ wallet, entries, here, move, pick }}
                type={type}
                onType={(next) => show({ ...(at ? { at } : {}), ...(next ? { type: next } : {}) })}
                more={
                  read.hasNextPage ? (
                    <Button small busy={read.isFetchingNextPage} onClick={() => void read.fetchNextPage()}>
                      Show older entries
                    </Button>
                  ) : null
                }
              />
            )
          }
        </Loaded>
      </div>
    </>
  );
}

const NoWallet = ({ wallet }: { wallet: string }) => (
  <>
    <PageHead title={wallet} />
    <EmptyState title="There is no wallet of that id">Look at the spelling: ids are never folded.</EmptyState>
  </>
);

function NoEntries({ wallet, at }: { wallet: string; at: string | undefined }) {
  if (at !== undefined)
    return <EmptyState title="Nothing was booked by then">The first entry is younger than {clock(at)}.</EmptyState>;
  return (
    <EmptyState
      title="Nothing was booked yet"
      command={`curl -X PUT ${location.origin}/v1/wallets/${encodeURIComponent(wallet)}/grants/pay-1 -H 'content-type: application/json' -d '{"amount":100}'`}
    >
      The wallet is open and empty. This adds credit, once, however often it is sent:
    </EmptyState>
  );
}

interface ReplayProps {
  wallet: string;
  entries: readonly Entry[];
  here: Entry;
  move: (by: number) => void;
  pick: (seq: number) => void;
  type: string | undefined;
  onType: (type: string | undefined) => void;
  more: React.ReactNode;
}

function Replay({ wallet, entries, here, move, pick, type, onType, more }: ReplayProps) {
  const seen = entries.filter((entry) => entry.seq <= here.seq);
  const ofJob = here.job === null ? [] : seen.filter((entry) => entry.job === here.job);
  const balance = useRead('wallets.balance', { wallet });
  const unit = balance.data && 'unit' in balance.data ? balance.data.unit : 'credit';
  const says = ofJob.length > 0 ? storyOf(ofJob, unit) : sentenceOf(here, unit);
  const last = here === entries.at(-1);
  const age = duration(Date.now() - Date.parse(here.createdAt));
  return (
    <>
      <SumLine entries={seen} type={type} onType={onType} />
      <Panel
        title={
          last ? `Entry ${number(here.seq)}, the newest` : `Entry ${number(here.seq)} of ${number(entries.at(-1)!.seq)}`
        }
        more={
          <span className="actions">
            <Button small onClick={() => move(-1)} disabled={here === entries[0]} aria-label="One entry back">
              ◀ <kbd>[</kbd>
            </Button>
            <Button small onClick={() => move(1)} disabled={last} aria-label="One entry forward">
              <kbd>]</kbd> ▶
            </Button>
          </span>
        }
      >
        <StepChart entries={entries} seq={here.seq} onPick={pick} />
      </Panel>
      <div>
        <p className="says">{says}</p>
        <p className="small muted">
          {age} ago, shown in {zone}.{' '}
          <Copy text={says} what="The sentence">
            Copy for the customer
          </Copy>
        </p>
      </div>
      <Panel title="Entries" more={more ?? plural(entries.length, 'entry', 'entries')}>
        <EntryTable entries={entries} here={here.seq} type={type} onPick={pick} />
      </Panel>
    </>
  );
}
