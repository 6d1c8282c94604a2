// What came of it: both designs beside each other, one line for people, one object for programs.
import type { Verified } from 'recoup';
import { isRight, type Judgement } from './judge.ts';
import type { AccountReport } from './outages.ts';
import type { Replayed } from './replay.ts';
import { count, many, type Screen } from './screen.ts';

export interface Result {
  jobs: number;
  wallets: number;
  recoup: Replayed;
  naive: Replayed;
  judged: { recoup: Judgement; naive: Judgement };
  verified: Verified;
  /** Signals that changed nothing, as they should not. */
  duplicatesIgnored: number;
}

/** What is not as it must be; empty where all is. */
export function failuresOf({ jobs, recoup, judged, verified }: Result): string[] {
  const { ended, succeeded, dead } = recoup.progress;
  const found: string[] = [];
  if (ended !== jobs || succeeded + dead !== jobs) found.push(`${ended} of ${jobs} jobs ended`);
  if (!isRight(judged.recoup)) found.push(`Recoup's books are wrong: ${JSON.stringify(judged.recoup)}`);
  if (verified.sumOfEntries !== verified.sumOfBalances) found.push('the entries do not sum to the balances');
  for (const { check, wallet, seq, detail } of verified.problems) {
    found.push(`verify: ${check}: wallet ${wallet ?? '–'}, entry ${seq ?? '–'}: ${detail}`);
  }
  return found;
}

/** The object of `--json`. */
export function jsonOf({ jobs, recoup, judged, verified, duplicatesIgnored }: Result): Record<string, unknown> {
  const { succeeded, refunded, reclaimed, dead } = recoup.progress;
  return {
    jobs,
    succeeded,
    refunded,
    reclaimed,
    dead,
    duplicates_ignored: duplicatesIgnored,
    sum_of_entries: verified.sumOfEntries,
    sum_of_balances: verified.sumOfBalances,
    credits_wrong: judged.recoup.creditsWrong,
    naive_credits_wrong: judged.naive.creditsWrong,
    accounts: recoup.accounts.map(({ upstream, requests, refused, outages }) => ({
      upstream,
      requests,
      refused,
      outages: outages.map(({ subject, kind, ms, endedBy }) => ({ subject, kind, ms, ended_by: endedBy })),
    })),
    verify: verified.ok ? 'ok' : `${verified.problems.length} problems`,
  };
}

/** The last line of a run that went well. */
export function okLine({ jobs, recoup, judged }: Result): string {
  const { succeeded, refunded, reclaimed, dead } = recoup.progress;
  const figures = [
    `${jobs} jobs`,
    `${succeeded} succeeded`,
    `${refunded} refunded`,
    `${reclaimed} reclaimed`,
    `${dead} dead`,
  ];
  return `demo ok: ${figures.join(', ')}, credits wrong 0 (naive ${judged.naive.creditsWrong}), verify ok`;
}

/** What a replay came to. `ignored`: signals that changed nothing, as they should not. */
export function showReplayed(screen: Screen, name: string, replayed: Replayed, ignored: number | undefined): void {
  const { progress, seconds, upstream, killed, reconciled } = replayed;
  const { succeeded, dead, refunded, reclaimed } = progress;
  const ends = `${count(succeeded)} succeeded, ${count(dead)} dead`;
  const money = `${count(refunded)} refunded, ${count(reclaimed)} reclaimed`;
  screen.line(`   ${screen.colors.bold(name.padEnd(6))}   ${ends} · ${money} · ${seconds.toFixed(0)} s`);
  const fact = (label: string, text: string) =>
    screen.line(screen.colors.dim(`            ${label.padEnd(10)}   ${text}`));
  const { callbacks = 0, callbacks_lost: lost = 0, callbacks_undelivered: _, ...kinds } = upstream;
  const requests = Object.values(kinds).reduce((sum, times) => sum + times, 0);
  const fine = count(kinds.success ?? 0);
  fact('upstream', `${count(requests)} requests, ${fine} fine; ${count(callbacks)} callbacks, ${count(lost)} lost`);
  fact('killed', `${killed.worker} by SIGKILL, with ${many(killed.held, 'job')} in its hands`);
  if (ignored !== undefined) fact('ignored', `${many(ignored, 'signal')} heard before, or too late to matter`);
  if (reconciled > 0) fact('reconciled', `${many(reconciled, 'dead letter')} that had been done after all (*)`);
}

const ENDS: Record<string, string> = {
  success: 'back by a trial that went well',
  operator: 'freed by an operator',
  credential: 'back with a new key',
  snapshot: 'back when the provider said so',
  time: 'back after its time',
  superseded: 'the provider’s, not its own',
};

/** What each account of the pool did, and why it was out. */
export function showAccounts(screen: Screen, accounts: readonly AccountReport[]): void {
  const { dim, bold } = screen.colors;
  screen.line();
  screen.line(`   ${bold('accounts')}${dim('      requests   refused')}`);
  for (const { upstream, requests, refused, outages } of accounts) {
    const figures = `${count(requests).padStart(8)}${count(refused).padStart(10)}`;
    const [first = '', ...rest] = outages.map(({ subject, kind, ms, endedBy }) => {
      const whose = subject.startsWith('upstream:') ? '' : ` (${subject.replace(':', ' ')})`;
      const out = ms === null ? 'still out' : `${(ms / 1000).toFixed(1)} s, ${ENDS[endedBy ?? ''] ?? endedBy}`;
      return `${kind}${whose}: ${out}`;
    });
    screen.line(`   ${upstream.padEnd(13)}${figures}   ${dim(first)}`.trimEnd());
    for (const line of rest) screen.line(dim(`${' '.repeat(37)}${line}`));
  }
}

/** The honest word about it: without the asking, these would have been done and not paid. */
export function showReconciling(screen: Screen, replays: readonly Replayed[]): void {
  if (replays.every(({ reconciled }) => reconciled === 0)) return;
  screen.line();
  screen.line(screen.colors.dim('   (*) where answer and callback are both lost, only asking the upstream tells'));
}

/** The two designs beside each other. */
export function showComparison(screen: Screen, { judged, wallets }: Result): void {
  const { bold, dim, green, red } = screen.colors;
  const rows: [string, keyof Judgement, string][] = [
    ['credits wrong', 'creditsWrong', `over ${many(wallets, 'wallet')}, either way`],
    ['jobs lost', 'lost', 'never ended'],
    ['jobs free', 'free', 'done, not paid'],
    ['jobs paid twice', 'paidTwice', 'or more often'],
    ['jobs paid, not done', 'paidForNothing', ''],
  ];
  const cell = (value: number) => (value === 0 ? green : red)(count(value).padStart(12));
  screen.line(`   ${' '.repeat(20)}${bold('Recoup'.padStart(12))}${bold('naive'.padStart(12))}`);
  for (const [label, key, meaning] of rows) {
    if (key === 'paidForNothing' && judged.recoup[key] + judged.naive[key] === 0) continue;
    screen.line(
      `   ${label.padEnd(20)}${cell(judged.recoup[key])}${cell(judged.naive[key])}   ${dim(meaning)}`.trimEnd(),
    );
  }
}

export function showVerified(
  screen: Screen,
  { entries, jobs, wallets, sumOfEntries, sumOfBalances, ok, ms }: Verified,
): void {
  const { bold, dim, green, red } = screen.colors;
  const what = `${many(wallets, 'wallet')}, ${many(jobs, 'job')}, ${count(entries)} entries replayed in ${(ms / 1000).toFixed(1)} s`;
  screen.line(`   ${bold('verify')}   ${ok ? green('ok') : red('not ok')}   ${what}`);
  const same = sumOfEntries === sumOfBalances ? '=' : '≠';
  screen.line(dim(`            sum of entries ${count(sumOfEntries)} ${same} sum of balances ${count(sumOfBalances)}`));
}
