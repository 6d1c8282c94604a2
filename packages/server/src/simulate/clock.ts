// The process's own clock for as long as a call takes: how old an answer is goes by it, and here "now" is when it was recorded.

/**
 * Runs `work` while `Date.now()` stands at `at`. The library tells the age of an answer by the clock of the machine that got it
 * and everything else by the database's; in a simulation both stand where the recording does.
 */
export async function standingAt<T>(at: Date, work: () => Promise<T>): Promise<T> {
  const real = Date.now;
  const ms = at.getTime();
  Date.now = () => ms;
  try {
    return await work();
  } finally {
    Date.now = real;
  }
}
