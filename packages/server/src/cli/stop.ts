// What SIGTERM and Ctrl-C do to a command: most are cut off; one that works in batches ends the batch at work and says how far it came.

/** A command ended where it was asked to; the message says how far it came. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
}

/** npm passes a Ctrl-C on that the terminal has sent already: so soon after the first it is the same one. */
const SAME_MS = 400;
/** Exit codes as shells have them: 128 and the number of the signal. */
const CODES = { SIGINT: 130, SIGTERM: 143 } as const;
type Name = keyof typeof CODES;

export class Stop {
  readonly #asked = new AbortController();
  readonly #cut = new AbortController();
  #at = 0;
  #gentle = false;
  #code: number = CODES.SIGINT;

  /** Fires at the first signal: nothing new is begun. */
  get asked(): AbortSignal {
    return this.#asked.signal;
  }
  /** Fires when what is on its way is given up: at once, unless the command asked for `gently`. */
  get cut(): AbortSignal {
    return this.#cut.signal;
  }
  get code(): number {
    return this.#code;
  }

  /** From here on the batch at work may end. */
  gently(): void {
    this.#gentle = true;
  }

  /** Refuses to go on where a signal came; `how far` is what the person reads. */
  check(howFar: () => string): void {
    if (this.asked.aborted) throw new Stopped(howFar());
  }

  /** Listens to the signals of this process. A second one ends it at once. */
  listen(): void {
    for (const name of Object.keys(CODES) as Name[]) process.on(name, this.#onSignal);
  }

  /** For commands that stop in an order of their own. */
  leave(): void {
    for (const name of Object.keys(CODES) as Name[]) process.off(name, this.#onSignal);
  }

  readonly #onSignal = (name: NodeJS.Signals): void => this.ask(name as Name);

  /** What a signal does. */
  ask(name: Name): void {
    this.#code = CODES[name];
    if (!this.asked.aborted) {
      this.#at = performance.now();
      this.#asked.abort();
      if (!this.#gentle) this.#cut.abort();
    } else if (performance.now() - this.#at > SAME_MS) process.exit(this.#code);
  }
}
