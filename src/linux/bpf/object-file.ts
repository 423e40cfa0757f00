/** What a compiled eBPF program consists of before the kernel has it: instructions, and maps that they refer to by name. */
export interface ObjectFile {
  readonly maps: ReadonlyMap<string, MapDefinition>;
  readonly programs: ReadonlyMap<string, ProgramText>;
  readonly license: string;
}

export interface MapDefinition {
  readonly type: number;
  readonly keySize: number;
  readonly valueSize: number;
  readonly entries: number;
}

export interface ProgramText {
  /** Eight bytes each. */
  readonly instructions: Buffer;
  /** Where in the instructions a map is referred to, in bytes. */
  readonly references: readonly { readonly at: number; readonly map: string }[];
}

/**
 * Reads an ELF file of clang's: each section `tc/NAME` is a program, `maps` holds the definitions of maps, `license` the licence.
 * Programs are whole in themselves: they call no functions of their own and have no variables.
 */
export function readObjectFile(bytes: Buffer): ObjectFile {
  const sections = sectionsOf(bytes);
  const symbols = symbolsOf(sections);
  const maps = new Map<string, MapDefinition>();
  const programs = new Map<string, ProgramText>();
  let license = '';
  for (const [index, { name, content }] of sections.entries()) {
    if (name === 'license') license = textAt(content, 0);
    if (name.startsWith(PROGRAM)) {
      programs.set(name.slice(PROGRAM.length), { instructions: content, references: references(index) });
    }
    if (name !== 'maps') continue;
    for (const symbol of symbols.filter(({ section }) => section === index)) {
      const [type = 0, keySize = 0, valueSize = 0, entries = 0] = [0, 4, 8, 12].map((at) =>
        content.readUInt32LE(symbol.value + at),
      );
      maps.set(symbol.name, { type, keySize, valueSize, entries });
    }
  }
  return { maps, programs, license };

  function references(program: number): { at: number; map: string }[] {
    return sections
      .filter(({ type, info }) => type === RELOCATIONS && info === program)
      .flatMap(({ content }) =>
        recordsOf(content, 16).map((record) => {
          const symbol = symbols[record.readUInt32LE(12)]?.name ?? '';
          return { at: Number(record.readBigUInt64LE(0)), map: symbol };
        }),
      );
  }
}

interface Section {
  readonly name: string;
  readonly type: number;
  readonly link: number;
  readonly info: number;
  readonly content: Buffer;
}

function sectionsOf(bytes: Buffer): Section[] {
  if (bytes.length < 64 || !bytes.subarray(0, 6).equals(ELF_64_LITTLE_ENDIAN) || bytes.readUInt16LE(18) !== BPF) {
    throw new Error('this is no object of eBPF programs');
  }
  const [start, size, count, names] = [
    Number(bytes.readBigUInt64LE(40)),
    bytes.readUInt16LE(58),
    bytes.readUInt16LE(60),
    bytes.readUInt16LE(62),
  ];
  const headers = recordsOf(bytes.subarray(start, start + size * count), size);
  const contentOf = (header: Buffer): Buffer => {
    const offset = Number(header.readBigUInt64LE(24));
    return bytes.subarray(offset, offset + Number(header.readBigUInt64LE(32)));
  };
  const nameTable = headers[names];
  if (nameTable === undefined) throw new Error('this object of eBPF programs has no names');
  return headers.map((header) => ({
    name: textAt(contentOf(nameTable), header.readUInt32LE(0)),
    type: header.readUInt32LE(4),
    link: header.readUInt32LE(40),
    info: header.readUInt32LE(44),
    content: contentOf(header),
  }));
}

function symbolsOf(sections: readonly Section[]): { name: string; section: number; value: number }[] {
  const table = sections.find(({ type }) => type === SYMBOLS);
  const names = sections[table?.link ?? 0];
  if (table === undefined || names === undefined) return [];
  return recordsOf(table.content, 24).map((record) => ({
    name: textAt(names.content, record.readUInt32LE(0)),
    section: record.readUInt16LE(6),
    value: Number(record.readBigUInt64LE(8)),
  }));
}

const recordsOf = (bytes: Buffer, size: number): Buffer[] =>
  Array.from({ length: Math.floor(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size));

const textAt = (bytes: Buffer, at: number): string => bytes.toString('latin1', at, bytes.indexOf(0, at));

const PROGRAM = 'tc/';
const ELF_64_LITTLE_ENDIAN = Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1]);
const BPF = 247;
const SYMBOLS = 2;
const RELOCATIONS = 9;
