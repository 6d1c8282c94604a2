// Button: does one thing; where it may not, it is there and says why.
import type { ButtonHTMLAttributes, ReactNode } from 'react';

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  kind?: 'main' | 'danger' | 'quiet' | undefined;
  small?: boolean;
  /** Why it cannot be used now. */
  why?: string | null;
  busy?: boolean;
  children: ReactNode;
}

export function Button({ kind, small, why, busy, children, className, type = 'button', ...rest }: Props) {
  const classes = ['button', kind, small && 'small', className].filter(Boolean).join(' ');
  return (
    <button
      {...rest}
      type={type}
      className={classes}
      disabled={busy || Boolean(why) || rest.disabled}
      title={why ?? rest.title}
    >
      {busy ? 'Working…' : children}
    </button>
  );
}
