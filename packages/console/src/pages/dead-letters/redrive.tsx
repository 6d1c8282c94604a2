// Redrive: first what it would do, then the count as confirmation, then its progress, with a way to stop.
import type { Output } from '@recoup/client';
import { useEffect, useRef, useState } from 'react';
import { recoup, refresh, useRead } from '../../api.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ErrorState, Loaded } from '../../parts/states.tsx';
import { clock, number, plural } from '../../words.ts';
import type { Filter } from './page.tsx';

type Preview = Output<'deadLetters.preview'>;
type Progress = Output<'deadLetters.redriveAll'>;
/** From so many on the count is typed: nobody means thousands by a slip. */
const TYPED_FROM = 20;

export function Redrive({ filter, onClose }: { filter: Filter; onClose: () => void }) {
  const preview = useRead('deadLetters.preview', filter, { everyMs: false });
  const [progress, setProgress] = useState<Progress | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [stopped, setStopped] = useState(false);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);

  const run = async ({ count, asOf }: Preview) => {
    running.current = new AbortController();
    setError(null);
    setProgress({ done: 0, of: count, ended: false });
    try {
      const { signal } = running.current;
      for await (const step of recoup.deadLetters.redriveAll({ ...filter, asOf, confirm: count }, { signal }))
        setProgress(step);
    } catch (failed) {
      if (running.current.signal.aborted) setStopped(true);
      else setError(failed);
    }
    await refresh();
  };

  const again = () => {
    setError(null);
    setProgress(null);
    void preview.refetch();
  };

  return (
    <Dialog title={titleOf(filter)} onClose={onClose}>
      {error !== null && (
        <ErrorState
          what={progress && progress.done > 0 ? 'It broke off' : 'It was not done'}
          error={error}
          retry={again}
        />
      )}
      {progress ? (
        <Running
          progress={progress}
          stopped={stopped}
          failed={error !== null}
          onStop={() => running.current?.abort()}
          onClose={onClose}
        />
      ) : (
        <Loaded read={preview} what="What it would do">
          {(data) => <Ask preview={data} onRun={() => void run(data)} onClose={onClose} />}
        </Loaded>
      )}
    </Dialog>
  );
}

function titleOf({ queue, wallet, reason }: Filter): string {
  const parts = [
    reason && `that died of “${reason}”`,
    queue && `of the queue ${queue}`,
    wallet && `of ${wallet}`,
  ].filter(Boolean);
  return parts.length === 0 ? 'Redrive all dead letters' : `Redrive dead letters ${parts.join(', ')}`;
}

function Ask({ preview, onRun, onClose }: { preview: Preview; onRun: () => void; onClose: () => void }) {
  const { count, mayReclaim, walletsIntoDebt, asOf } = preview;
  const [typed, setTyped] = useState('');
  const mustType = count >= TYPED_FROM;
  const why =
    count === 0
      ? 'There is nothing to redrive.'
      : mustType && typed.replaceAll(/[^\d]/g, '') !== String(count)
        ? 'Type the count first.'
        : null;
  return (
    <>
      <dl className="facts">
        <dt>Would run again</dt>
        <dd>
          {plural(count, 'job')}, dead by {clock(asOf)}; what dies later is not touched
        </dd>
        <dt>Charged now</dt>
        <dd>nothing</dd>
        <dt>If all succeed</dt>
        <dd>{number(mayReclaim)} are taken again</dd>
        <dt>Into debt</dt>
        <dd>{walletsIntoDebt === 0 ? 'no wallet' : plural(walletsIntoDebt, 'wallet')}</dd>
      </dl>
      {mustType && (
        <label className="field">
          <span>Type {number(count)} to confirm</span>
          <input
            className="input"
            inputMode="numeric"
            autoComplete="off"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        </label>
      )}
      <div className="actions">
        <Button onClick={onClose}>Close</Button>
        <Button kind="main" why={why} onClick={onRun}>
          Redrive {plural(count, 'job')}
        </Button>
      </div>
    </>
  );
}

interface RunningProps {
  progress: Progress;
  stopped: boolean;
  failed: boolean;
  onStop: () => void;
  onClose: () => void;
}

function Running({ progress, stopped, failed, onStop, onClose }: RunningProps) {
  const { done, of, ended, redriven, skipped = 0 } = progress;
  const said = ended
    ? `${plural(redriven ?? done, 'job')} redriven${skipped > 0 ? `, ${number(skipped)} left: somebody else had moved them` : ''}.`
    : stopped
      ? `Stopped after ${number(done)} of ${number(of)}. What was redriven stays so; the rest is as it was.`
      : `${number(done)} of ${number(of)}`;
  return (
    <>
      <progress max={Math.max(of, 1)} value={ended ? of : done} aria-label="Redriven" />
      <p role="status">{said}</p>
      <div className="actions">
        {ended || stopped || failed ? (
          <Button kind="main" onClick={onClose}>
            Close
          </Button>
        ) : (
          <Button kind="danger" onClick={onStop}>
            Stop
          </Button>
        )}
      </div>
    </>
  );
}
