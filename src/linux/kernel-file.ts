import { writeFileSync } from 'node:fs';
import { KernelError } from './kernel.ts';

/** Writes to a file by which the kernel is told something. What Node.js says of a refusal does not name the file. */
export function tellKernel(doing: string, file: string, value: string | number): void {
  try {
    writeFileSync(file, `${value}`);
  } catch (error) {
    const errno = error instanceof Error && 'errno' in error ? Number(error.errno) : 0;
    throw errno < 0 ? new KernelError(doing, -errno) : error;
  }
}
