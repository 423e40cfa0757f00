import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect } from 'node:net';

const PORT = 53;
/** How long one server has to answer before the next one is asked, in milliseconds. */
const PATIENCE = 2_000;
/** Questions on their way at once; more are turned away, so that a silent upstream cannot eat all memory. */
const MOST_AT_ONCE = 1_000;

/** The name servers that know the names that are not ours. Messages pass as they are. */
export class Upstream {
  readonly #servers: () => readonly string[];
  readonly #closing = new AbortController();
  #underWay = 0;

  /** @param servers by their addresses; asked for anew each time */
  constructor(servers: () => readonly string[]) {
    this.#servers = servers;
  }

  get isThere(): boolean {
    return this.#servers().length > 0;
  }

  close(): void {
    this.#closing.abort();
  }

  /** Undefined when nobody answers. */
  async ask(message: Buffer, way: 'udp' | 'tcp'): Promise<Buffer | undefined> {
    if (this.#underWay >= MOST_AT_ONCE) return undefined;
    this.#underWay += 1;
    try {
      for (const server of this.#servers()) {
        if (this.#closing.signal.aborted) return undefined;
        const answer = await (way === 'udp' ? this.#overUdp(server, message) : this.#overTcp(server, message));
        if (answer !== undefined) return answer;
      }
      return undefined;
    } finally {
      this.#underWay -= 1;
    }
  }

  /** From a socket and with a number of its own for each question: who cannot see it cannot forge the answer. */
  #overUdp(server: string, message: Buffer): Promise<Buffer | undefined> {
    const { promise, resolve } = Promise.withResolvers<Buffer | undefined>();
    const socket = createSocket(server.includes(':') ? 'udp6' : 'udp4');
    const asked = Buffer.from(message);
    asked.writeUInt16BE(randomInt(65_536), 0);
    let isOver = false;
    const stop = (): void => resolve(undefined);
    const timer = setTimeout(stop, PATIENCE);
    socket.on('error', stop);
    socket.on('message', (answer) => {
      if (answer.length < 12 || answer.readUInt16BE(0) !== asked.readUInt16BE(0)) return;
      message.copy(answer, 0, 0, 2);
      resolve(answer);
    });
    this.#closing.signal.addEventListener('abort', stop);
    // Connected, so that the kernel takes answers of this server alone. Where no route leads to it, that fails here.
    socket.connect(PORT, server, (error?: Error) => {
      if (error !== undefined) stop();
      else if (!isOver) socket.send(asked, (failed) => failed !== null && stop());
    });
    return promise.finally(() => {
      isOver = true;
      clearTimeout(timer);
      this.#closing.signal.removeEventListener('abort', stop);
      socket.close();
    });
  }

  #overTcp(server: string, message: Buffer): Promise<Buffer | undefined> {
    const { promise, resolve } = Promise.withResolvers<Buffer | undefined>();
    const socket = connect(PORT, server);
    const stop = (): void => resolve(undefined);
    let heard = Buffer.alloc(0);
    socket.setTimeout(PATIENCE, stop);
    socket.on('error', stop);
    socket.on('close', stop);
    socket.on('data', (chunk) => {
      heard = Buffer.concat([heard, chunk]);
      if (heard.length >= 2 && heard.length >= 2 + heard.readUInt16BE(0)) {
        resolve(heard.subarray(2, 2 + heard.readUInt16BE(0)));
      }
    });
    const length = Buffer.alloc(2);
    length.writeUInt16BE(message.length);
    socket.write(Buffer.concat([length, message]));
    return promise.finally(() => socket.destroy());
  }
}
