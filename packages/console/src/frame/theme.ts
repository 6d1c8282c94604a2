// The theme: the system's, light or dark; kept in this browser, set before the first paint by /theme.js.
import { useSyncExternalStore } from 'react';

export type Theme = 'system' | 'light' | 'dark';
const NEXT: Record<Theme, Theme> = { system: 'light', light: 'dark', dark: 'system' };
const listeners = new Set<() => void>();

const current = (): Theme => (document.documentElement.dataset.theme as Theme | undefined) ?? 'system';

function choose(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem('recoup-theme', theme);
  } catch {
    // It lasts as long as the page.
  }
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

export function useTheme(): [Theme, () => void] {
  const theme = useSyncExternalStore(subscribe, current);
  return [theme, () => choose(NEXT[theme])];
}
