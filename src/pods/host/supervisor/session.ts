import type { Socket } from 'node:net';
import { PassThrough, Writable } from 'node:stream';
import type { AttachSession, ExecSession } from '../runtime.ts';
import { open } from './connection.ts';
import { Frames, frame, type Opening } from './protocol.ts';

export type Session = ExecSession & AttachSession;

/** The agent's side of a command, or of the streams of a container. */
export async function openSession(socket: Socket, opening: Opening): Promise<Session> {
  const frames = new Frames(socket);
  const opened = await open(frames, opening);
  if (!('tty' in opened)) throw new Error('what answers is no supervisor');
  const [stdout, stderr] = [new PassThrough(), opened.tty ? undefined : new PassThrough()];
  let exitCode: number | undefined;
  const ended = new Promise<{ exitCode: number }>((resolve, reject) => {
    socket.once('close', () => {
      stdout.end();
      stderr?.end();
      if (exitCode === undefined) reject(new Error('the supervisor of this host has gone away'));
      else resolve({ exitCode });
    });
  });
  // Not everybody waits for it.
  ended.catch(() => {});
  // Many messages may still come after the pause that one of them has caused: nobody is to wait for each.
  for (const stream of [stdout, stderr]) stream?.on('drain', () => socket.resume());
  frames.receive((type, payload) => {
    const stream = { [frame.stdout]: stdout, [frame.stderr]: stderr }[type];
    if (stream?.write(payload) === false) socket.pause();
    if (type === frame.ended) exitCode = payload.readInt32BE();
  });
  return {
    stdin: opened.stdin ? inputOf(frames) : undefined,
    stdout,
    stderr,
    ended,
    resize: (columns, rows) => {
      const size = Buffer.alloc(4);
      size.writeUInt16BE(columns);
      size.writeUInt16BE(rows, 2);
      frames.send(frame.resize, size);
    },
    kill: () => void frames.send(frame.kill),
    close: () => socket.destroy(),
  };
}

function inputOf(frames: Frames): Writable {
  const { socket } = frames;
  const input = new Writable({
    write(chunk: Buffer, _, done) {
      if (frames.send(frame.stdin, chunk)) done();
      else socket.once('drain', () => done());
    },
    final(done) {
      frames.send(frame.stdinEnd);
      done();
    },
  });
  // The program may end without having read it all.
  input.on('error', () => {});
  socket.once('close', () => input.destroy());
  return input;
}
