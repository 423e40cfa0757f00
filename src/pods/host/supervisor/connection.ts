import { connect, type Socket } from 'node:net';
import type { Clock } from '../../../runtime/clock.ts';
import { type ContainerState, StartError } from '../runtime.ts';
import {
  type Calls,
  type Failure,
  Frames,
  type FromSupervisor,
  type Hello,
  type Opened,
  type Opening,
  PROTOCOL,
} from './protocol.ts';

/** The connection by which the supervisor is told what to do. */
export class Control {
  readonly hello: Hello;
  readonly closed: Promise<void>;
  onChange: (state: ContainerState) => void = () => {};
  readonly #frames: Frames;
  readonly #waiting = new Map<number, { resolve: (result: unknown) => void; reject: (error: Error) => void }>();
  #last = 0;

  private constructor(frames: Frames, hello: Hello) {
    this.#frames = frames;
    this.hello = hello;
    this.closed = new Promise((resolve) => frames.socket.once('close', () => resolve()));
    void this.closed.then(() => {
      for (const { reject } of this.#waiting.values()) reject(new Error('the supervisor of this host has gone away'));
      this.#waiting.clear();
    });
    frames.receive((_, payload) => this.#receive(JSON.parse(payload.toString()) as FromSupervisor));
  }

  /** @param within milliseconds: the kernel accepts connections also for a supervisor that hangs */
  static async open(socket: Socket, { clock, within }: { clock: Clock; within: number }): Promise<Control> {
    const frames = new Frames(socket);
    const giveUp = clock.timer(within, () => socket.destroy());
    const opened = await open(frames, { open: 'control', protocol: PROTOCOL }).finally(giveUp);
    if (!('protocol' in opened)) throw new Error('what answers is no supervisor');
    return new Control(frames, opened);
  }

  call<C extends keyof Calls>(call: C, input: Parameters<Calls[C]>[0]): Promise<ReturnType<Calls[C]>> {
    this.#last += 1;
    const id = this.#last;
    return new Promise<ReturnType<Calls[C]>>((resolve, reject) => {
      this.#waiting.set(id, { resolve: (result) => resolve(result as ReturnType<Calls[C]>), reject });
      this.#frames.sendJson({ id, call, with: input });
    });
  }

  close(): void {
    this.#frames.socket.destroy();
  }

  #receive(message: FromSupervisor): void {
    if ('changed' in message) {
      this.onChange(message.changed);
      return;
    }
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if ('failure' in message) waiting?.reject(errorOf(message.failure));
    else waiting?.resolve(message.result);
  }
}

export function dial(file: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path: file });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      socket.on('error', () => socket.destroy());
      resolve(socket);
    });
  });
}

export async function open(frames: Frames, opening: Opening): Promise<Opened> {
  frames.sendJson(opening);
  const { payload } = await frames.next();
  const opened = JSON.parse(payload.toString()) as Opened;
  if (!('failure' in opened)) return opened;
  frames.socket.destroy();
  throw errorOf(opened.failure);
}

const errorOf = ({ message, reason }: Failure): Error =>
  reason === undefined ? new Error(message) : new StartError(reason, message);
