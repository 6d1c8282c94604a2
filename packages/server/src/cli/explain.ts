// `recoup explain`: why a wallet holds what it holds, entry by entry, now or at a past instant.
import type { Command } from 'commander';
import { Refusal } from 'recoup';
import { table } from './output.ts';
import { count, instantOf, integerOf, type Tools, withTarget } from './tools.ts';

interface Entry {
  seq: number;
  type: string;
  amount: number;
  balance: number;
  job: string | null;
  key: string | null;
  reason: string | null;
  actor: string | null;
  jobState: string | null;
  jobReason: string | null;
  createdAt: string | Date;
}
type Figures = Record<string, unknown> & { booked: number; lastSeq?: number; seq?: number };

const PAGE = 1000;

export function addExplain(program: Command, tools: Tools): void {
  program
    .command('explain')
    .description(
      'why a wallet holds what it holds: every entry with its job, its reason and the balance right after it',
    )
    .argument('<wallet>', 'the id of the wallet')
    .option('--at <instant>', 'as it was then: RFC 3339, or a date (its first moment in UTC)')
    .option('--last <integer>', 'only the newest so many entries')
    .action((wallet: string, options: { at?: string; last?: string }) => explain(tools, wallet, options));
}

async function explain(tools: Tools, wallet: string, options: { at?: string; last?: string }): Promise<void> {
  const at = instantOf('--at', options.at);
  const last = integerOf('--last', options.last, 1, 1_000_000);
  const { figures, entries, now } = await withTarget(tools, async (ask) => {
    const now = await ask<Figures>('wallets.balance', { wallet }).catch(hinted(wallet));
    const figures = at === undefined ? now : await ask<Figures>('wallets.balance', { wallet, at });
    const upTo = figures.lastSeq ?? figures.seq!;
    const entries: Entry[] = [];
    let cursor: number | null = last === undefined ? 0 : Math.max(upTo - last, 0);
    while (cursor !== null && entries.length < upTo) {
      tools.stop.cut.throwIfAborted();
      const page: { entries: Entry[]; cursor: number | null } = await ask('wallets.entries', {
        wallet,
        cursor,
        limit: PAGE,
      });
      // What was booked since the balance was read is not part of it.
      entries.push(...page.entries.filter(({ seq }) => seq <= upTo));
      cursor = page.entries.some(({ seq }) => seq > upTo) ? null : page.cursor;
    }
    return { figures, entries, now };
  });
  if (tools.json()) return tools.print({ ...figures, entries });
  tools.output.out(entries.length === 0 ? '(no entries)' : table(entries.map(rowOf)));
  tools.output.out(`\n${summary(wallet, figures, now, at)}`);
}

/** Whoever is asked about a customer gives that id first. */
const hinted = (wallet: string) => (error: unknown) => {
  if (!(error instanceof Refusal) || error.code !== 'no_wallet') throw error;
  const hint = `Where that is a customer: recoup wallets list --customer ${shellWord(wallet)}`;
  throw new Refusal('no_wallet', `${error.message} ${hint}`, error.details);
};

const shellWord = (text: string) => (/^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

const rowOf = (entry: Entry) => ({
  seq: entry.seq,
  at: entry.createdAt,
  type: entry.type,
  amount: entry.amount > 0 ? `+${entry.amount}` : entry.amount,
  balance: entry.balance,
  why: why(entry),
});

const REFUNDED: Readonly<Record<string, string>> = { canceled: 'was canceled', lapsed: 'was not heard of in time' };

/** One entry in words. */
function why({ type, job, key, reason, actor, jobState, jobReason }: Entry): string {
  const because = (text: string | null) => (text === null ? '' : `: ${text}`);
  switch (type) {
    case 'charge':
      return `job ${job} was submitted (${jobState ?? 'pruned'} now)`;
    case 'refund':
      return `job ${job} ${REFUNDED[reason ?? ''] ?? 'failed'}, given back${because(jobReason)}`;
    case 'reclaim':
      return `job ${job} succeeded after that: taken again`;
    case 'settle':
      return `job ${job}: ${reason === 'kept' ? 'what was delivered is kept' : 'its final price differs'}`;
    default:
      return `${key ?? job ?? ''}${because(reason)}${actor === null ? '' : `, by ${actor}`}`;
  }
}

function summary(wallet: string, figures: Figures, now: Figures, at: string | undefined): string {
  const unit = now.unit === 'credit' ? 'credits' : String(now.unit);
  if (at !== undefined)
    return `${wallet} held ${count(figures.booked)} ${unit} at ${at}; it holds ${count(now.booked)} now.`;
  const { spendable, held, atRisk } = now as unknown as Record<string, number>;
  return (
    `${wallet} holds ${count(figures.booked)} ${unit}: ${count(spendable!)} may be spent, ${count(held!)} were taken for jobs ` +
    `that have not ended, ${count(atRisk!)} were given back for jobs that may still be done.`
  );
}
