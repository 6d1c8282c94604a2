// What a simulation did: operations by transition and outcome, cuts, crashes, repeats.
import type { Fault } from './commands.ts';

export class Tally {
  /** Operations by transition and answer, as the model has them. */
  readonly operations: Record<string, Record<string, number>> = {};
  /** Commands that were run. */
  steps = 0;
  /** Replicas that died, idle or at a statement. */
  crashes = 0;
  /** Connections that broke before a statement arrived, and between its work and its commit. */
  cutBefore = 0;
  cutInCommit = 0;
  /** Committed, and nobody heard of it. */
  lostAnswers = 0;
  /** Signals that were sent once more, and signals that came late. */
  duplicates = 0;
  delayed = 0;
  clockJumps = 0;
  /** Calls that began while another replica's transaction was open, and those of them that had to wait for it. */
  overlapping = 0;
  waited = 0;
  /** Sweeps that others were quicker than, between what they read and what they wrote. */
  between = 0;

  operation(transition: string, name: string, count = 1): void {
    const answers = this.operations[transition] ?? {};
    answers[name] = (answers[name] ?? 0) + count;
    this.operations[transition] = answers;
  }

  /** What another one counted, too. */
  add(other: Tally): void {
    for (const [transition, answers] of Object.entries(other.operations)) {
      for (const [name, count] of Object.entries(answers)) this.operation(transition, name, count);
    }
    for (const [name, value] of Object.entries(other)) {
      if (typeof value === 'number') (this as unknown as Record<string, number>)[name]! += value;
    }
  }

  command(command: { readonly kind: string }): void {
    this.steps += 1;
    if (command.kind === 'clock') this.clockJumps += 1;
    if (command.kind === 'crash') this.crashes += 1;
    if (command.kind === 'behind') this.overlapping += 1;
  }

  fault({ at, cut, crash }: Fault): void {
    if (crash) this.crashes += 1;
    if (cut === 'answer') this.lostAnswers += 1;
    else if (cut === 'commit' || at === 'commit') this.cutInCommit += 1;
    else this.cutBefore += 1;
  }
}
