// At any instant: the balance as it was then. The instant is typed in the zone of whoever looks, and kept in the address as RFC 3339.
import { useId } from 'react';
import { Button } from '../../parts/button.tsx';
import { zone } from '../../words.ts';

const two = (value: number) => String(value).padStart(2, '0');

/** As an input of the browser takes it, in local time. */
function local(instant: string): string {
  const date = new Date(instant);
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

export function AtInstant({ at, onAt }: { at: string | undefined; onAt: (at: string | undefined) => void }) {
  const id = useId();
  return (
    <form
      className="filters"
      key={at ?? ''}
      onSubmit={(event) => {
        event.preventDefault();
        const given = String(new FormData(event.currentTarget).get('at') ?? '');
        onAt(given === '' ? undefined : new Date(given).toISOString());
      }}
    >
      <label className="field" htmlFor={id}>
        <span>As of ({zone})</span>
        <input
          id={id}
          className="input"
          name="at"
          type="datetime-local"
          step="1"
          defaultValue={at === undefined ? '' : local(at)}
        />
      </label>
      <Button type="submit">Show</Button>
      {at !== undefined && (
        <Button kind="quiet" onClick={() => onAt(undefined)}>
          Back to now
        </Button>
      )}
    </form>
  );
}
