// What a person does with an item: takes it, puts it off, remarks on it, ends what it is about.
import { useState } from 'react';
import { ask, useMay } from '../../api.ts';
import { useActor } from '../../parts/actor.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import type { InboxItem } from '../../types.ts';

type Action = 'take' | 'snooze' | 'wake' | 'note' | 'free';
const FOUR_HOURS_MS = 14_400_000;

const ABOUT: Record<Action, { title: string; does: string; reason: 'required' | 'optional'; says: string }> = {
  take: { title: 'You care about it?', does: 'Take it', reason: 'optional', says: 'Others see that it is yours.' },
  snooze: {
    title: 'Put it off?',
    does: 'Put off for 4 h',
    reason: 'optional',
    says: 'It comes back in four hours, or earlier where something speaks against it.',
  },
  wake: { title: 'Show it again?', does: 'Show again', reason: 'optional', says: 'It is due again at once.' },
  note: { title: 'Leave a remark', does: 'Remark', reason: 'required', says: 'For whoever looks next.' },
  free: {
    title: 'It is resolved?',
    does: 'Done: free it',
    reason: 'required',
    says: 'The upstream is picked again, with a trial first. If the cause is still there, the next failure brings it back here.',
  },
};

export function ItemActions({ item }: { item: InboxItem }) {
  const [asked, setAsked] = useState<Action | null>(null);
  const may = useMay()('operator');
  const actor = useActor();
  const actions: Action[] = [
    'free',
    ...(item.owner === actor ? [] : (['take'] as const)),
    item.snoozedUntil ? 'wake' : 'snooze',
    'note',
  ];
  const run = async (action: Action, why: string): Promise<{ outcome: string }> => {
    const { item: id, block, generation } = item;
    const note = why === '' ? {} : { note: why };
    switch (action) {
      case 'take':
        return ask('inbox.take', { item: id, actor, ...note });
      case 'snooze':
        return ask('inbox.snooze', { item: id, actor, forMs: FOUR_HOURS_MS, ...note });
      case 'wake':
        return ask('inbox.snooze', { item: id, actor, ...note });
      case 'note':
        return ask('inbox.note', { item: id, actor, note: why, key: crypto.randomUUID() });
      case 'free':
        return ask('upstreams.free', { block, generation, actor, reason: why });
    }
  };
  return (
    <div className="actions">
      {actions.map((action) => (
        <Button
          key={action}
          small
          kind={action === 'free' ? 'main' : undefined}
          why={may}
          onClick={() => setAsked(action)}
        >
          {ABOUT[action].does}
        </Button>
      ))}
      {asked && (
        <Confirm
          title={`${item.subject.replace(/^upstream:/, '')}: ${ABOUT[asked].title}`}
          does={ABOUT[asked].does}
          reason={ABOUT[asked].reason}
          run={(why) => run(asked, why)}
          onClose={() => setAsked(null)}
        >
          <p>{ABOUT[asked].says}</p>
          {asked === 'free' && item.nextStep && <p className="muted">{item.nextStep}</p>}
        </Confirm>
      )}
    </div>
  );
}
