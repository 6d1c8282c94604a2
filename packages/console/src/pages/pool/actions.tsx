// What a person may do to an upstream: take it out by hand, put it back, end a block.
import { useState } from 'react';
import { ask, useMay } from '../../api.ts';
import { useActor } from '../../parts/actor.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import type { Upstream } from '../../types.ts';
import { becauseOf } from './state.ts';

type Action = 'on' | 'off' | 'draining' | 'free';

const ABOUT: Record<Action, { title: string; does: string; danger?: boolean; says: string }> = {
  on: { title: 'Switch it on?', does: 'Switch on', says: 'It is picked again as soon as nothing else keeps it out.' },
  off: {
    title: 'Switch it off?',
    does: 'Switch off',
    danger: true,
    says: 'It is not picked any more until somebody switches it on. What runs on it goes on.',
  },
  draining: { title: 'Drain it?', does: 'Drain', says: 'It gets nothing new; what runs on it goes on.' },
  free: {
    title: 'End what blocks it?',
    does: 'End the block',
    danger: true,
    says: 'It is picked again at once, with a trial first. If the cause is still there, it is blocked again by the next failure.',
  },
};

export function UpstreamActions({ upstream }: { upstream: Upstream }) {
  const [asked, setAsked] = useState<Action | null>(null);
  const may = useMay()('operator');
  const actor = useActor();
  const block = upstream.failing.find((one) => one.block !== null);
  const actions: Action[] = [
    ...(block ? (['free'] as const) : []),
    ...(upstream.status === 'on' ? (['draining', 'off'] as const) : (['on'] as const)),
  ];
  const run = async (action: Action, reason: string): Promise<{ outcome: string }> => {
    const why = { ...(actor ? { actor } : {}), ...(reason === '' ? {} : { reason }) };
    if (action === 'free') return ask('upstreams.free', { block: block!.block!, ...why });
    return ask('upstreams.change', { upstream: upstream.upstream, status: action, ...why });
  };
  return (
    <>
      <span className="actions">
        {actions.map((action) => (
          <Button key={action} small why={may} onClick={() => setAsked(action)}>
            {ABOUT[action].does}
          </Button>
        ))}
      </span>
      {asked && (
        <Confirm
          title={`${upstream.upstream}: ${ABOUT[asked].title}`}
          does={ABOUT[asked].does}
          danger={ABOUT[asked].danger ?? false}
          reason={asked === 'on' ? 'optional' : 'required'}
          run={(reason) => run(asked, reason)}
          onClose={() => setAsked(null)}
        >
          <p>{ABOUT[asked].says}</p>
          {asked === 'free' && block && (
            <p className="muted">
              {becauseOf(block)}. {block.nextStep}
            </p>
          )}
        </Confirm>
      )}
    </>
  );
}
