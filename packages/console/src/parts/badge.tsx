// Badge: a state as shape, word and colour, so that none of them has to carry it alone.
import { spaced } from '../words.ts';
import type { Tone } from './tone.ts';

const SHAPES: Record<Tone, string> = { good: '●', cooling: '◐', bad: '▲', plain: '○' };

export function Badge({ tone, children }: { tone: Tone; children: string }) {
  return (
    <span className={`badge ${tone}`}>
      <span aria-hidden="true">{SHAPES[tone]}</span>
      {children}
    </span>
  );
}

const JOB_TONES: Record<string, Tone> = {
  succeeded: 'good',
  running: 'good',
  queued: 'plain',
  waiting: 'plain',
  dead: 'bad',
  failed: 'bad',
  canceled: 'plain',
  discarded: 'plain',
};

export const JobState = ({ state }: { state: string }) => (
  <Badge tone={JOB_TONES[state] ?? 'plain'}>{spaced(state)}</Badge>
);
