// Keys of every page: `g x` goes to a page, `/` to the search, `?` shows them; none of them destroys anything.
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { refresh, setPaused } from '../api.ts';
import { PAGES } from './pages.ts';

const WITHIN_MS = 1200;

const typing = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.matches('input, textarea, select') || target.isContentEditable);

/** A key of one page: not while somebody types, a dialog is open, or a modifier is held. */
export function useKeys(keys: Readonly<Record<string, () => void>>): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        typing(event.target) ||
        document.querySelector('dialog[open]')
      )
        return;
      const run = Object.hasOwn(keys, event.key) ? keys[event.key] : undefined;
      if (!run) return;
      event.preventDefault();
      run();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [keys]);
}

let gone = 0;

export function useFrameKeys(search: () => void, help: () => void, paused: boolean): void {
  const navigate = useNavigate();
  const pages = Object.fromEntries(
    PAGES.map(({ key, to }) => [
      key,
      () => {
        if (performance.now() - gone > WITHIN_MS) return;
        gone = 0;
        void navigate({ to });
      },
    ]),
  );
  useKeys({
    ...pages,
    p: () => (performance.now() - gone <= WITHIN_MS ? pages.p!() : setPaused(!paused)),
    g: () => {
      gone = performance.now();
    },
    r: () => void refresh(),
    '/': search,
    '?': help,
    j: () => moveRow(1),
    k: () => moveRow(-1),
  });
}

/** The next or the last link of a row: `Enter` opens it. */
function moveRow(by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>('main tbody tr, main .item')]
    .map((row) => row.querySelector<HTMLElement>('a, button'))
    .filter((link) => link !== null);
  const at = links.findIndex((link) => link.closest('tr, .item')?.contains(document.activeElement));
  const next = at < 0 ? (by > 0 ? 0 : links.length - 1) : Math.min(Math.max(at + by, 0), links.length - 1);
  links[next]?.focus();
}

export const HELP: readonly (readonly [string, string])[] = [
  ['/', 'Search: paste any id'],
  ...PAGES.map(({ key, name }) => [`g ${key}`, name] as const),
  ['j  k', 'Next, previous row; Enter opens it'],
  ['[  ]', 'Wallet: one entry back, one forward'],
  ['p', 'Stand still, go on'],
  ['r', 'Refresh now'],
  ['?', 'These keys'],
  ['Esc', 'Close a dialog'],
];
