// The report of a run, for people.
import type { Finding } from './audit.ts';
import { clean, type Side } from './clients.ts';
import { FAULTS } from './injector.ts';
import type { Report } from './run.ts';

export function print(report: Report, line: (text: string) => void): void {
  const { ours, withoutKeys, asynchronous } = report;
  line(
    `\nFaults, ${report.seconds} s, seed ${report.seed}, PostgreSQL ${report.postgres}, ${report.rounds} rounds of kills\n`,
  );
  for (const fault of FAULTS) if (report.faults[fault] > 0) line(`  ${count(report.faults[fault])}  ${fault}`);
  if (report.refusedByFullDisk > 0) line(`          statements refused by the full disk: ${report.refusedByFullDisk}`);
  for (const text of report.notInjected) line(`          not injected: ${text}`);
  line('\n                         ours     without keys  synchronous_commit = off');
  const row = (name: string, of: (side: Side) => number) =>
    line(
      `  ${name.padEnd(20)}${[ours, withoutKeys, asynchronous].map((side) => String(of(side)).padStart(9)).join('        ')}`,
    );
  row('acknowledged', (side) => side.audit.acknowledged);
  row('answers in doubt', (side) => side.doubts.answers);
  row('changes in doubt', (side) => side.doubts.changes);
  row('  had been done', (side) => side.doubts.hadBeenDone);
  row('  had not', (side) => side.doubts.hadNotBeenDone);
  row('  unresolved', (side) => side.doubts.unresolved);
  row('lost', (side) => side.audit.lost.count);
  row('doubled', (side) => side.audit.doubled.count);
  row('wrong price', (side) => side.audit.wrong.count);
  row('not asked for', (side) => side.audit.foreign.count);
  row('not ended', (side) => side.audit.unended.count);
  row('verify', (side) => side.audit.problems.count);
  row('unexplained answers', (side) => side.surprises.length);
  line('');
  line(
    `  ${clean(ours) ? 'ok    ' : 'FAILED'}  ours: nothing lost, nothing twice, every job at its end, the books are right`,
  );
  if (!clean(ours)) examples(ours, line);
  const { begun, twice } = report.attempts;
  line(
    `  ${twice.count === 0 ? 'ok    ' : 'FAILED'}  ${begun} attempts begun by workers, ${twice.count} of them by more than one`,
  );
  const { acknowledged, blocks, lost, kept } = report.uses;
  const held = lost.count + kept.count === 0;
  line(
    `  ${held ? 'ok    ' : 'FAILED'}  ${acknowledged} uses of upstreams acknowledged, ${lost.count} of them not booked, ${kept.count} upstreams with slots kept; ${blocks} blocks`,
  );
  for (const text of [...lost.examples, ...kept.examples]) line(`          ${text}`);
  for (const crash of report.crashes) line(`  FAILED  ${crash}`);
  const control = (failed: boolean, text: string) =>
    line(
      `  ${failed ? 'ok    ' : 'FAILED'}  control: ${text}${failed ? '' : ': it did not, so this run proves nothing'}`,
    );
  control(withoutKeys.audit.doubled.count > 0, 'a client that repeats without our keys doubles');
  control(asynchronous.audit.lost.count > 0, `synchronous_commit = off loses, ${asynchronous.kills} kills`);
  line('\n  A kill leaves the page cache: this says nothing of a power cut or of a disk that lies.');
}

const count = (n: number) => String(n).padStart(6);

function examples({ audit, surprises }: Side, line: (text: string) => void): void {
  const found: [string, Finding][] = Object.entries(audit).filter(
    (one): one is [string, Finding] => typeof one[1] === 'object',
  );
  for (const [name, { examples: some }] of found) for (const text of some) line(`          ${name}: ${text}`);
  for (const text of surprises.slice(0, 10)) line(`          unexplained: ${text}`);
}
