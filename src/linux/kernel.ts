import koffi from 'koffi';

/**
 * Calls into the C library, for what Node.js has no function for. Every call is synchronous and takes microseconds, so
 * a change of namespace and what is done inside it can never be interrupted by other work of this process.
 */
const libc = koffi.load(null);

/** The kernel said no. `code` is its own word for why. */
export class KernelError extends Error {
  override readonly name = 'KernelError';
  readonly code: string;

  constructor(doing: string, errno: number, said?: string) {
    const code = CODES.get(errno) ?? `errno ${errno}`;
    super(`${doing}: ${said ?? MEANINGS.get(errno) ?? code} (${code})`);
    this.code = code;
  }
}

export type CFunction = (...args: unknown[]) => number;

/** Declares a function of the C library that answers a negative number when it fails. */
export function cFunction(prototype: string): (doing: string, ...args: unknown[]) => number {
  const call: CFunction = libc.func(prototype);
  return (doing, ...args) => {
    const result = Number(call(...args));
    if (result < 0) throw new KernelError(doing, koffi.errno());
    return result;
  };
}

const CODES = new Map(Object.entries(koffi.os.errno).map(([code, number]) => [number, code]));
const MEANINGS = new Map([
  [koffi.os.errno['EPERM'], 'not permitted: this takes root'],
  [koffi.os.errno['ENOENT'], 'there is no such thing'],
  [koffi.os.errno['EEXIST'], 'it is there already'],
  [koffi.os.errno['EBUSY'], 'it is in use'],
  [koffi.os.errno['EINVAL'], 'the kernel does not take these values'],
  [koffi.os.errno['ENODEV'], 'there is no such device'],
  [koffi.os.errno['EOPNOTSUPP'], 'this kernel does not support it'],
  [koffi.os.errno['ENOSPC'], 'there is no room left'],
  [koffi.os.errno['ENOMEM'], 'there is no memory left'],
]);
