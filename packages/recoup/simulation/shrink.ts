// Shortens a failing history: leaves out commands, then faults, calls and batches, as long as it still fails.
type Fails<C> = (history: readonly C[]) => Promise<string | undefined>;

export interface Shrunk<C> {
  readonly history: readonly C[];
  /** What is wrong with it; undefined where it could not be made to fail again at all. */
  readonly problem: string | undefined;
}

/** At most `runs` times the history is run again. `ids`: what finds names in a text that tell commands apart. */
export async function shrink<C>(
  history: readonly C[],
  fails: Fails<C>,
  { runs, ids: pattern }: { runs: number; ids: RegExp },
): Promise<Shrunk<C>> {
  const idsIn = (text: string) => new Set(text.match(pattern));
  const concerns = (command: C, some: ReadonlySet<string>) => {
    const named = idsIn(JSON.stringify(command));
    return named.size === 0 || [...named].some((id) => some.has(id));
  };
  let best = history;
  let problem: string | undefined;
  let left = runs;
  const tryOut = async (candidate: readonly C[]): Promise<boolean> => {
    if (left-- <= 0) return false;
    const found = await fails(candidate);
    if (found === undefined) return false;
    [best, problem] = [candidate, found];
    return true;
  };
  await tryOut(history);
  // What names the same jobs, or no job at all, is often enough.
  const ids = idsIn(`${problem} ${JSON.stringify(history.at(-1))}`);
  for (const some of [idsIn(`${problem}`), ids]) {
    if (some.size > 0) await tryOut(best.filter((command) => concerns(command, some)));
  }
  // Halves first, then ever smaller pieces, from the end: what failed last needs what came before it.
  const leaveOut = async (from: number) => {
    for (let size = from; size >= 1; size >>= 1) {
      for (let end = best.length; end > 0 && left > 0; end -= size) {
        await tryOut([...best.slice(0, Math.max(end - size, 0)), ...best.slice(end)]);
      }
    }
  };
  const simplify = async () => {
    for (let index = best.length - 1; index >= 0 && left > 0; index--) {
      for (const simpler of variants(best[index] as Simplified) as C[]) {
        if (await tryOut(best.with(index, simpler))) break;
      }
    }
  };
  await leaveOut(best.length >> 1);
  // What became simpler may need less before it.
  for (let before: readonly C[] = []; before !== best && left > 0; ) {
    before = best;
    await simplify();
    await leaveOut(2);
  }
  return { history: best, problem };
}

/** What commands of every kind have in common, as far as it can be made simpler. */
type Simplified =
  | { kind: 'calls'; replica: number; mode: string; calls: readonly unknown[]; fault?: unknown }
  | { kind: 'sweep'; replica: number; meanwhile?: { rival: number; calls: readonly unknown[] }; fault?: unknown }
  | { kind: 'behind'; replica: number; calls: readonly unknown[]; rival: number; call: unknown }
  | { kind: 'lease' | 'prune' | 'clock' | 'crash'; fault?: unknown };

/** The same command with less in it. */
function variants(command: Simplified): Simplified[] {
  const { fault: _fault, ...plain } = command as Simplified & { fault?: unknown };
  const simpler: Simplified[] = 'fault' in command ? [plain as Simplified] : [];
  if (command.kind === 'sweep' && command.meanwhile) {
    const { rival, calls } = command.meanwhile;
    const { meanwhile: _meanwhile, ...sweep } = plain as typeof command;
    simpler.push(sweep, ...calls.map((call): Simplified => ({ ...sweep, meanwhile: { rival, calls: [call] } })));
  }
  if (command.kind === 'behind') {
    const alone = { kind: 'calls', replica: command.replica, mode: 'transaction', calls: command.calls } as const;
    const other = { kind: 'calls', replica: command.rival, mode: 'single', calls: [command.call] } as const;
    simpler.push(alone, other);
  }
  if (command.kind === 'calls' && command.calls.length > 1) {
    for (const call of command.calls) simpler.push({ ...(plain as typeof command), mode: 'single', calls: [call] });
    for (const left of command.calls) simpler.push({ ...command, calls: command.calls.filter((one) => one !== left) });
  }
  return simpler;
}
