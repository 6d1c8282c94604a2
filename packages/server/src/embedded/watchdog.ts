// Makes a throwaway server die with the process that started it, however that process ends.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Place } from './folders.ts';
import { removeAll } from './names.ts';
import { asAccount } from './run.ts';

/**
 * Reads from a pipe whose other end only the parent holds: it ends when the parent closes it or dies. Runs as
 * PostgreSQL's user, so that it can end nothing but that user's processes and remove nothing but its files. The process
 * is judged by its folder and not by its pid alone, which may have been recycled.
 */
const script = `
dir=$1
is_ours() {
  if [ -d "/proc/$1" ]; then [ "/proc/$1/cwd" -ef "$dir/data" ]; return; fi
  case "$(ps -o comm= -p "$1" 2>/dev/null)" in *postgres) true ;; *) false ;; esac
}
while read -r line; do :; done
while [ -d "$dir" ]; do
  pid=
  if [ -r "$dir/data/postmaster.pid" ]; then read -r pid < "$dir/data/postmaster.pid"; fi
  if [ -n "$pid" ] && is_ours "$pid"; then
    kill -QUIT "$pid"
    tries=0
    while is_ours "$pid" && [ $tries -lt 200 ]; do sleep 0.05; tries=$((tries + 1)); done
    if is_ours "$pid"; then kill -KILL "$pid"; fi
  fi
  rm -rf "$dir"
  if [ -d "$dir" ]; then sleep 0.1; fi
done
`;

export interface Watchdog {
  /** Waits until the folder is removed, and a server in it that is still running has ended. */
  finish(): Promise<void>;
}

export async function startWatchdog(place: Place): Promise<Watchdog> {
  // Windows has no sh. There a killed parent leaves a server, as it does without a watchdog.
  const child = process.platform === 'win32' ? undefined : await spawnShell(place);
  return {
    async finish() {
      if (child && child.exitCode === null && child.signalCode === null) {
        const exit = once(child, 'exit');
        child.ref();
        child.stdin?.end();
        await exit;
      }
      await removeAll(place.folder, place.account);
    },
  };
}

async function spawnShell(place: Place): Promise<ChildProcess | undefined> {
  const child = spawn('/bin/sh', ['-c', script, 'recoup-watchdog', place.folder], {
    ...asAccount(place.account),
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  try {
    await once(child, 'spawn');
  } catch {
    return undefined;
  }
  child.stdin!.on('error', () => {});
  // A program that has nothing else to do may end without having stopped the server.
  child.unref();
  (child.stdin as Socket).unref();
  return child;
}
