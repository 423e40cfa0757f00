import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { lines } from './lines.ts';

async function* chunksOf(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  let start = 0;
  for (const size of [...sizes, bytes.length]) {
    yield bytes.subarray(start, start + size);
    start += size;
  }
}

it('gives the same lines however the bytes are cut into chunks, even within a character', async () => {
  const text = fc.array(fc.string({ unit: 'grapheme' }).filter((line) => !line.includes('\n') && line !== ''));
  await fc.assert(
    fc.asyncProperty(text, fc.array(fc.integer({ min: 0, max: 7 })), fc.boolean(), async (wanted, sizes, closed) => {
      const bytes = Buffer.from(wanted.join('\n') + (closed ? '\n' : ''), 'utf8');
      const found: string[] = [];
      for await (const line of lines(chunksOf(bytes, sizes))) found.push(line);
      assert.deepEqual(found, wanted);
    }),
  );
});
