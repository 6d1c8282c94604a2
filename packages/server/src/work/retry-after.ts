// Retry-After as a duration.

/** Retry-After in ms: seconds, or a date. A day at most. */
export function retryAfterOf(text: string | null): number | undefined {
  if (text === null) return undefined;
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.min(Math.max(Math.round(ms), 0), 86_400_000) : undefined;
}
