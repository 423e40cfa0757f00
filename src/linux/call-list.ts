import { KernelError } from './kernel.ts';
import { type SystemCall, systemCallNumber } from './system-calls.ts';

/** What a call before answered, such as a descriptor. */
export interface Answer {
  readonly call: number;
}

/** Instructions, of which the kernel is told where they are and how many. */
interface Filter {
  readonly filter: Buffer;
}

/** A string ends with a zero, as C has it; bytes are handed on as they are, for the structures of the kernel. */
export type Argument = number | string | Buffer | Answer | Filter;

interface Listed {
  readonly bytes: Buffer;
  readonly explain: (code: string) => Error | undefined;
  readonly doing: string;
}

interface Telling {
  /** What is being done, for people; the name of the call when left out. */
  readonly doing?: string;
  /** Errors after which the list goes on, by number. */
  readonly tolerate?: readonly number[];
  /** A better error for some codes. */
  readonly explain?: (code: string) => Error | undefined;
}

/**
 * System calls for a new process to carry out in this order, before it becomes the program of the last one (`launch.ts`).
 * It is made here, where types and tests are, so that the process itself can be as small as it must be.
 */
export class CallList {
  readonly #calls: Listed[] = [];

  add(call: SystemCall, values: readonly Argument[], { doing = call, tolerate = [], explain }: Telling = {}): Answer {
    const fields = [String(systemCallNumber(call)), `,${tolerate.join(',')},`, ...values.map(encoded)];
    this.#calls.push({ bytes: list(fields), doing, explain: explain ?? (() => undefined) });
    return { call: this.#calls.length - 1 };
  }

  /** Adds the calls of a list that was made for many: one whose calls take no answers of each other. */
  include(others: CallList): void {
    this.#calls.push(...others.#calls);
  }

  /** Tries one path after the other, as `execvp` does: what is not there, or not to be executed, is passed over. */
  execute(
    paths: readonly string[],
    { argv, env, explain }: { argv: readonly string[]; env: readonly string[]; explain: (code: string) => Error },
  ): void {
    const number = String(systemCallNumber('execve'));
    for (const path of paths) {
      const fields = [number, `,${PASSED_OVER.join(',')},`, text(path), strings(argv), strings(env)];
      this.#calls.push({ bytes: list(fields), doing: `execute ${path}`, explain });
    }
  }

  /** With its length in front, so that half a list is never begun. */
  encode(): Buffer {
    const bytes = Buffer.concat(this.#calls.map(({ bytes }) => prefixed(bytes)));
    return prefixed(bytes);
  }

  /** What it means that a call failed. */
  failure(call: number, errno: number): Error {
    const listed = this.#calls[call];
    const error = new KernelError(listed?.doing ?? 'start a process', errno);
    return listed?.explain(error.code) ?? error;
  }
}

const ENOENT = 2;
const EACCES = 13;
const ENOTDIR = 20;
const PASSED_OVER = [ENOENT, EACCES, ENOTDIR];

/** The first letter tells what it is. */
function encoded(value: Argument): string | Buffer {
  if (typeof value === 'number') return `i${value}`;
  if (typeof value === 'string') return text(value);
  if (Buffer.isBuffer(value)) return Buffer.concat([Buffer.from('b'), value]);
  if ('filter' in value) return Buffer.concat([Buffer.from('f'), value.filter]);
  return `r${value.call}`;
}

function text(value: string): string {
  if (value.includes('\0'))
    throw new TypeError(`${JSON.stringify(value)} has a zero byte, which no path or word may have`);
  return `b${value}`;
}

const strings = (values: readonly string[]): Buffer =>
  Buffer.concat([Buffer.from('v'), list(values.map((value) => text(value).slice(1)))]);

const list = (fields: readonly (string | Buffer)[]): Buffer => Buffer.concat(fields.map(prefixed));

function prefixed(field: string | Buffer): Buffer {
  const bytes = Buffer.from(field);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
