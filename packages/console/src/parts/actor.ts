// Who does it, for the record: the name of the key, or what this browser was told where no key is needed.
import { useSession } from '../api.ts';

const NAME = 'recoup-actor';

export function useActor(): string {
  const { data } = useSession();
  return data?.name ?? localStorage.getItem(NAME) ?? 'console';
}
