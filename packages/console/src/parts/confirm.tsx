// Confirm: asks before something is done, tells what it will do, and keeps an error where it was asked.
import { type ReactNode, useState } from 'react';
import { refresh } from '../api.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { ErrorState } from './states.tsx';
import { toast } from './toast.tsx';

interface Props {
  title: string;
  children: ReactNode;
  /** The word on the button. */
  does: string;
  danger?: boolean;
  /** Asks why, for whoever looks later. */
  reason?: 'required' | 'optional';
  run: (reason: string) => Promise<{ outcome: string }>;
  onClose: () => void;
}

export function Confirm({ title, children, does, danger, reason, run, onClose }: Props) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [why, setWhy] = useState('');
  const submit = async () => {
    setBusy(true);
    try {
      const { outcome } = await run(why.trim());
      toast(outcome === 'duplicate' ? 'It was so already.' : `Done: ${outcome}.`);
      await refresh();
      onClose();
    } catch (failed) {
      setError(failed);
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <div>{children}</div>
      {reason && (
        <label className="field">
          <span>Why{reason === 'optional' ? ', if you like' : ''}</span>
          <input className="input" value={why} maxLength={200} onChange={(event) => setWhy(event.target.value)} />
        </label>
      )}
      {error !== null && <ErrorState what="It was not done" error={error} />}
      <div className="actions">
        <Button onClick={onClose}>Close</Button>
        <Button
          kind={danger ? 'danger' : 'main'}
          busy={busy}
          why={reason === 'required' && why.trim() === '' ? 'Say why first.' : null}
          onClick={() => void submit()}
        >
          {does}
        </Button>
      </div>
    </Dialog>
  );
}
