// Pages of what is due: each goes on behind the one before it, so that what cannot be handled now holds up nothing behind it.

export const PAGE = 500;

/** Reads page after page until one is short, until there were `most`, or until the signal fires. */
export async function* pagesOf<Row>(
  read: (after: Row | undefined) => Promise<Row[]>,
  signal: AbortSignal,
  most = Number.POSITIVE_INFINITY,
): AsyncGenerator<Row[]> {
  let after: Row | undefined;
  for (let page = 0; page < most && !signal.aborted; page++) {
    const rows = await read(after);
    if (rows.length > 0) yield rows;
    if (rows.length < PAGE) return;
    after = rows.at(-1);
  }
}
