import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { dial } from './connection.ts';
import { Frames, frame } from './protocol.ts';
import { openSession } from './session.ts';

const PIECE = Buffer.alloc(100);
const PIECES = 20_000;

test('many small pieces of output wait for one who reads late, and nothing piles up', async (t) => {
  const warnings: Error[] = [];
  const warn = (warning: Error): number => warnings.push(warning);
  process.on('warning', warn);
  const folder = mkdtempSync(path.join(tmpdir(), 'netloom-session-'));
  const supervisor = createServer((socket) => {
    const frames = new Frames(socket);
    frames.sendJson({ tty: true, stdin: false });
    for (let sent = 0; sent < PIECES; sent += 1) frames.send(frame.stdout, PIECE);
    frames.send(frame.ended, Buffer.alloc(4));
    socket.end();
  });
  t.after(() => {
    process.off('warning', warn);
    supervisor.close();
    rmSync(folder, { recursive: true });
  });
  const file = path.join(folder, 'socket');
  await new Promise<void>((resolve) => supervisor.listen(file, resolve));

  const session = await openSession(await dial(file), { open: 'attach', containerId: 'any' });
  await sleep(100);
  let bytes = 0;
  for await (const chunk of session.stdout) bytes += (chunk as Buffer).length;
  assert.equal(bytes, PIECE.length * PIECES);
  assert.deepEqual(await session.ended, { exitCode: 0 });
  assert.deepEqual(warnings, []);
});
