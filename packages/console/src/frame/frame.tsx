// The frame around every page: rail, search, live, theme, who is signed in; without a session it leads to the sign-in.
import { useIsFetching } from '@tanstack/react-query';
import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { isMissing, queries, session, setPaused, usePaused, useRead, useSession } from '../api.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { ErrorState, Skeleton } from '../parts/states.tsx';
import { useNow } from '../parts/time.tsx';
import { Toasts } from '../parts/toast.tsx';
import { duration } from '../words.ts';
import { HELP, useFrameKeys } from './keys.ts';
import { PAGES } from './pages.ts';
import { useTheme } from './theme.ts';

export function Frame() {
  const { data, error, refetch } = useSession();
  const navigate = useNavigate();
  const { href } = useLocation();
  const signedOut = (error as { status?: number } | null)?.status === 401;
  useEffect(() => {
    // While the way there is still under way this part is there already, at the new address.
    if (signedOut && !href.startsWith('/sign-in'))
      void navigate({ to: '/sign-in', search: href === '/' ? {} : { to: href }, replace: true });
  }, [signedOut, navigate, href]);
  if (!data && error && !signedOut)
    return (
      <main>
        <ErrorState what="Recoup does not answer" error={error} retry={() => void refetch()} />
      </main>
    );
  if (!data) return <Skeleton rows={8} />;
  return <Inside />;
}

function Inside() {
  const search = useRef<HTMLInputElement>(null);
  const [help, setHelp] = useState(false);
  const paused = usePaused();
  useFrameKeys(
    () => search.current?.focus(),
    () => setHelp(true),
    paused,
  );
  return (
    <div className="frame">
      <a className="skip" href="#main">
        To the content
      </a>
      <Rail />
      <header className="bar">
        <Search input={search} />
        <div className="end">
          <Live paused={paused} />
          <Theme />
          <Who />
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        <Outlet />
      </main>
      {help && <Help onClose={() => setHelp(false)} />}
      <Toasts />
    </div>
  );
}

function Rail() {
  const { pathname } = useLocation();
  const { data } = useRead('system.info', {}, { everyMs: 60_000 });
  return (
    <nav className="rail" aria-label="Pages">
      <Link to="/" className="brand">
        <img src="/icon.svg" alt="" />
        Recoup
      </Link>
      <ul>
        {PAGES.map(({ to, name, key }) => {
          const here = to === '/' ? pathname === '/' : pathname.startsWith(to);
          return (
            <li key={to}>
              <Link to={to} aria-current={here ? 'page' : undefined}>
                {name}
                <kbd>g {key}</kbd>
              </Link>
            </li>
          );
        })}
      </ul>
      {data && (
        <div className="below">
          {data.notices.map((notice) => (
            <p key={notice}>{notice}</p>
          ))}
          Recoup {data.version}
          <br />
          schema {data.schema}
        </div>
      )}
    </nav>
  );
}

function Search({ input }: { input: React.RefObject<HTMLInputElement | null> }) {
  const navigate = useNavigate();
  const [text, setText] = useState('');
  return (
    <search>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const q = text.trim();
          if (q === '') return;
          setText('');
          input.current?.blur();
          void navigate({ to: '/search', search: { q } });
        }}
      >
        <input
          ref={input}
          className="input"
          aria-label="Paste any id"
          placeholder="Paste any id"
          autoComplete="off"
          spellCheck={false}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
        />
        <kbd>/</kbd>
      </form>
    </search>
  );
}

/** Green: what is shown is fresh. A ring: it stands still. A red square: the last try failed. */
function Live({ paused }: { paused: boolean }) {
  useIsFetching();
  const now = useNow(1000);
  const all = queries
    .getQueryCache()
    .getAll()
    .filter((query) => query.isActive());
  const oldest = Math.min(now, ...all.map(({ state }) => state.dataUpdatedAt || now));
  const lost = all.some(({ state }) => state.error !== null && !isMissing(state.error));
  const word = paused ? 'Paused' : lost ? 'Not reached' : 'Live';
  return (
    <Button
      kind="quiet"
      small
      onClick={() => setPaused(!paused)}
      title={`The oldest of what is shown is ${duration(now - oldest)} old. Press p to stand still or go on.`}
    >
      <span className={`live ${paused ? 'paused' : lost ? 'lost' : ''}`}>
        <i aria-hidden="true" />
        {word}
      </span>
    </Button>
  );
}

function Theme() {
  const [theme, next] = useTheme();
  const words = { system: 'auto', light: 'light', dark: 'dark' };
  return (
    <Button kind="quiet" small onClick={next} title="The theme: the system’s, light, dark">
      Theme: {words[theme]}
    </Button>
  );
}

function Who() {
  const { data } = useSession();
  const navigate = useNavigate();
  if (!data) return null;
  if (data.expiresAt === null) return <span className="small muted who">no key needed here</span>;
  const out = async () => {
    await session.end();
    queries.clear();
    await navigate({ to: '/sign-in' });
  };
  return (
    <>
      <span className="small muted who" title={data.prefix ?? undefined}>
        {data.name ?? 'link'} · {data.scopes.join(', ')}
      </span>
      <Button kind="quiet" small onClick={() => void out()}>
        Sign out
      </Button>
    </>
  );
}

function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className="facts">
        {HELP.map(([key, does]) => (
          <div key={key} style={{ display: 'contents' }}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <div className="actions">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}
