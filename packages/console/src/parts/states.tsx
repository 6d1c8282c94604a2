// What a panel shows while it has nothing to show: a skeleton, why it is empty, or what went wrong and what to do.
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { isMissing, troubleOf } from '../api.ts';
import { Button } from './button.tsx';

export function Skeleton({ rows = 4 }: { rows?: number }) {
  return (
    <div className="skeleton" role="status">
      <span className="hidden">Loading</span>
      {Array.from({ length: rows }, (_, index) => (
        <i key={index} />
      ))}
    </div>
  );
}

interface EmptyProps {
  title: string;
  children?: ReactNode;
  /** The one line that makes something appear. */
  command?: string;
  actions?: ReactNode;
}

export function EmptyState({ title, children, command, actions }: EmptyProps) {
  return (
    <div className="state">
      <p className="title">{title}</p>
      {children && <p className="muted">{children}</p>}
      {command && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
        <pre tabIndex={0}>{command}</pre>
      )}
      {actions && <div className="actions">{actions}</div>}
    </div>
  );
}

export function ErrorState({ what, error, retry }: { what: string; error: unknown; retry?: () => void }) {
  const { code, detail, requestId } = troubleOf(error);
  return (
    <div className="state error" role="alert">
      <p className="title">{what}</p>
      <p>{detail}</p>
      <p className="small mono">
        {code}
        {requestId && ` · request ${requestId}`}
      </p>
      {retry && (
        <div className="actions">
          <Button small onClick={retry}>
            Try again
          </Button>
        </div>
      )}
    </div>
  );
}

/** A read as a page: each panel loads, fails and is empty alone. What was there stays while it is asked for again. */
export function Loaded<T>({
  read,
  what,
  rows,
  children,
}: {
  read: UseQueryResult<T>;
  /** `The pools`, for “… could not be read”. */
  what: string;
  rows?: number;
  children: (data: T) => ReactNode;
}) {
  if (read.data !== undefined && !(read.error && read.isPlaceholderData)) return <>{children(read.data)}</>;
  // What is not there is no failure, and asking again does not make it appear.
  if (read.error && isMissing(read.error))
    return <EmptyState title={troubleOf(read.error).detail}>Look at the spelling: ids are never folded.</EmptyState>;
  if (read.error)
    return <ErrorState what={`${what} could not be read`} error={read.error} retry={() => void read.refetch()} />;
  return <Skeleton rows={rows ?? 4} />;
}
