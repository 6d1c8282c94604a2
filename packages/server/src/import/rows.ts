// A row of an import: what each column may hold, checked before anything is sent; every problem with its line and column.
import { InvalidInput, idProblem } from 'recoup';

/** What a wallet holds, by the other system. */
export interface Row {
  /** Where it stands: the line of the file, or the row of the query's answer. */
  line: number;
  wallet: string;
  customer: string;
  balance: number;
  unit: string | null;
}

/** A record as its source has it, by column. */
export interface Cells {
  line: number;
  cells: Readonly<Record<string, string>>;
}

export interface LineProblem {
  line: number;
  column: string | null;
  problem: string;
}

/** A source that cannot be read on from a place: what came before it is reported beside it. */
export class BrokenSource extends Error {
  readonly at: LineProblem;
  constructor(line: number, problem: string) {
    super(problem);
    this.at = { line, column: null, problem };
  }
}

const REQUIRED = ['wallet', 'customer', 'balance'];
const COLUMNS = [...REQUIRED, 'unit'];
const INTEGER = /^-?\d{1,16}$/;

/** Holds the heading to the columns that are known. `where` is what the user gave: `file` or `query`. */
export function checkColumns(where: string, names: readonly string[]): void {
  const rule = `must have the columns ${REQUIRED.join(', ')}, and may have unit`;
  const shown = JSON.stringify(names.join(',').slice(0, 100));
  const missing = REQUIRED.filter((name) => !names.includes(name));
  if (missing.length > 0) throw new InvalidInput(where, `${rule}; ${missing.join(', ')} is missing in ${shown}`);
  const unknown = names.find((name) => !COLUMNS.includes(name));
  if (unknown !== undefined)
    throw new InvalidInput(where, `${rule}; ${JSON.stringify(unknown.slice(0, 60))} is not known`);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new InvalidInput(where, `${rule}; ${twice} is there twice`);
}

/** Checks rows one after the other; remembers the wallets, so that none comes twice. */
export class RowChecker {
  readonly #seen = new Map<string, number>();

  /** The row, or what is wrong with it. */
  check({ line, cells }: Cells): Row | LineProblem[] {
    const { wallet = '', customer = '', balance = '', unit } = cells;
    const problems: LineProblem[] = [];
    const add = (column: string, problem: string | null) => {
      if (problem !== null) problems.push({ line, column, problem });
    };
    add('wallet', idProblem(wallet));
    add('customer', idProblem(customer));
    if (unit !== undefined && unit !== '') add('unit', idProblem(unit));
    add('balance', balanceProblem(balance));
    const before = this.#seen.get(wallet);
    if (before !== undefined) add('wallet', `is there already, in line ${before}: one line per wallet`);
    else this.#seen.set(wallet, line);
    if (problems.length > 0) return problems;
    // −0 is 0.
    return { line, wallet, customer, balance: Number(balance) || 0, unit: unit || null };
  }
}

function balanceProblem(text: string): string | null {
  if (INTEGER.test(text) && Number.isSafeInteger(Number(text))) return null;
  const max = Number.MAX_SAFE_INTEGER;
  const shown = text.length <= 40 ? JSON.stringify(text) : `a text of ${text.length} characters`;
  return `must be an integer from -${max} to ${max}, in digits alone; got ${shown}`;
}
