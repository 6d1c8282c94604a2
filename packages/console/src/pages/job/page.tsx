// Job: what happened to it, and who paid for what?
import { getRouteApi } from '@tanstack/react-router';
import { useRead } from '../../api.ts';
import { addressOf, WalletLink } from '../../links.tsx';
import { JobState } from '../../parts/badge.tsx';
import { CopyCurl } from '../../parts/copy.tsx';
import { Kind } from '../../parts/kind.tsx';
import { PageHead, Panel } from '../../parts/panel.tsx';
import { Loaded } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { At, Since } from '../../parts/time.tsx';
import type { Job } from '../../types.ts';
import { duration, number, plural, signed } from '../../words.ts';
import { JobActions } from './actions.tsx';
import { eventsOf, paidOf, runsOf } from './events.ts';
import { Lanes } from './lanes.tsx';

const route = getRouteApi('/frame/wallets/$wallet/jobs/$job');

export function JobPage() {
  const { wallet, job: id } = route.useParams();
  const key = { wallet, job: id };
  const read = useRead('jobs.get', key);
  const attempts = useRead('jobs.attempts', key);
  const entries = useRead('jobs.entries', key);
  return (
    <>
      <PageHead
        title={id}
        question={
          <>
            What happened to it, and who paid for what? In <WalletLink wallet={wallet} />
          </>
        }
      >
        {read.data && <JobActions job={read.data.job} />}
        <CopyCurl path={`/v1${addressOf.job(wallet, id)}`} />
      </PageHead>
      <div className="stack">
        <Loaded read={read} what="The job" rows={5}>
          {({ job, payload, result }) => (
            <>
              <Summary job={job} paid={entries.data ? paidOf(job, entries.data.entries) : ''} />
              <Loaded read={attempts} what="The attempts">
                {({ attempts: ended }) => (
                  <Loaded read={entries} what="The entries">
                    {({ entries: moved }) => {
                      const events = eventsOf(job, ended, moved);
                      return (
                        <>
                          <Panel title="Timeline" more={plural(job.attempt, 'attempt')}>
                            <Lanes events={events} runs={runsOf(job, ended, Date.now())} deadlineAt={job.deadlineAt} />
                          </Panel>
                          <Events events={events} from={job.submittedAt} />
                        </>
                      );
                    }}
                  </Loaded>
                )}
              </Loaded>
              <Facts job={job} />
              <Content name="Payload" value={payload} />
              <Content name="Result" value={result} />
            </>
          )}
        </Loaded>
      </div>
    </>
  );
}

function Summary({ job, paid }: { job: Job; paid: string }) {
  return (
    <p>
      <JobState state={job.state} /> <strong>{number(job.price)}</strong> was the price
      {job.finalPrice === null ? '' : `, ${number(job.finalPrice)} the final one`}; {paid}.
      {job.notBefore !== null && job.state === 'queued' && (
        <>
          {' '}
          It runs again at <At instant={job.notBefore} />.
        </>
      )}
      {job.reason && job.state !== 'succeeded' && <span className="muted"> Last failure: {job.reason}</span>}
    </p>
  );
}

function Events({ events, from }: { events: ReturnType<typeof eventsOf>; from: string }) {
  const start = Date.parse(from);
  return (
    <Panel title="Events">
      <Table
        caption="Everything that happened to the job, oldest first"
        rows={events}
        id={({ at, lane, what, amount }) => `${at} ${lane} ${what} ${amount}`}
        columns={[
          { head: 'When', cell: ({ at }) => <At instant={at} ms />, kind: 'tight' },
          { head: 'After', cell: ({ at }) => duration(Date.parse(at) - start), kind: 'number' },
          { head: 'What', cell: ({ lane, what }) => (lane === 'Ledger' ? <Kind type={what} /> : what), kind: 'tight' },
          { head: 'Amount', cell: ({ amount }) => (amount === undefined ? '' : signed(amount)), kind: 'number' },
          { head: 'Detail', cell: ({ detail }) => <span className="muted">{detail}</span>, kind: 'wide' },
        ]}
      />
    </Panel>
  );
}

function Facts({ job }: { job: Job }) {
  const facts: [string, React.ReactNode][] = [
    ['Queue', job.queue ?? 'none: delivered by the caller'],
    ['Failures', `${job.failures} of ${job.maxFailures}`],
    ['Refunded', job.refundOn === 'failure' ? 'at the first failure' : 'when it is dead'],
    ['Worker', job.worker],
    ['Reference of the upstream', job.upstreamRef],
    ['Lease until', job.leaseUntil && <At instant={job.leaseUntil} />],
    [
      'Submitted',
      <>
        <Since key="s" instant={job.submittedAt} /> ago
      </>,
    ],
    [
      'Labels',
      job.labels &&
        Object.entries(job.labels)
          .map(([name, value]) => `${name}=${value}`)
          .join(', '),
    ],
    ['Trace', job.traceparent],
  ];
  return (
    <Panel title="Facts">
      <dl className="facts">
        {facts
          .filter(([, value]) => value !== null && value !== '')
          .map(([name, value]) => (
            <div key={name} style={{ display: 'contents' }}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
    </Panel>
  );
}

/** What callers sent stays folded until somebody wants it: it may be private. */
function Content({ name, value }: { name: string; value: unknown }) {
  if (value === null || value === undefined) return null;
  return (
    <details>
      <summary>{name}</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <pre className="scroll" tabIndex={0}>
        {JSON.stringify(value, null, 2)}
      </pre>
    </details>
  );
}
