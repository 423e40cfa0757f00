/** The lines of a stream of bytes. The next chunk is asked for when the lines of the last one have been taken. */
export async function* lines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string, void, undefined> {
  let begun: Buffer[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      begun.push(chunk.subarray(start, end));
      const line = Buffer.concat(begun).toString('utf8');
      begun = [];
      start = end + 1;
      if (line !== '') yield line;
    }
    if (start < chunk.length) begun.push(chunk.subarray(start));
  }
  const last = Buffer.concat(begun).toString('utf8');
  if (last !== '') yield last;
}

const LINE_FEED = 0x0a;
