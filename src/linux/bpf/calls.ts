import koffi from 'koffi';
import { cFunction, KernelError } from '../kernel.ts';
import type { MapDefinition } from './object-file.ts';

/** The system call behind everything of eBPF. Descriptors that it answers belong to the caller, who closes them. */
export function createMap(name: string, { type, keySize, valueSize, entries }: MapDefinition): number {
  const attributes = Buffer.alloc(48);
  for (const [i, value] of [type, keySize, valueSize, entries].entries()) attributes.writeUInt32LE(value, i * 4);
  attributes.write(name.slice(0, NAME), 28, 'latin1');
  return bpf(`make the map ${name}`, MAP_CREATE, attributes);
}

export function putIntoMap(map: number, key: Buffer, value: Buffer): void {
  bpf('write into a map', MAP_UPDATE, entry(map, key, value));
}

/** The value is written into the buffer; false when there is none. */
export function readFromMap(map: number, key: Buffer, value: Buffer): boolean {
  try {
    bpf('read from a map', MAP_LOOKUP, entry(map, key, value));
    return true;
  } catch (error) {
    if (error instanceof KernelError && error.code === 'ENOENT') return false;
    throw error;
  }
}

/** A program for `tc`. The instructions refer to maps by descriptors. */
export function loadProgram(name: string, instructions: Buffer, license: string): number {
  const attempt = (log: Buffer | undefined): number => {
    const licenseText = Buffer.from(`${license}\0`);
    const attributes = Buffer.alloc(72);
    attributes.writeUInt32LE(FOR_TRAFFIC_CONTROL, 0);
    attributes.writeUInt32LE(instructions.length / 8, 4);
    attributes.writeBigUInt64LE(koffi.address(instructions), 8);
    attributes.writeBigUInt64LE(koffi.address(licenseText), 16);
    if (log !== undefined) {
      attributes.writeUInt32LE(1, 24);
      attributes.writeUInt32LE(log.length, 28);
      attributes.writeBigUInt64LE(koffi.address(log), 32);
    }
    attributes.write(name.slice(0, NAME), 48, 'latin1');
    return bpf(`load the program ${name}`, PROGRAM_LOAD, attributes);
  };
  try {
    return attempt(undefined);
  } catch (error) {
    if (!(error instanceof KernelError) || error.code === 'EPERM') throw error;
    // The kernel says why it refuses a program only when it is given room for it.
    const log = Buffer.alloc(1 << 20);
    try {
      return attempt(log);
    } catch {
      const said = log.toString('latin1', 0, log.indexOf(0)).trim().split('\n').slice(-5).join('; ');
      throw new Error(`${error.message}${said === '' ? '' : `: ${said}`}`);
    }
  }
}

/** A map that a program in the kernel uses, whoever loaded it. */
export function mapOfProgram(programId: number, name: string): number | undefined {
  const program = byId(PROGRAM_BY_ID, programId);
  try {
    const ids = Buffer.alloc(4 * MOST_MAPS);
    const about = Buffer.alloc(232);
    about.writeUInt32LE(MOST_MAPS, 52);
    about.writeBigUInt64LE(koffi.address(ids), 56);
    describe(program, about);
    for (let i = 0; i < Math.min(about.readUInt32LE(52), MOST_MAPS); i++) {
      const map = byId(MAP_BY_ID, ids.readUInt32LE(4 * i));
      const aboutMap = Buffer.alloc(80);
      describe(map, aboutMap);
      if (aboutMap.toString('latin1', 24, aboutMap.indexOf(0, 24)) === name.slice(0, NAME)) return map;
      closeDescriptor(map);
    }
    return undefined;
  } finally {
    closeDescriptor(program);
  }
}

export const closeDescriptor = (descriptor: number): void => void close('close a descriptor', descriptor);

function byId(command: number, id: number): number {
  const attributes = Buffer.alloc(12);
  attributes.writeUInt32LE(id, 0);
  return bpf(`open what has the number ${id}`, command, attributes);
}

function describe(descriptor: number, about: Buffer): void {
  const attributes = Buffer.alloc(16);
  attributes.writeUInt32LE(descriptor, 0);
  attributes.writeUInt32LE(about.length, 4);
  attributes.writeBigUInt64LE(koffi.address(about), 8);
  bpf('ask about what is loaded', INFO, attributes);
}

function entry(map: number, key: Buffer, value: Buffer): Buffer {
  const attributes = Buffer.alloc(32);
  attributes.writeUInt32LE(map, 0);
  attributes.writeBigUInt64LE(koffi.address(key), 8);
  attributes.writeBigUInt64LE(koffi.address(value), 16);
  return attributes;
}

const bpf = (doing: string, command: number, attributes: Buffer): number =>
  syscall(doing, NUMBER, command, attributes, attributes.length);

const syscall = cFunction('int64_t syscall(int64_t number, int command, void *attributes, unsigned int size)');
const close = cFunction('int close(int fd)');

const NUMBER = process.arch === 'arm64' ? 280 : 321;
const MAP_CREATE = 0;
const MAP_LOOKUP = 1;
const MAP_UPDATE = 2;
const PROGRAM_LOAD = 5;
const PROGRAM_BY_ID = 13;
const MAP_BY_ID = 14;
const INFO = 15;
const FOR_TRAFFIC_CONTROL = 3;
/** Names are cut off there. */
const NAME = 15;
const MOST_MAPS = 16;
