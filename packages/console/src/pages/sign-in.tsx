// Sign in: an API key for a session, or the one-time link that the server printed.
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { queries, session } from '../api.ts';
import { Button } from '../parts/button.tsx';

const route = getRouteApi('/sign-in');

export function SignInPage() {
  const { to = '/' } = route.useSearch();
  const navigate = useNavigate();
  const [key, setKey] = useState('');
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState<string | null>(null);
  const begun = useRef(false);

  const open = async (given: { key: string } | { link: string }, why: string) => {
    setBusy(true);
    try {
      await session.open(given);
      queries.clear();
      // Only a path of ours: never an address that somebody put into the link.
      await navigate({ href: /^\/(?![/\\])/.test(to) ? to : '/', replace: true });
    } catch (error) {
      const { code, message } = error as Error & { code?: string };
      setWrong(code === 'unauthorized' ? why : message);
      setBusy(false);
    }
  };
  useEffect(() => {
    document.title = 'Sign in · Recoup';
    const link = location.hash.slice(1);
    if (link === '' || begun.current) return;
    // It works once, also where the effect runs twice; and it does not stay in the history.
    begun.current = true;
    history.replaceState(history.state, '', '/sign-in');
    void open({ link }, 'This link was used, or it is older than ten minutes. Start the server again for another one.');
  });

  return (
    <main className="sign-in">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void open({ key: key.trim() }, 'No key is so, or it was revoked.');
        }}
      >
        <h1>Recoup</h1>
        <label className="field">
          <span>API key</span>
          <input
            className="input mono"
            type="password"
            autoComplete="current-password"
            placeholder="rcp_…"
            required
            value={key}
            aria-describedby="about"
            aria-invalid={wrong !== null}
            onChange={(event) => setKey(event.target.value)}
          />
        </label>
        {wrong && (
          <p role="alert" style={{ color: 'var(--bad)' }}>
            {wrong}
          </p>
        )}
        <p id="about" className="small muted">
          You can do here what the key may do, for twelve hours. The key itself is not kept in the browser. Make one
          with <code>recoup keys create --name me --scopes viewer</code>
        </p>
        <Button kind="main" type="submit" busy={busy}>
          Sign in
        </Button>
      </form>
    </main>
  );
}
