// Inbox: what needs a person, how long has it waited, what does waiting cost?
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useRead } from '../../api.ts';
import { PoolLink } from '../../links.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { CopyCurl } from '../../parts/copy.tsx';
import { PageHead } from '../../parts/panel.tsx';
import { EmptyState, Loaded } from '../../parts/states.tsx';
import { At, Since, useNow } from '../../parts/time.tsx';
import type { Tone } from '../../parts/tone.ts';
import type { InboxItem } from '../../types.ts';
import { number, spaced } from '../../words.ts';
import { ItemActions } from './actions.tsx';

const route = getRouteApi('/frame/inbox');
const HOUR_MS = 3_600_000;

export function InboxPage() {
  const { pool, snoozed } = route.useSearch();
  const navigate = useNavigate();
  const off = snoozed === 'true';
  const filter = { ...(pool === undefined ? {} : { pool }), ...(off ? { snoozed: true } : {}) };
  const read = useRead('inbox.list', { ...filter, limit: 200 }, { keep: true });
  return (
    <>
      <PageHead title="Inbox" question="What needs a person, how long has it waited, what does waiting cost?">
        <Button
          onClick={() =>
            void navigate({ to: '/inbox', search: { ...(pool ? { pool } : {}), ...(off ? {} : { snoozed: 'true' }) } })
          }
        >
          {off ? 'Show what is due' : 'Show what is put off'}
        </Button>
        <CopyCurl path={`/v1/inbox${off ? '?snoozed=true' : ''}`} />
      </PageHead>
      <Loaded read={read} what="The inbox" rows={6}>
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState title={off ? 'Nothing is put off' : 'Nothing needs you'}>
              What only a person can resolve is here from its first second: a credential that was refused, a bill that
              was not paid, an account that was disabled. It goes by itself when it is over.
            </EmptyState>
          ) : (
            <ul>
              {items.map((item) => (
                <Item key={item.item} item={item} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </>
  );
}

/** As word and colour: under an hour, under a day, longer. */
const ageTone = (ms: number): Tone => (ms < HOUR_MS ? 'plain' : ms < 24 * HOUR_MS ? 'cooling' : 'bad');

function Item({ item }: { item: InboxItem }) {
  const { subject, kind, scope, reason, nextStep, since, owner, snoozedUntil, contradictedAt, pools, notes } = item;
  const now = useNow(10_000);
  const tone = ageTone(now - Date.parse(since));
  return (
    <li className="item">
      <div className="top">
        <h2>{subject.replace(/^upstream:/, '')}</h2>
        <Badge tone={tone}>{spaced(kind)}</Badge>
        {scope !== '' && <span className="muted">for {scope}</span>}
        {owner && <span className="muted">taken by {owner}</span>}
        <span className="age small">
          stuck for <Since instant={since} />
        </span>
      </div>
      {nextStep && <p>{nextStep}</p>}
      {reason && <p className="muted">{reason}</p>}
      <p className="small">
        {pools.map(({ pool, usable, all }, index) => (
          <span key={pool}>
            {index > 0 && ', '}
            <PoolLink pool={pool} />: {number(usable)} of {number(all)} usable
          </span>
        ))}
      </p>
      {contradictedAt && (
        <p className="small">
          <Badge tone="cooling">speaks against it</Badge> Something worked since <At instant={contradictedAt} />: look
          whether it is still so.
        </p>
      )}
      {snoozedUntil && (
        <p className="small muted">
          Put off until <At instant={snoozedUntil} />
        </p>
      )}
      {notes.length > 0 && (
        <ul className="small muted">
          {notes.map(({ number: id, at, actor, type, note }) => (
            <li key={id}>
              <At instant={at} /> {actor} {type}
              {note && `: ${note}`}
            </li>
          ))}
        </ul>
      )}
      <ItemActions item={item} />
    </li>
  );
}
