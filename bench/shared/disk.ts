import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Samples } from './samples.ts';

/** What no write can be faster than: a bare append of 4 KiB with fdatasync. */
export async function disk(directory: string): Promise<string> {
  const path = join(directory, 'bare');
  const file = await open(path, 'w');
  const bytes = Buffer.alloc(4096, 'x');
  const times: number[] = [];
  for (let i = 0; i < 200; i += 1) {
    const began = performance.now();
    await file.write(bytes, 0, bytes.length, i * bytes.length);
    await file.datasync();
    times.push(performance.now() - began);
  }
  await file.close();
  await rm(path);
  return `a bare append with fdatasync on this disk: ${new Samples(times).text(2)} ms`;
}
