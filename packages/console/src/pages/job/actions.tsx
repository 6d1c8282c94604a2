// What a person may do to one job: run a dead one again, put it aside, give a job up.
import { useState } from 'react';
import { ask, useMay } from '../../api.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import type { Job } from '../../types.ts';
import { number } from '../../words.ts';

type Action = 'redrive' | 'discard' | 'cancel';

const ABOUT: Record<Action, { title: string; does: string; danger?: boolean; says: (job: Job) => string }> = {
  redrive: {
    title: 'Run it again?',
    does: 'Redrive',
    says: ({ price, refundedAt }) =>
      refundedAt === null
        ? 'It goes back into its queue. Nothing is charged.'
        : `It goes back into its queue. Nothing is charged now; if it succeeds, ${number(price)} are taken again.`,
  },
  discard: {
    title: 'Put it aside?',
    does: 'Discard',
    danger: true,
    says: () =>
      'It will not run again by itself. Should it still succeed, its price is taken again. It can be redriven later.',
  },
  cancel: {
    title: 'Give it up?',
    does: 'Cancel the job',
    danger: true,
    says: ({ price, refundedAt }) =>
      refundedAt === null
        ? `The ${number(price)} go back. A result that still comes must not be handed out. This cannot be undone.`
        : 'It was refunded already. A result that still comes must not be handed out. This cannot be undone.',
  },
};

/** Why an action makes no sense in this state; null: it does. */
function unfit(action: Action, { state }: Job): string | null {
  if (action === 'redrive')
    return /^(dead|discarded)$/.test(state) ? null : `It is ${state}: only a dead letter is redriven.`;
  if (action === 'discard') return state === 'dead' ? null : `It is ${state}: only a dead letter is put aside.`;
  return /^(succeeded|canceled)$/.test(state)
    ? `It has ${state === 'canceled' ? 'been canceled' : 'succeeded'} already.`
    : null;
}

export function JobActions({ job }: { job: Job }) {
  const [asked, setAsked] = useState<Action | null>(null);
  const may = useMay();
  const key = { wallet: job.wallet, job: job.id };
  const allowed: Record<Action, string | null> = {
    redrive: may('support', 'operator'),
    discard: may('support', 'operator'),
    cancel: may('app', 'support'),
  };
  const runs = {
    redrive: () => ask('deadLetters.redrive', key),
    discard: () => ask('deadLetters.discard', key),
    cancel: (reason: string) => ask('jobs.cancel', { ...key, ...(reason === '' ? {} : { reason }) } as never),
  };
  return (
    <>
      {(['redrive', 'discard', 'cancel'] as const).map((action) => (
        <Button
          key={action}
          kind={action === 'redrive' && unfit(action, job) === null ? 'main' : undefined}
          why={unfit(action, job) ?? allowed[action]}
          onClick={() => setAsked(action)}
        >
          {ABOUT[action].does}
        </Button>
      ))}
      {asked && (
        <Confirm
          title={ABOUT[asked].title}
          does={ABOUT[asked].does}
          danger={ABOUT[asked].danger ?? false}
          run={(reason) => runs[asked](reason) as Promise<{ outcome: string }>}
          onClose={() => setAsked(null)}
        >
          <p>{ABOUT[asked].says(job)}</p>
        </Confirm>
      )}
    </>
  );
}
