// What the demo shows: lines, a bar where somebody watches a terminal, colours where they are wanted.
import pc from 'picocolors';
import type { Progress } from './design.ts';

const PLAIN_EVERY_MS = 4000;
const REDRAW_EVERY_MS = 100;

export const count = (value: number): string => value.toLocaleString('en-US');
export const many = (value: number, what: string): string => `${count(value)} ${what}${value === 1 ? '' : 's'}`;
/** +40 and −40, with a sign that is as wide as the plus. */
export const signed = (value: number): string => (value < 0 ? `−${count(-value)}` : `+${count(value)}`);

export class Screen {
  readonly colors: ReturnType<typeof pc.createColors>;
  readonly #out: NodeJS.WriteStream;
  /** A line that is drawn again and again in its place. */
  readonly #live: boolean;
  #drawn = false;
  #last = 0;

  constructor(out: NodeJS.WriteStream, live: boolean) {
    this.#out = out;
    const capable = Boolean(out.isTTY) && process.env.TERM !== 'dumb';
    this.#live = live && capable;
    this.colors = pc.createColors(capable && !process.env.NO_COLOR);
  }

  line(text = ''): void {
    this.#clear();
    this.#out.write(`${text}\n`);
  }

  heading(number: number, text: string): void {
    this.line();
    this.line(`${this.colors.bold(String(number))}  ${this.colors.bold(text)}`);
    this.line();
  }

  /** What is going on, until the next line takes its place; without a terminal a line like any other. */
  passing(text: string): void {
    if (!this.#live) this.line(`   ${text}`);
    else this.#draw(`   ${this.colors.dim(text.slice(0, this.#width - 4))}`);
  }

  /** How far a replay is. On a terminal a bar, elsewhere a line every few seconds. */
  progress(name: string, { ended, refunded, reclaimed }: Progress, total: number, seconds: number): void {
    const now = performance.now();
    if (now - this.#last < (this.#live ? REDRAW_EVERY_MS : PLAIN_EVERY_MS)) return;
    this.#last = now;
    // Each as wide as it can get, so that nothing moves about.
    const wide = (value: number) => count(value).padStart(count(total).length);
    const figures = [
      `${wide(ended)}/${count(total)}`,
      `${wide(refunded)} refunded`,
      `${wide(reclaimed)} reclaimed`,
      `${seconds.toFixed(0).padStart(3)} s`,
    ].join('  ');
    const label = name.padEnd(6);
    if (!this.#live) this.line(`   ${label}   ${figures}`);
    else this.#draw(this.#bar(label, figures, ended / total));
  }

  #bar(label: string, figures: string, part: number): string {
    const width = Math.min(this.#width - figures.length - label.length - 10, 40);
    if (width < 4) return `   ${figures}`.slice(0, this.#width - 1);
    const full = Math.round(part * width);
    const bar = this.colors.cyan('━'.repeat(full)) + this.colors.dim('─'.repeat(width - full));
    return `   ${this.colors.bold(label)}   ${bar}   ${figures}`;
  }

  get #width(): number {
    return this.#out.columns || 80;
  }

  #draw(text: string): void {
    this.#out.write(`\r${text}\x1b[K`);
    this.#drawn = true;
  }

  #clear(): void {
    if (this.#drawn) this.#out.write('\r\x1b[K');
    this.#drawn = false;
  }
}
