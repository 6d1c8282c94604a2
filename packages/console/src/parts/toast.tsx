// Toast: says in passing that something was done. Nothing about money that failed is ever said so.
import { useSyncExternalStore } from 'react';

let shown: readonly { id: number; text: string }[] = [];
let last = 0;
const listeners = new Set<() => void>();
const STAYS_MS = 4000;

function show(next: typeof shown): void {
  shown = next;
  for (const listener of listeners) listener();
}

export function toast(text: string): void {
  const id = ++last;
  show([...shown, { id, text }]);
  setTimeout(() => show(shown.filter((one) => one.id !== id)), STAYS_MS);
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

export function Toasts() {
  const all = useSyncExternalStore(subscribe, () => shown);
  return (
    <div className="toasts" role="status" aria-live="polite">
      {all.map(({ id, text }) => (
        <div key={id} className="toast">
          {text}
        </div>
      ))}
    </div>
  );
}
