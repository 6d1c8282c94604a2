// The balance in figures: booked, spendable, held, at risk; at a past instant what was known then.

import type { Output } from '@recoup/client';
import type { UseQueryResult } from '@tanstack/react-query';
import { useRead } from '../../api.ts';
import { Badge } from '../../parts/badge.tsx';
import { Figure, Figures } from '../../parts/figure.tsx';
import { Loaded } from '../../parts/states.tsx';
import { clock, number } from '../../words.ts';

type Answer = Output<'wallets.balance'>;

export function Balance({ wallet, then }: { wallet: string; then: UseQueryResult<Answer> | null }) {
  const now = useRead('wallets.balance', { wallet }, { enabled: then === null });
  return (
    <Loaded read={then ?? now} what="The balance" rows={3}>
      {(answer) => ('at' in answer ? <Then {...answer} /> : <Now {...answer} />)}
    </Loaded>
  );
}

function Now(balance: Exclude<Answer, { at: string }>) {
  const { booked, unit, spendable, overdraftLimit, held, atRisk, expiring, customer, status } = balance;
  const next = expiring[0];
  return (
    <Figures>
      <Figure
        label="Booked"
        value={number(booked)}
        unit={unit}
        note={
          <>
            of {customer} {status === 'closed' && <Badge tone="plain">closed</Badge>}
            {booked < 0 && <Badge tone="bad">in debt</Badge>}
          </>
        }
      />
      <Figure
        label="Spendable"
        value={number(spendable)}
        note={overdraftLimit > 0 ? `with ${number(overdraftLimit)} of overdraft` : 'what a job may cost now'}
      />
      <Figure label="Held" value={number(held)} note="charged for jobs that have not ended" />
      <Figure label="At risk" value={number(atRisk)} note="given back for jobs that may still succeed" />
      {next && <Figure label="Expires next" value={number(next.amount)} note={clock(next.at)} />}
    </Figures>
  );
}

function Then({ at, seq, booked, spendable, atRisk }: Extract<Answer, { at: string }>) {
  return (
    <Figures>
      <Figure label="Booked then" value={number(booked)} note={clock(at)} />
      <Figure label="After entry" value={seq === 0 ? 'none' : number(seq)} note="the last one at or before it" />
      {spendable !== undefined && (
        <Figure label="Spendable then" value={number(spendable)} note="under the overdraft limit of today" />
      )}
      {atRisk !== undefined && (
        <Figure label="At risk then" value={number(atRisk)} note="given back for jobs that might still succeed" />
      )}
    </Figures>
  );
}
