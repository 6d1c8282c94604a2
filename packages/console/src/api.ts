// The service as pages see it: typed reads that are kept and refreshed, the session, and what went wrong in words.
import { type Input, type OperationName, type Output, RecoupClient, RecoupError } from '@recoup/client';
import { keepPreviousData, QueryClient, useQuery } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';

/** One try: what failed is shown with a way to repeat it, and the next refresh repeats it anyway. */
export const recoup = new RecoupClient({ url: location.origin, timeoutMs: 20_000, deadlineMs: 20_000 });

export const queries = new QueryClient({
  defaultOptions: { queries: { retry: false, staleTime: 1000, refetchOnWindowFocus: true } },
});

/** Asks for an operation by its name; the types come from the OpenAPI document. */
export function ask<N extends OperationName>(name: N, input: Input<N>, signal?: AbortSignal): Promise<Output<N>> {
  const [group, verb] = name.split('.') as [string, string];
  const calls = recoup as unknown as Record<string, Record<string, (input: unknown, options: unknown) => unknown>>;
  const options = { repeat: false, ...(signal ? { signal } : {}) };
  return calls[group]![verb]!(input, options) as Promise<Output<N>>;
}

export interface ReadOptions {
  /** Refreshed this often while somebody looks; false: once. */
  everyMs?: number | false;
  enabled?: boolean;
  /** While a filter of the same thing changes: what was there stays until the new one is. */
  keep?: boolean;
}

/** What an operation answers: kept, and refreshed with the page. */
export function useRead<N extends OperationName>(name: N, input: Input<N>, options: ReadOptions = {}) {
  const everyMs = useLive();
  return useQuery({
    queryKey: [name, input],
    queryFn: ({ signal }) => ask(name, input, signal),
    refetchInterval: ({ state }) => (isMissing(state.error) ? false : (options.everyMs ?? everyMs)),
    enabled: options.enabled ?? true,
    ...(options.keep ? { placeholderData: keepPreviousData } : {}),
  });
}

/** After a change: everything that is shown is asked for again. */
export const refresh = () => queries.invalidateQueries();

export interface Session {
  /** Null: no key, whoever is at this machine. */
  name: string | null;
  prefix: string | null;
  scopes: readonly string[];
  customer: string | null;
  expiresAt: string | null;
}

async function send(method: string, body?: unknown): Promise<unknown> {
  const init =
    body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  const response = await fetch('/console/session', { method, ...init });
  const answer = (await response.json()) as { code?: string; detail?: string };
  if (!response.ok)
    throw Object.assign(new Error(answer.detail ?? 'No answer.'), { ...answer, status: response.status });
  return answer;
}

export const session = {
  read: () => send('GET') as Promise<Session>,
  open: (given: { key: string } | { link: string }) => send('POST', given),
  end: () => send('DELETE'),
};

export const useSession = () => useQuery({ queryKey: ['session'], queryFn: session.read, staleTime: 60_000 });

/** Why somebody may not do something; null: they may. */
export function useMay(): (...scopes: string[]) => string | null {
  const { data } = useSession();
  return (...scopes) => {
    const may = data?.scopes.some((scope) => scope === 'admin' || scopes.includes(scope));
    return may ? null : `Needs a key with the scope ${scopes.join(' or ')}.`;
  };
}

/** What was asked for is not there: the answer was right. */
export const isMissing = (error: unknown): boolean => error instanceof RecoupError && /^no_/.test(error.code);

export interface Trouble {
  code: string;
  detail: string;
  requestId: string | null;
  signedOut: boolean;
}

export function troubleOf(error: unknown): Trouble {
  if (!(error instanceof RecoupError))
    return {
      code: 'failed',
      detail: error instanceof Error ? error.message : String(error),
      requestId: null,
      signedOut: false,
    };
  return {
    code: error.code,
    detail: error.message,
    requestId: error.requestId ?? null,
    signedOut: error.status === 401,
  };
}

let paused = false;
const listeners = new Set<() => void>();
const EVERY_MS = 5000;

/** Whether pages stand still: one setting for all of them. */
export function setPaused(next: boolean): void {
  paused = next;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

export const usePaused = (): boolean => useSyncExternalStore(subscribe, () => paused);
const useLive = (): number | false => (usePaused() ? false : EVERY_MS);
