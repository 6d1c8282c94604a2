// Keeps an embedded PostgreSQL there for as long as it is wanted: one that dies is started again, on the same port and data.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Embedded, type EmbeddedOptions, startEmbedded } from './embedded.ts';
import { asEmbeddedError } from './errors.ts';

/** How often it is looked at. */
const LOOK_MS = 500;
/** The pause before a further try: doubled each time up to here, and short again once it has lived for as long as this. */
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;

/** Starts it as `startEmbedded` does. The URL stays what it is; `onProgress` hears a line for each death and each try. */
export async function keepEmbedded(options: EmbeddedOptions): Promise<Pick<Embedded, 'url' | 'announce' | 'stop'>> {
  const say = options.onProgress ?? (() => {});
  const first = await startEmbedded(options);
  const { url, port } = first;
  let running = first;
  let serves: string | undefined;
  const stopping = new AbortController();
  const { signal } = stopping;
  const pause = (ms: number) => sleep(ms, undefined, { signal }).catch(() => {});
  /** The next one; nothing where it is wanted no more. */
  const again = async (dead: Embedded, pauseMs: number): Promise<Embedded | undefined> => {
    say(`PostgreSQL (process ${dead.pid}) ended by itself: it is started again`);
    for (let wait = pauseMs; ; wait = Math.min(wait * 2, MAX_PAUSE_MS)) {
      await pause(wait);
      if (signal.aborted) return undefined;
      try {
        return await startEmbedded({ ...options, port });
      } catch (error) {
        say(`PostgreSQL did not start again: ${asEmbeddedError(error).message} The next try follows.`);
      }
    }
  };
  const keep = async (): Promise<Embedded | undefined> => {
    let current: Embedded | undefined = first;
    let since = performance.now();
    let pauseMs = FIRST_PAUSE_MS / 2;
    while (current && !signal.aborted) {
      await pause(LOOK_MS);
      if (signal.aborted || (await current.alive())) continue;
      pauseMs = performance.now() - since > MAX_PAUSE_MS ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, MAX_PAUSE_MS);
      current = await again(current, pauseMs);
      since = performance.now();
      if (!current) break;
      running = current;
      if (serves !== undefined) await announce(serves);
      say(`PostgreSQL is there again (process ${current.pid})`);
    }
    return current;
  };
  const announce = async (url: string) => {
    serves = url;
    // A hint for others: that it cannot be written is no reason to end.
    await running.announce(url).catch(() => {});
  };
  const kept = keep();
  const stop = async () => {
    stopping.abort();
    // What was being started is waited for, so that nothing stays behind.
    await (await kept)?.stop();
  };
  return { url, announce, stop };
}
