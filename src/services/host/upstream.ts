import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import { parseQuestion } from './dns-message.ts';

const PORT = 53;
/** How long one server has to answer before the next one is asked, in milliseconds. */
const PATIENCE = 2_000;
/** For so long, in milliseconds, one that has left a question without an answer comes after all others. */
const DOUBT = 5_000;
/** Questions on their way at once; more are turned away, so that a silent upstream cannot eat all memory. */
const MOST_AT_ONCE = 1_000;

/** The name servers that know the names that are not ours. Messages pass as they are. */
export class Upstream {
  readonly #servers: () => readonly string[];
  readonly #closing = new AbortController();
  /** Server → when it last left a question without an answer. */
  readonly #silent = new Map<string, number>();
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
      for (const server of this.#inOrder()) {
        if (this.#closing.signal.aborted) return undefined;
        const answer = await (way === 'udp' ? this.#overUdp(server, message) : this.#overTcp(server, message));
        if (answer !== undefined) {
          this.#silent.delete(server);
          return answer;
        }
        this.#silent.set(server, performance.now());
      }
      return undefined;
    } finally {
      this.#underWay -= 1;
    }
  }

  /** The first one that is dead would cost every question its patience; clients have less of that. */
  #inOrder(): string[] {
    const now = performance.now();
    const servers = this.#servers();
    for (const [server, when] of this.#silent) {
      if (now - when > DOUBT || !servers.includes(server)) this.#silent.delete(server);
    }
    const isDoubtful = (server: string): number => Number(this.#silent.has(server));
    return [...servers].sort((a, b) => isDoubtful(a) - isDoubtful(b));
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
      if (!isAnswerTo(asked, answer)) return;
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
      if (heard.length < 2 || heard.length < 2 + heard.readUInt16BE(0)) return;
      const answer = heard.subarray(2, 2 + heard.readUInt16BE(0));
      resolve(isAnswerTo(message, answer) ? answer : undefined);
    });
    const length = Buffer.alloc(2);
    length.writeUInt16BE(message.length);
    socket.write(Buffer.concat([length, message]));
    return promise.finally(() => socket.destroy());
  }
}

/** An answer repeats the number and the question, but for errors of servers that could not read it; letters may be large or small. */
function isAnswerTo(asked: Buffer, answer: Buffer): boolean {
  if (answer.length < 12 || answer.readUInt16BE(0) !== asked.readUInt16BE(0)) return false;
  if ((answer.readUInt16BE(2) & 0x8000) === 0) return false;
  const isError = (answer.readUInt16BE(2) & 0xf) !== 0;
  if (isError && answer.readUInt16BE(4) === 0) return true;
  const section = parseQuestion(asked)?.section;
  if (section === undefined) return true;
  const lower = (bytes: Buffer): string => bytes.toString('latin1').toLowerCase();
  return lower(answer.subarray(12, 12 + section.length)) === lower(section);
}
