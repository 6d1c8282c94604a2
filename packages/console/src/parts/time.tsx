// Time: an instant as people read it, with the exact one beside it; durations that go on while somebody looks.
import { useEffect, useState } from 'react';
import { age, clock, zone } from '../words.ts';

/** What time it is, again every so often. */
export function useNow(everyMs = 1000): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

export const At = ({ instant, ms }: { instant: string; ms?: boolean }) => (
  <time dateTime={instant} title={`${instant} (shown in ${zone})`}>
    {clock(instant, ms)}
  </time>
);

export function Since({ instant }: { instant: string }) {
  const now = useNow(5000);
  return (
    <time dateTime={instant} title={instant}>
      {age(instant, now)}
    </time>
  );
}
