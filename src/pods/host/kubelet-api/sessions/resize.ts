import type { TerminalSize } from './streams.ts';

/** Reads sizes of a terminal out of JSON that arrives in pieces. */
export class SizeReader {
  #text = '';
  #latest: TerminalSize | undefined;
  readonly #first = Promise.withResolvers<TerminalSize>();
  #changed: ((size: TerminalSize) => void) | undefined;

  /** The first that comes. */
  get first(): Promise<TerminalSize> {
    return this.#first.promise;
  }

  /** Calls it with the size that is known already, and with all that come. */
  onResize(changed: (size: TerminalSize) => void): void {
    this.#changed = changed;
    if (this.#latest !== undefined) changed(this.#latest);
  }

  read(bytes: Buffer): void {
    const parts = `${this.#text}${bytes.toString('latin1')}`.split('}');
    // What is no size by then never will be one.
    this.#text = (parts.pop() ?? '').slice(-LONGEST);
    for (const part of parts) {
      const size = sizeIn(`${part}}`);
      if (size === undefined) continue;
      this.#latest = size;
      this.#first.resolve(size);
      this.#changed?.(size);
    }
  }
}

const LONGEST = 256;

function sizeIn(text: string): TerminalSize | undefined {
  const number = (name: string): number =>
    Number(new RegExp(`"${name}"\\s*:\\s*(\\d{1,5})\\b`, 'i').exec(text)?.[1] ?? 0);
  const [columns, rows] = [number('width'), number('height')];
  return columns > 0 && rows > 0 && columns <= MOST && rows <= MOST ? { columns, rows } : undefined;
}

const MOST = 65_535;
