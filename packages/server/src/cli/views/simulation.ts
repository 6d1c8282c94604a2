// A simulation for a person: a timeline of each upstream in the width of the terminal, every block, and what it comes to.
import type { SimulatedBlock, SimulatedUpstream, Simulation } from '../../simulate/simulation.ts';
import { type Span, type State, worstOf } from '../../simulate/spans.ts';
import { tableOf } from './tables.ts';
import { clean, clock, NEEDS_PERSON, span, subjectOf } from './words.ts';

const CELLS: Readonly<Record<State, string>> = { out: '█', partly_out: '▓', half_open: '░', usable: '·' };
const LEGEND =
  '█ out   ▓ partly out: a model   ░ half open: trials   · usable   (a column shows the worst of its time)';
const WORDS: Readonly<Record<State, string>> = {
  out: 'out',
  partly_out: 'partly out',
  half_open: 'half open',
  usable: 'usable',
};
/** The longest spans of an upstream that stand below its line; all are in the table of blocks. */
const SHOWN = 3;

/** As wide as the terminal: not so narrow that nothing is seen, not so wide that nobody follows a line. */
export const widthOf = (columns: number | undefined): number => Math.min(Math.max(columns || 80, 60), 160);

/** Within the day on which the recording begins the time alone: the heading has the day. */
const timesOf =
  ({ from, to }: Simulation) =>
  (at: Date): string =>
    day(from) === day(to) && day(at) === day(from) ? clock(at).slice(11) : clock(at);
const day = (at: Date) => at.toISOString().slice(0, 10);

export function simulationView(simulation: Simulation, width: number): string {
  return [
    heading(simulation),
    '',
    ...timelines(simulation, width),
    '',
    ...blocksPart(simulation),
    '',
    summary(simulation),
    '',
    ...needsPerson(simulation),
  ].join('\n');
}

const plural = (count: number, one: string) => `${count.toLocaleString('en-US')} ${one}${count === 1 ? '' : 's'}`;

function heading({ answers, upstreams, from, to }: Simulation): string {
  const length = span(to.getTime() - from.getTime());
  return `${plural(answers, 'answer')} of ${plural(upstreams.length, 'upstream')}, ${clock(from)} to ${clock(to)} (${length})`;
}

function timelines(simulation: Simulation, width: number): string[] {
  const { upstreams, from, to } = simulation;
  const told = timesOf(simulation);
  const names = upstreams.map(({ upstream }) => short(clean(upstream), Math.floor(width / 3)));
  const margin = Math.max(...names.map((name) => [...name].length)) + 2;
  const cells = width - margin;
  const [start, end] = [told(from), told(to)];
  const axis = cells >= start.length + end.length + 1 ? `${start}${end.padStart(cells - start.length)}` : start;
  return [
    `${' '.repeat(margin)}${axis}`,
    ...upstreams.flatMap((one, index) => [
      `${names[index]}${' '.repeat(margin - [...names[index]!].length)}${bar(one, from, to, cells)}`,
      ...longest(one, told).map((line) => `${' '.repeat(margin)}${line}`),
    ]),
    '',
    LEGEND,
  ];
}

const short = (name: string, most: number) => {
  const letters = [...name];
  return letters.length <= most ? name : `${letters.slice(0, most - 1).join('')}…`;
};

/** One column for each part of the time; a moment shorter than a column is seen all the same, and what the last answer brought. */
function bar({ timeline, atEnd }: SimulatedUpstream, from: Date, to: Date, cells: number): string {
  const [start, length] = [from.getTime(), to.getTime() - from.getTime()];
  const columns: Pick<Span, 'state'>[][] = Array.from({ length: cells }, () => []);
  for (const one of timeline) {
    const first = Math.floor(((one.from.getTime() - start) / length) * cells);
    const last = Math.min(Math.ceil(((one.to.getTime() - start) / length) * cells), cells);
    for (let column = first; column < last; column++) columns[column]!.push(one);
  }
  columns.at(-1)!.push({ state: atEnd });
  return columns.map((spans) => CELLS[worstOf(spans)]).join('');
}

function longest({ timeline }: SimulatedUpstream, told: (at: Date) => string): string[] {
  const lengthOf = ({ from, to }: Span) => to.getTime() - from.getTime();
  const out = timeline.filter(({ state }) => state === 'out' || state === 'partly_out');
  const shown = new Set([...out].sort((one, other) => lengthOf(other) - lengthOf(one)).slice(0, SHOWN));
  const others = out.length - shown.size;
  return [
    ...out
      .filter((one) => shown.has(one))
      .map((one) => `${told(one.from)} to ${told(one.to)}  ${WORDS[one.state]}, ${span(lengthOf(one))}`),
    ...(others > 0 ? [`and ${others} shorter`] : []),
  ];
}

const blockRow = (one: SimulatedBlock, told: (at: Date) => string) => ({
  block: one.block,
  on: subjectOf(one.subject, one.scope),
  kind: one.kind,
  source: one.source,
  policy: one.policy,
  opened: told(one.openedAt),
  until: one.until === null ? NEEDS_PERSON : told(one.until),
  closed: one.closedAs === null ? 'open' : `${one.closedAs}, ${told(one.closedAt!)}`,
  out: span(one.outMs),
});

function blocksPart(simulation: Simulation): string[] {
  const told = timesOf(simulation);
  const rows = simulation.blocks.map((one) => blockRow(one, told));
  return rows.length === 0 ? ['No block.'] : ['Blocks', tableOf(rows)];
}

const upstreamRow = (one: SimulatedUpstream, length: number) => ({
  upstream: one.upstream,
  out: span(one.outMs),
  '%': length === 0 ? null : `${Math.round((one.outMs / length) * 1000) / 10} %`,
  partlyOut: one.partlyOutMs === 0 ? null : span(one.partlyOutMs),
  halfOpen: span(one.halfOpenMs),
  answers: one.answers,
  failed: one.failed,
  duplicates: one.duplicates,
  whileOut: one.whileOut.failed + one.whileOut.succeeded,
  atEnd: WORDS[one.atEnd],
});

function summary(simulation: Simulation): string {
  const { from, to, upstreams, duplicates, whileOut, classes, rules, outOfOrder } = simulation;
  const sent = whileOut.failed + whileOut.succeeded;
  const counted = (counts: Record<string, number>) =>
    Object.entries(counts)
      .map(([name, count]) => `${count} ${clean(name)}`)
      .join(', ');
  const failures = counted(classes);
  const decided = counted(rules);
  return [
    tableOf(upstreams.map((one) => upstreamRow(one, to.getTime() - from.getTime()))),
    '',
    ...(failures === '' ? ['No answer was a failure.'] : [`Failures: ${failures}.`]),
    ...(decided === '' ? [] : [`By rules: ${decided}.`]),
    `Duplicates: ${plural(duplicates, 'failure')} said nothing new.`,
    `Sent while out: ${plural(sent, 'request')}, which Recoup would not have sent there; ${whileOut.failed} of them failed, ${whileOut.succeeded} succeeded.`,
    ...(outOfOrder === 0 ? [] : [`Out of order: ${plural(outOfOrder, 'line')}, put into the order of time.`]),
  ].join('\n');
}

function needsPerson({ needsPerson, to }: Simulation): string[] {
  if (needsPerson.length === 0) return ['Nothing needs a person at the end.'];
  return [
    `At the end ${needsPerson.length === 1 ? 'one thing needs' : `${needsPerson.length} things need`} a person:`,
    ...needsPerson.flatMap(({ subject, scope, kind, since, reason, nextStep, contradictedAt }) => [
      clean(`  ${subjectOf(subject, scope)}: ${kind}, for ${span(to.getTime() - since.getTime())}`),
      ...(reason === null ? [] : [`    said: ${clean(reason)}`]),
      ...(contradictedAt === null ? [] : [`    but:  something speaks against it since ${clock(contradictedAt)}`]),
      ...(nextStep === null ? [] : [`    do:   ${clean(nextStep)}`]),
    ]),
  ];
}
