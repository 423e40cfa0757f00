import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { closeDescriptor, createMap, loadProgram, putIntoMap } from './calls.ts';
import { type ObjectFile, type ProgramText, readObjectFile } from './object-file.ts';

/**
 * Programs of one object that the kernel has accepted, with maps of their own. They stay for as long as they are attached
 * to something; this process lets go of them with `close`.
 */
export class LoadedObject {
  readonly #file: ObjectFile;
  readonly #maps = new Map<string, number>();
  readonly #programs = new Map<string, number>();

  private constructor(file: ObjectFile) {
    this.#file = file;
  }

  /** @param name of a file in bpf/, without its ending */
  static open(name: string): LoadedObject {
    const file = fileURLToPath(new URL(`../../../bpf/${name}.o`, import.meta.url));
    return new LoadedObject(readObjectFile(readFileSync(file)));
  }

  put(map: string, key: Buffer, value: Buffer): void {
    putIntoMap(this.#map(map), key, value);
  }

  /** The descriptor of a program, which is loaded when it is first asked for. */
  program(name: string): number {
    const loaded = this.#programs.get(name);
    if (loaded !== undefined) return loaded;
    const text = this.#file.programs.get(name);
    if (text === undefined) throw new Error(`there is no program ${name} in this object`);
    const descriptor = loadProgram(name, this.#linked(text), this.#file.license);
    this.#programs.set(name, descriptor);
    return descriptor;
  }

  close(): void {
    for (const descriptor of [...this.#programs.values(), ...this.#maps.values()]) closeDescriptor(descriptor);
    this.#programs.clear();
    this.#maps.clear();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #map(name: string): number {
    const made = this.#maps.get(name);
    if (made !== undefined) return made;
    const definition = this.#file.maps.get(name);
    if (definition === undefined) throw new Error(`there is no map ${name} in this object`);
    const descriptor = createMap(name, definition);
    this.#maps.set(name, descriptor);
    return descriptor;
  }

  #linked({ instructions, references }: ProgramText): Buffer {
    const linked = Buffer.from(instructions);
    for (const { at, map } of references) {
      // The source register of a 64-bit load says that its value is the descriptor of a map.
      linked.writeUInt8((linked.readUInt8(at + 1) & 0x0f) | (MAP_DESCRIPTOR << 4), at + 1);
      linked.writeInt32LE(this.#map(map), at + 4);
    }
    return linked;
  }
}

const MAP_DESCRIPTOR = 1;
