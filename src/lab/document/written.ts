import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type ParsedNode,
  parseDocument,
  Scalar,
  type YAMLParseError,
} from 'yaml';

/** Where something stands in a file: its line, and the fields that lead there. */
export interface Place {
  readonly line: number;
  readonly path: string;
}

export interface Fault extends Place {
  /** What is wrong and what would be right. */
  readonly sentence: string;
}

/** Takes note of what is found wrong. */
export type Complain = (at: Place, sentence: string) => void;

/** A value in a YAML file that knows where it stands, and collects what is found wrong. */
export class WrittenValue implements Place {
  readonly path: string;
  readonly line: number;
  readonly #node: unknown;
  readonly #file: WrittenFile;

  constructor(file: WrittenFile, node: unknown, { path, line }: Place) {
    this.#file = file;
    this.#node = isAlias(node) ? node.resolve(file.document) : node;
    this.path = path;
    this.line = isNode(node) ? file.lineAt(node.range[0]) : line;
  }

  get at(): Place {
    return { line: this.line, path: this.path };
  }

  get isNothing(): boolean {
    return this.#node === undefined || this.#node === null || (isScalar(this.#node) && this.#node.value === null);
  }

  /** The text of a scalar as it is written; undefined for lists, mappings and nothing. */
  get text(): string | undefined {
    if (!isScalar(this.#node) || this.isNothing) return undefined;
    const { value, source } = this.#node;
    return typeof value === 'string' ? value : (source ?? String(value));
  }

  get truth(): boolean | undefined {
    return isScalar(this.#node) && typeof this.#node.value === 'boolean' ? this.#node.value : undefined;
  }

  /** Undefined when it is no list. */
  get items(): WrittenValue[] | undefined {
    if (!isSeq(this.#node)) return undefined;
    return this.#node.items.map(
      (item, i) => new WrittenValue(this.#file, item, { ...this.at, path: `${this.path}[${i}]` }),
    );
  }

  /** Undefined when it is no mapping. */
  get fields(): Field[] | undefined {
    if (!isMap(this.#node)) return undefined;
    return this.#node.items.map(({ key, value }) => {
      const named = new WrittenValue(this.#file, key, this);
      const name = named.text ?? '';
      const path = this.path === '' ? name : `${this.path}.${name}`;
      const place = { line: named.line, path };
      return { name, key: named.called(path), value: new WrittenValue(this.#file, value ?? undefined, place) };
    });
  }

  /** A part of its text, in the same place. */
  part(text: string): WrittenValue {
    return new WrittenValue(this.#file, new Scalar(text), this);
  }

  /** The same by another path: the name of a field belongs to what is below it. */
  called(path: string): WrittenValue {
    return new WrittenValue(this.#file, this.#node, { line: this.line, path });
  }

  fault(sentence: string): void {
    this.#file.faults.push({ ...this.at, sentence });
  }

  /** What it is, for a sentence: `"fast"`, `a list`. */
  get shown(): string {
    if (isMap(this.#node)) return 'a mapping';
    if (isSeq(this.#node)) return 'a list';
    return this.isNothing ? 'nothing' : `"${this.text}"`;
  }
}

export interface Field {
  readonly name: string;
  readonly key: WrittenValue;
  readonly value: WrittenValue;
}

export class WrittenFile {
  readonly faults: Fault[] = [];
  readonly document: Document.Parsed;
  readonly #lines = new LineCounter();

  constructor(text: string) {
    // Fields that are there twice are found where their path is known.
    this.document = parseDocument(text, { lineCounter: this.#lines, prettyErrors: false, uniqueKeys: false });
    // What follows the first one is often there because of it.
    const [error] = this.document.errors;
    if (error === undefined) this.#findTwins(this.document.contents, '');
    else this.faults.push({ line: this.lineAt(error.pos[0]), path: '', sentence: meaningOf(error) });
  }

  get root(): WrittenValue {
    return new WrittenValue(this, this.document.contents, { line: 1, path: '' });
  }

  lineAt(offset: number): number {
    return this.#lines.linePos(offset).line;
  }

  /** Fields that are in one mapping twice: one of them would be forgotten. */
  #findTwins(node: unknown, path: string): void {
    if (isSeq(node)) {
      for (const [i, item] of node.items.entries()) this.#findTwins(item, `${path}[${i}]`);
    }
    if (!isMap(node)) return;
    /** name → line */
    const seen = new Map<string, number>();
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? (key.source ?? String(key.value)) : '';
      const place = path === '' ? name : `${path}.${name}`;
      const line = isNode(key) ? this.lineAt(key.range[0]) : 1;
      const first = seen.get(name);
      if (first === undefined) seen.set(name, line);
      else this.faults.push({ line, path: place, sentence: `"${name}" is in line ${first} already: write it once` });
      this.#findTwins(value, place);
    }
  }
}

const meaningOf = ({ code, message }: YAMLParseError): string =>
  code === 'MULTIPLE_DOCS'
    ? 'a file has one lab: put what is behind --- into a file of its own'
    : `this is not YAML: ${message}`;

const isNode = (node: unknown): node is ParsedNode =>
  typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range);
