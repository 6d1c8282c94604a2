// Panel and page head: a titled part of a page, and the page's title with its question and its actions.
import { type ReactNode, useEffect, useId } from 'react';

export function Panel({ title, more, children }: { title: string; more?: ReactNode; children: ReactNode }) {
  const id = useId();
  return (
    <section className="panel" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {more && <div className="more small muted">{more}</div>}
      </header>
      {children}
    </section>
  );
}

interface HeadProps {
  title: string;
  question?: ReactNode;
  children?: ReactNode;
}

export function PageHead({ title, question, children }: HeadProps) {
  useEffect(() => {
    document.title = `${title} · Recoup`;
  }, [title]);
  return (
    <div className="page-head">
      <div>
        <h1>{title}</h1>
        {question && <p className="question">{question}</p>}
      </div>
      {children && <div className="actions">{children}</div>}
    </div>
  );
}
