import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { createDeflate, createInflate, type Deflate, constants as zlib } from 'node:zlib';
import * as fc from 'fast-check';
import { DICTIONARY } from './dictionary.ts';
import { SpdyError } from './frame-reader.ts';
import { HeaderReader, HeaderWriter } from './headers.ts';

describe('headers of SPDY', () => {
  const name = fc.stringMatching(/^[a-z-]{1,20}$/);
  const headers = fc.array(fc.tuple(name, fc.string())).map((entries) => new Map(entries));

  test('are read as others compress them, one after the other', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(headers, { maxLength: 5 }), async (blocks) => {
        const [deflate, reader] = [createDeflate({ dictionary: DICTIONARY }), new HeaderReader()];
        for (const block of blocks) assert.deepEqual(await reader.read(await compressed(deflate, block)), block);
        deflate.close();
        reader.close();
      }),
      { numRuns: 30 },
    );
  });

  test('are written so that others can read them', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(headers, { minLength: 1, maxLength: 5 }), async (blocks) => {
        const writer = new HeaderWriter();
        const reader = new HeaderReader();
        for (const block of blocks) assert.deepEqual(await reader.read(writer.write(block)), block);
        reader.close();
      }),
      { numRuns: 30 },
    );
  });

  test('are ended as zlib ends what is to be read at once', async () => {
    const inflate = createInflate();
    inflate.write(new HeaderWriter().write(new Map()));
    const [bytes] = await once(inflate, 'data');
    assert.deepEqual(bytes, Buffer.alloc(4));
    inflate.close();
  });

  test('a few bytes that stand for very many are refused', async () => {
    const deflate = createDeflate({ dictionary: DICTIONARY });
    const bomb = await compressed(deflate, new Map([['a', 'x'.repeat(20_000_000)]]));
    assert.ok(bomb.length < 64 * 1024);
    await assert.rejects(new HeaderReader().read(bomb), SpdyError);
    deflate.close();
  });

  test('what is nothing of the kind is refused', async () => {
    await assert.rejects(new HeaderReader().read(Buffer.from('no zlib')), SpdyError);
    const endless = new HeaderWriter().write(new Map([['a', 'b']]));
    endless[7 + 3] = 9;
    await assert.rejects(new HeaderReader().read(endless), /break off/);
  });
});

/** As Go's library does it. */
async function compressed(deflate: Deflate, headers: ReadonlyMap<string, string>): Promise<Buffer> {
  const word = (value: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return bytes;
  };
  const texts = [...headers].flat().map((text) => Buffer.from(text));
  const parts: Buffer[] = [];
  const gather = (part: Buffer) => void parts.push(part);
  deflate.on('data', gather);
  deflate.write(Buffer.concat([word(headers.size), ...texts.flatMap((text) => [word(text.length), text])]));
  await new Promise<void>((resolve) => deflate.flush(zlib.Z_SYNC_FLUSH, resolve));
  deflate.off('data', gather);
  return Buffer.concat(parts);
}
