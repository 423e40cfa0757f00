import { isJsonObject, type Json, type JsonObject } from '../../api/json.ts';

export interface Column {
  readonly name: string;
  readonly priority: number;
}
export interface Row {
  readonly name: string;
  readonly namespace: string;
  readonly cells: readonly Json[];
}

/** Reads the tables that a server makes of its objects. */
export function columnsOf(table: JsonObject): Column[] {
  return objects(table['columnDefinitions']).map(({ name, priority }) => ({
    name: String(name ?? ''),
    priority: typeof priority === 'number' ? priority : 0,
  }));
}

export function rowsOf(table: JsonObject): Row[] {
  return objects(table['rows']).map(({ cells, object }) => {
    const metadata = isJsonObject(object) && isJsonObject(object['metadata']) ? object['metadata'] : {};
    return {
      name: String(metadata['name'] ?? ''),
      namespace: String(metadata['namespace'] ?? ''),
      cells: Array.isArray(cells) ? cells : [],
    };
  });
}

const objects = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);

export interface TableOptions {
  readonly isWide: boolean;
  readonly withNamespace: boolean;
  /** Before each name, where kinds are mixed. */
  readonly prefix: string;
  print(line: string): void;
}

/** Prints rows under each other; later rows keep to the widths of the first ones, so that a watch stays readable. */
export class TablePrinter {
  readonly #options: TableOptions;
  #columns: readonly Column[] | undefined;
  #widths: number[] = [];

  constructor(options: TableOptions) {
    this.#options = options;
  }

  print(columns: readonly Column[], rows: readonly Row[]): void {
    const lines: string[][] = [];
    if (this.#columns === undefined) {
      this.#columns = columns;
      lines.push(
        this.#line(
          'NAMESPACE',
          columns.map(({ name }) => name.toUpperCase()),
          '',
        ),
      );
    }
    for (const row of rows) lines.push(this.#line(row.namespace, row.cells.map(shown), this.#options.prefix));
    for (const line of lines) {
      for (const [i, cell] of line.entries()) this.#widths[i] = Math.max(this.#widths[i] ?? 0, cell.length);
    }
    for (const line of lines) {
      const padded = line.map((cell, i) => (i === line.length - 1 ? cell : cell.padEnd((this.#widths[i] ?? 0) + 3)));
      this.#options.print(padded.join('').trimEnd());
    }
  }

  #line(namespace: string, cells: readonly string[], prefix: string): string[] {
    const visible = cells.filter((_, i) => this.#options.isWide || (this.#columns?.[i]?.priority ?? 0) === 0);
    const named = visible.map((cell, i) => (i === 0 ? `${prefix}${cell}` : cell));
    return this.#options.withNamespace ? [namespace, ...named] : named;
  }
}

/** One line for each object, whatever its messages hold. */
const shown = (cell: Json): string =>
  cell === null || cell === ''
    ? '<none>'
    : (typeof cell === 'string' ? cell : JSON.stringify(cell)).replace(/\s*\n\s*/g, ' ');
